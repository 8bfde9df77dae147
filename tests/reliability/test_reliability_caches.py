"""Caches are bounded, can be looked at and emptied; and what deletion left on the disk can be removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from canary import CANARY, in_files
from cli_run import Runner

import hopgate
from hopgate import Memory


def test_scrubbing_leaves_nothing_in_the_clusters_files(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "store"
    with hopgate.open(folder) as kb:
        kb.add(*(Memory(f"m{number}", f"Ada Byron keeps note {number}.") for number in range(20)))
        kb.add(Memory("s", f"{CANARY} told Ada Byron about {CANARY}.", tags=(CANARY,)))
        kb.build()
        with kb.store.transaction() as connection:
            connection.execute("ANALYZE")
            connection.commit()
        kb.delete(["s"])
    run = Runner(capsys, "--data", str(folder))
    assert "add --yes" in run("db", "scrub", status=2).refused()
    told = run("db", "scrub", "--yes", "--json").json
    assert told["tables"] > 10 and any("backups" in line for line in told["left"])
    # Old files of the log are written over as the server goes on.
    assert [path for path in in_files(folder) if "pg_wal" not in path] == []
    assert in_files(cache) == []
    with hopgate.open(folder) as kb:
        assert len(kb) == 20 and kb.recall("Ada Byron", legs=("lexical",))
