"""Numbers that nothing can count with: one sentence and status 2, whichever command and option."""

from __future__ import annotations

import pytest
from cli_run import Runner

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory

ENDS = ("99999999999999999999", "9223372036854775808", "9223372036854775807", "-99999999999999999999")
COMMANDS = (
    ("undo", "{}"),
    ("log", "--limit", "{}"),
    ("edges", "Ada", "--limit", "{}"),
    ("show", "m1", "--limit", "{}"),
    ("concepts", "--limit", "{}"),
    ("concepts", "list", "--limit", "{}"),
    ("concepts", "show", "Ada", "--limit", "{}"),
    ("concepts", "clusters", "--level", "{}"),
    ("concepts", "clusters", "--members", "{}"),
    ("recall", "Ada", "--cluster", "{}"),
    ("recall", "Ada", "--k", "{}"),
    ("recall", "Ada", "--depth", "{}"),
    ("recall", "Ada", "--rerank-depth", "{}"),
    ("extract", "--limit", "{}"),
    ("extract", "--batch", "{}"),
    ("build", "--limit", "{}"),
    ("slices", "build", "--out", "slice", "--limit", "{}"),
    ("slices", "build", "--out", "slice", "--neighbours", "{}"),
    ("slices", "build", "--out", "slice", "--hops", "{}"),
    ("slices", "build", "--out", "slice", "--seed", "{}"),
    ("gate", "--k", "{}"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_number_beyond_all_counting_is_one_sentence(run: Runner, dsn: str, command: tuple[str, ...]) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(Memory("m1", "Ada Lovelace lives in London."))
    for end in ENDS:
        ran = run(*(part.format(end) for part in command), status=None)
        assert ran.status in (0, 2) and "Traceback" not in ran.err, ran
        if ran.status == 2:
            assert ran.out == "" and ran.err.strip().splitlines()[-1].startswith("hopgate: ")


def test_what_the_server_cannot_count_with_is_one_sentence_in_python_too(dsn: str) -> None:
    with hopgate.open(dsn) as kb:
        with pytest.raises(HopgateError, match="larger than PostgreSQL can count with"):
            kb.upkeep.log(limit=10**20)
        with pytest.raises(HopgateError, match="has no entry"):
            kb.upkeep.undo(10**20)
