"""Caches are bounded, can be looked at and emptied; and what deletion left on the disk can be removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from canary import CANARY, in_files
from cli_run import Runner

import hopgate
from hopgate import Memory
from hopgate.embed import EmbeddingCache, Identity


def test_the_embedding_cache_is_bounded(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings.sqlite3", most_bytes=200_000)
    tiny = Identity("tiny", 64, spec="tiny")
    for group in range(20):
        cache.put(tiny, {f"text {group} {number}": np.ones(64, np.float32) for number in range(100)})
    assert 100 < cache.info().vectors < 1000
    assert cache.get(tiny, [f"text 19 {number}" for number in range(100)])


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
