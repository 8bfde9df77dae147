"""The cache: current while the version stands, old while it is read again, never torn, bounded."""

import threading
from typing import Any

import psycopg
import pytest
from graph_world import Edge, day, write_concepts, write_edges, write_memories, write_mentions

from hopgate.graph.walk import matrix as module
from hopgate.graph.walk.matrix import WHOLE, GraphMatrix, MatrixCache
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.graph import version
from hopgate.store.graph.visible import View
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


@pytest.fixture
def cache(store: Store) -> Any:
    made = MatrixCache(store)
    yield made
    made.close()


def given(cache: MatrixCache, store: Store, view: View = WHOLE, *, fresh: bool = False) -> GraphMatrix:
    with store.transaction() as connection:
        return cache.get(connection, view, fresh=fresh)


def elsewhere(store: Store) -> None:
    """Double the edges as another process does: this one knows nothing of the new version."""
    with psycopg.connect(store.dsn) as connection:
        connection.execute(
            "INSERT INTO concept_edges (src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids) "
            "SELECT src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids FROM concept_edges"
        )
        connection.execute("UPDATE graph_state SET version = version + 1, changed_at = now()")


def held_back(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[int]]:
    """Let no matrix be read before the event; give also one entry for each that was asked for."""
    go, asked = threading.Event(), list[int]()
    real = module.load_matrix

    def load_matrix(*given: Any, **options: Any) -> GraphMatrix:
        asked.append(1)
        assert go.wait(60)
        return real(*given, **options)

    monkeypatch.setattr(module, "load_matrix", load_matrix)
    return go, asked


def test_the_old_one_is_given_while_anothers_change_is_read(cache, store, monkeypatch):
    first = given(cache, store)
    elsewhere(store)
    go, asked = held_back(monkeypatch)
    for _ in range(3):
        assert given(cache, store) is first
    go.set()
    second = given(cache, store, fresh=True)
    assert (first.stamp.version, second.stamp.version) == (1, 2)
    assert (len(first.edges.id), len(second.edges.id)) == (1, 2)
    assert given(cache, store) is second
    assert len(asked) <= 2, "whoever finds it being read has nothing read again"


def test_what_this_process_wrote_is_waited_for_but_not_for_long(cache, store, monkeypatch):
    first = given(cache, store)
    with store.transaction() as connection:
        version.bump(connection)
    second = given(cache, store)
    assert second.stamp.version == 2 and second is not first
    go, _ = held_back(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    with store.transaction() as connection:
        version.bump(connection)
    assert given(cache, store) is second
    go.set()


def test_a_scopes_matrix_outlives_what_others_change(kb):
    def own() -> GraphMatrix:
        with kb.store.transaction() as connection:
            return kb.graph_leg.matrices.get(connection, View(("a",)))

    kb.add(*(Memory(f"{scope} 1", "Ada Byron lives in London.", scope=scope) for scope in "ab"))
    kb.build()
    first = own()
    kb.add(Memory("b 2", "Ada Byron owns the whimbrel.", scope="b"))
    kb.build()
    kb.mark_sensitive(["b 1"])
    kb.delete(["b 2"])
    assert own() is first
    for change in (
        lambda: kb.add(Memory("a 2", "Ada Byron owns the whimbrel.", scope="a")) and kb.build(),
        lambda: kb.mark_sensitive(["a 2"]),
        lambda: kb.delete(["a 1"]),
    ):
        before = own()
        change()
        assert own() is not before


def test_nothing_is_told_of_what_another_process_took_away(kb, monkeypatch):
    kb.add(
        Memory("a", "Ada Byron lives in London."),
        Memory("b", "Ada Byron owns the Whimbrel."),
        Memory("c", "The Whimbrel is in Norwich."),
        Memory("d", "The Whimbrel needs paint."),
    )
    kb.build()
    options = {"legs": ("graph", "lexical"), "explain": True}
    before = {hit.external_id: hit for hit in kb.recall("Ada Byron", **options)}
    assert "b" in before and "owned by" in str(before["d"].path)
    go, _ = held_back(monkeypatch)
    kb.mark_sensitive(["b"])
    version._written.clear()
    after = {hit.external_id: hit for hit in kb.recall("Ada Byron", **options)}
    assert not any("owned by" in str(hit.path) for hit in after.values())
    with kb.store.transaction() as connection:
        connection.execute("UPDATE memories SET superseded_at = now() WHERE external_id = 'd'")
    assert "d" in before and "d" not in {hit.external_id for hit in kb.recall("Ada Byron", **options)}
    go.set()


def test_views_are_bounded_by_their_bytes(cache, store, monkeypatch):
    now, before, after = (View(as_of=moment) for moment in (None, day(2), day(4)))
    matrices = [given(cache, store, config) for config in (now, before)]
    monkeypatch.setattr(module, "MOST_BYTES", 2 * matrices[0].bytes)
    assert given(cache, store, now) is matrices[0]
    assert len(given(cache, store, after).edges.id) == 0
    assert given(cache, store, now) is matrices[0], "the one used last stays"
    assert given(cache, store, before) is not matrices[1]
