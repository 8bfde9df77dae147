"""Caches are bounded, can be looked at and emptied; and what deletion left on the disk can be removed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from canary import CANARY, in_files
from cli_run import Runner

import hopgate
from hopgate import Memory
from hopgate.embed import EmbeddingCache, Identity
from hopgate.graph.walk import matrix_cache
from hopgate.kb import KnowledgeBase


def test_the_embedding_cache_is_bounded(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "embeddings.sqlite3", most_bytes=200_000)
    tiny = Identity("tiny", 64, spec="tiny")
    for group in range(20):
        cache.put(tiny, {f"text {group} {number}": np.ones(64, np.float32) for number in range(100)})
    assert 100 < cache.info().vectors < 1000
    assert cache.get(tiny, [f"text 19 {number}" for number in range(100)])


def test_matrices_of_stores_that_are_gone_are_bounded(
    kb: KnowledgeBase, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(matrix_cache, "MOST_FILES", 5)
    folder = matrix_cache.matrix_directory()
    folder.mkdir(parents=True)
    for number in range(10):
        (folder / f"gone-{number}-1.npz").write_bytes(b"x")
        os.utime(folder / f"gone-{number}-1.npz", (number, number))
    kb.add(Memory("m", "Ada Byron lives in London."))
    kb.build()
    kb.recall("Ada Byron", legs=("graph", "lexical"))
    left = {path.name for path in matrix_cache.kept_files(folder)}
    assert len(left) == 5 and {"gone-9-1.npz", "gone-6-1.npz"} < left
    run = Runner(capsys)
    told = run("cache", "info", "--json").json
    assert told["matrices"] == 5 and told["matrix_bytes"] > 0
    assert run("cache", "clear", "--yes", "--json").json["matrices"] == 5
    assert matrix_cache.kept_files(folder) == []


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
    assert in_files(folder) == []
    assert in_files(cache) == []
    with hopgate.open(folder) as kb:
        assert len(kb) == 20 and kb.recall("Ada Byron", legs=("lexical",))
