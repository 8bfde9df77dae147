"""Of a row that is set aside nothing is kept but where it lies: nobody knows whether it is sensitive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from word_endpoint import WordEndpoint, embed

from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.fields import INSIDE, TOP
from hopgate.kb import KnowledgeBase
from hopgate.scale import shards
from hopgate.scale.kept_reason import reason_of
from hopgate.sources.source import ReadOptions

CANARY = "zyx4711zyx"
# The canary as a value: alone, in a sentence, with quotation marks and the like around it.
AROUND = st.sampled_from(["", "'", '"', "it's ", ", not ", "\\", "\n", ": ", " (", "'\"", "\\'", "…", "n't '"])
TEXTS = st.builds(lambda before, after: f"{before}{CANARY}{after}", AROUND, AROUND)
VALUES = st.recursive(
    TEXTS | st.sampled_from([None, True, 4711.4711, 471147114711, -4711]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from([*TOP, "isSensitive", "sensitive"]) | TEXTS
ROWS = st.builds(
    lambda row, inside: row | ({"metadata": inside} if inside is not None else {}),
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.none() | st.dictionaries(st.sampled_from(INSIDE) | TEXTS, VALUES, max_size=2),
)
NUMBER = "4711"


def reasons(folder: Path, lines: list[str], **options: Any) -> str:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return " ".join(row.reason for row in shards.rows(str(path), None, ReadOptions(**options)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.booleans(), st.booleans())
def test_no_reason_repeats_a_value_or_a_name(tmp_path: Path, row: dict[str, Any], cut: bool, mapped: bool) -> None:
    line = json.dumps({"_id": "m", "text": "x"} | row if mapped else row)
    fields = {"fields": {"title": "category", "created_at": "thread"}} if mapped else {}
    said = reasons(tmp_path, [line[: len(line) // 2] if cut else line], **fields)
    assert "zyx" not in said and NUMBER not in said, said


def test_odd_lines_are_set_aside_without_their_words(tmp_path: Path) -> None:
    lines = [
        f'{{"{CANARY}": 1, "{CANARY}": 2}}',
        f'{{"_id": "m", "text": "{CANARY}", "importance": 4711e999}}',
        f'{{"_id": "m", "text": "{CANARY}\\ud800"}}',
        f'{{"_id": "m", "text": "{CANARY}", "language": "{CANARY} language"}}',
        f'{{"_id": "m", "text": "{CANARY}", "created_at": "0001-01-01T00:00:00+23:59"}}',
        f'{{"_id": "{CANARY}", "text": ""}}',
        f'{{"_id": "{CANARY}", "text": "a", "superseded_by": "{CANARY}"}}',
        "[" * 100_000,
        f"{CANARY}",
    ]
    said = reasons(tmp_path, lines)
    assert "zyx" not in said and NUMBER not in said, said


def test_a_date_that_is_none_sets_one_row_aside_and_not_all(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    dates = ["1e300", "-1e300", "1700000000", '"soon"', "1" + "0" * 300, "true", '"[" ']
    path.write_text("".join(f'{{"id": "m{at}", "text": "x", "at": {when}}}\n' for at, when in enumerate(dates)))
    rows = list(shards.rows(str(path), None, ReadOptions({"_id": "id", "created_at": "at"})))
    assert [row.memory is not None for row in rows] == [False, False, True, False, False, False, False]


def test_a_server_that_repeats_a_word_is_not_quoted(kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path) -> None:
    """A pin has four digits: no run of letters tells that it is the text's."""
    assert reason_of(HopgateError("http://host answered 400 (bad token 4711)"), "The pin is 4711.") == (
        "http://host answered 400"
    )
    (tmp_path / "a.jsonl").write_text(json.dumps({"_id": "m", "text": f"The pin is {CANARY}."}) + "\n")
    endpoint.vector = lambda text: [] if CANARY in text else embed(text)
    kb.add(Memory("n", "Bea feeds the cat."))
    kb.backfill(tmp_path / "a.jsonl", embedder=endpoint.spec, build=False)
    [row] = kb.upkeep.set_aside()
    assert row.stage == "embed" and "zyx" not in row.reason
