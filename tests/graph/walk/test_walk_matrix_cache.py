"""The cache: loaded once a version, from disk where that is sound, and never torn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from graph_world import Edge, clear, day, write_concepts, write_edges, write_memories, write_mentions

from hopgate.graph.walk.hops import Hops, hop_memories
from hopgate.graph.walk.matrix_cache import MatrixCache
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.pagerank import pagerank
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import version
from hopgate.store.store import Store


@pytest.fixture
def store(kb: KnowledgeBase) -> Store:
    with kb.store.transaction() as connection:
        write_memories(connection, [1, 2, 3])
        write_concepts(connection, [1, 2])
        write_mentions(connection, [(1, 1), (2, 1), (2, 2)])
        write_edges(connection, [Edge(1, 2, "knows", 0.5, valid_to=day(3))])
        version.bump(connection)
    return kb.store


def silently(store: Store) -> None:
    """Change the rows and not the version, so that a matrix tells where it came from."""
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO concept_edges (src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids) "
            "SELECT src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids FROM concept_edges"
        )


def test_a_matrix_is_loaded_once_a_version(store: Store) -> None:
    cache = MatrixCache(store)
    first = cache.get()
    silently(store)
    assert cache.get() is first
    with store.transaction() as connection:
        assert cache.get(connection=connection) is first
        version.bump(connection)
    second = cache.get()
    assert (first.version, second.version) == (1, 2)
    assert (len(first.edge_id), len(second.edge_id)) == (1, 2)


def test_views_are_kept_apart_and_bounded(store: Store, tmp_path: Path) -> None:
    cache = MatrixCache(store, tmp_path, kept=2)
    now, before, after = (MatrixConfig(as_of=moment) for moment in (None, day(2), day(4)))
    matrices = [cache.get(config) for config in (now, before)]
    assert [len(matrix.edge_id) for matrix in matrices] == [1, 1]
    assert cache.get(now) is matrices[0]
    assert len(cache.get(after).edge_id) == 0
    assert cache.get(now) is matrices[0], "the one used last stays"
    assert cache.get(before) is not matrices[1]
    assert len(list(tmp_path.iterdir())) == 2


def test_another_process_reads_the_file(store: Store, tmp_path: Path) -> None:
    config = MatrixConfig(relations={"knows": 3})
    made = MatrixCache(store, tmp_path).get(config)
    silently(store)
    found = MatrixCache(store, tmp_path).get(config)
    assert (found.stamp, found.config, found.relations) == (made.stamp, made.config, made.relations)
    for name, array in vars(made).items():
        if isinstance(array, np.ndarray):
            other = getattr(found, name)
            np.testing.assert_array_equal(other, array)
            assert other.dtype == array.dtype
            assert not other.flags.writeable
    np.testing.assert_array_equal(found.graph.matrix.toarray(), made.graph.matrix.toarray())
    assert found.graph.memories == made.graph.memories
    assert [path.stat().st_mode & 0o077 for path in tmp_path.iterdir()] == [0], "nobody else's to read"
    with store.transaction() as connection:
        version.bump(connection)
    assert len(MatrixCache(store, tmp_path).get(config).edge_id) == 2
    assert len(list(tmp_path.iterdir())) == 1, "the old version's file is gone"


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data[:-1],
    "one byte flipped": _flipped,
    "something else": lambda _: b"not a matrix",
    "a pickle": lambda _: b"\x80\x04N.",
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_as_good_as_none(store: Store, tmp_path: Path, damage: str) -> None:
    made = MatrixCache(store, tmp_path).get()
    (path,) = tmp_path.iterdir()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    found = MatrixCache(store, tmp_path).get()
    np.testing.assert_array_equal(found.graph.matrix.toarray(), made.graph.matrix.toarray())
    silently(store)
    assert len(MatrixCache(store, tmp_path).get().edge_id) == 1, "and is replaced by a sound one"


def test_another_views_file_is_not_taken(store: Store, tmp_path: Path) -> None:
    cache = MatrixCache(store, tmp_path)
    cache.get(MatrixConfig(edges=False))
    (other,) = tmp_path.iterdir()
    cache.get()
    (path,) = set(tmp_path.iterdir()) - {other}
    path.write_bytes(other.read_bytes())
    assert len(MatrixCache(store, tmp_path).get().edge_id) == 1


def test_a_place_that_cannot_be_written_is_said_and_does_not_stop_recall(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("in the way")
    with pytest.warns(UserWarning, match="cannot be kept in"):
        assert len(MatrixCache(store, place).get().edge_id) == 1


def test_tables_made_anew_do_not_meet_old_files(store: Store, tmp_path: Path) -> None:
    assert len(MatrixCache(store, tmp_path).get().edge_id) == 1
    with store.transaction() as connection:
        clear(connection)
        connection.execute("UPDATE graph_state SET version = 1")
    assert MatrixCache(store, tmp_path).get().graph.nodes == 0


def rewrite(connection: psycopg.Connection[Any]) -> None:
    """Make a cycle of concepts, each with a memory, whose length and weights tell the version; in one transaction."""
    clear(connection)
    number = version.current(connection)
    concepts = range(1, 5 + number % 4)
    write_memories(connection, concepts)
    write_concepts(connection, concepts)
    write_mentions(connection, ((n, n, number) for n in concepts))
    write_edges(connection, (Edge(n, n % len(concepts) + 1, f"at {number}", number) for n in concepts))


def test_a_thousand_queries_during_rebuilds_see_whole_matrices(kb: KnowledgeBase, tmp_path: Path) -> None:
    cache = MatrixCache(kb.store, tmp_path)
    with kb.store.transaction() as connection:
        rewrite(connection)
    done = threading.Event()

    def write() -> int:
        with psycopg.connect(kb.store.dsn) as connection:
            while not done.is_set():
                rewrite(connection)
                connection.commit()
                done.wait(0.02)
            return version.current(connection)

    def ask(_: int) -> set[int]:
        seen = [0]
        for query in range(125):
            matrix = cache.get()
            number, length = matrix.version, 4 + matrix.version % 4
            assert number >= seen[-1], "no thread goes back in time"
            assert len(matrix.memory_ids) == len(matrix.concept_ids) == len(matrix.edge_id) == length
            assert matrix.relations == (f"at {number}",)
            assert set(matrix.edge_weight.tolist()) == set(matrix.graph.weights.tolist()) == {float(number)}
            if query % 5 == 0:
                # Seeded evenly at the concepts: C = ½ + ½ (⅔ C + M) and M = ½ · ⅓ C, so that C is 6/7 and M 1/7.
                start = np.repeat([0.0, 1 / length], length)
                scores = np.asarray(pagerank(matrix.graph, start, damping=0.5, tolerance=1e-6))
                np.testing.assert_allclose(length * scores, np.repeat([1 / 7, 6 / 7], length), atol=1e-5)
            if query % 25 == 0:
                with kb.store.transaction() as connection:
                    found = hop_memories(connection, {1: 1.0}, Hops(hops=1, degree=1))
                assert [memory for memory, _ in found[:2]] == [1, 2]
                assert found[1][1] / found[0][1] == pytest.approx(0.25)
            seen.append(number)
        return set(seen)

    with ThreadPoolExecutor(9) as pool:
        writer = pool.submit(write)
        try:
            versions = set().union(*pool.map(ask, range(8)))
        finally:
            done.set()
    assert writer.result() > 3
    assert len(versions) > 3, "the graph changed while it was asked"
    assert cache.get().version == writer.result()


def test_threads_that_need_the_same_share_one_load(store: Store) -> None:
    cache = MatrixCache(store)
    together = threading.Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        with store.transaction() as connection:
            # Every connection of the pool is held here, and the load still gets one.
            return id(cache.get(connection=connection))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
