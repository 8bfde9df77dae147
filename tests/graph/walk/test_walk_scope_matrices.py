"""A scope's matrix is read from its own rows, is what the whole graph's has of it, and outlives others' changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.scope_matrices import ScopeMatrices, read_scopes
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

DAY = datetime(2024, 1, 1, tzinfo=UTC)
TEXTS = (
    "Ada Lovelace lives in London.",
    "Immich runs on cedar.",
    "Ada Lovelace moved to Leeds in May 2024.",
    "Grace Hopper works for Atlas Labs.",
    "Immich moved from cedar to alder in March 2024.",
    "Caddy depends on Redis.",
)


def memory(scope: str, at: int, text: str | None = None) -> Memory:
    return Memory(
        f"{scope} {at}",
        text or TEXTS[at % len(TEXTS)],
        scope=scope,
        thread=f"t{at % 2}" if at % 3 else None,
        category="chat",
        reply_to=f"{scope} {at - 2}" if at > 3 else None,
        created_at=DAY + timedelta(minutes=at),
    )


# What each of two scopes alone talks about.
OWN = {"a": "Walter Benjamin visits Capri.", "b": "Hannah Arendt visits Marburg."}


@pytest.fixture
def two(kb: KnowledgeBase) -> KnowledgeBase:
    """Two scopes that say the same, and each something of its own."""
    kb.add(*(memory(scope, at) for scope in OWN for at in range(8)))
    kb.add(*(memory(scope, at, text) for scope, text in OWN.items() for at in range(20, 24)))
    kb.add(memory("a", 8, "Alan Turing owns the NAS."), memory("b", 8, "Bea feeds the cat in Paris."))
    kb.build()
    return kb


def same(one: GraphMatrix, other: GraphMatrix) -> bool:
    """Whether all of two matrices is alike but the numbers of scopes, which are the whole store's in one of them."""
    for field in fields(GraphMatrix):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("memory_scope", "stamp", "own") or field.name.startswith("arc_"):
            continue
        if field.name == "graph":
            parts = [(getattr(left, name), getattr(right, name)) for name in ("indptr", "indices", "weights")]
            if not all(np.array_equal(*pair) for pair in parts):
                return False
        elif isinstance(left, np.ndarray):
            if left.dtype != right.dtype or not np.array_equal(left, right):
                return False
        elif left != right:
            return False
    assert one.own is not None and other.own is not None
    # Arcs are walked as the graph has them; their list comes in no order.
    arcs = [sorted(zip(m.arc_source, m.arc_target, m.arc_weight, m.arc_kind, strict=True)) for m in (one, other)]
    return (
        arcs[0] == arcs[1] and list(one.own.names) == list(other.own.names) and one.own.wordings == other.own.wordings
    )


CONFIGS = (
    MatrixConfig(),
    MatrixConfig(as_of=DAY + timedelta(90)),
    MatrixConfig(known_at=DAY + timedelta(minutes=4)),
    MatrixConfig(superseded=True),
)


Change = Callable[[KnowledgeBase], object]


def _linked(*new: Memory) -> Change:
    return lambda kb: (kb.add(*new), kb.upkeep.catch_up([one.external_id for one in new]))


# What is done, one after the other, and whether the scope "b" sees it.
CHANGES: dict[str, tuple[Change, bool]] = {
    "a new memory of another": (_linked(memory("a", 30, "Alan Turing lives in Wilmslow.")), False),
    "another's text": (_linked(memory("a", 20, "Walter Benjamin left Capri.")), False),
    "another's mark": (lambda kb: kb.mark_sensitive(["a 21"]), False),
    "another's deletion": (lambda kb: kb.delete(["a 22"]), False),
    "a third one's first": (_linked(memory("c", 0, "Dora Maar paints in Antibes.")), False),
    "a merge of another's": (lambda kb: kb.graph.merge("Alan Turing", "NAS"), False),
    "its own new memory": (_linked(memory("b", 30, "Bea lives in Paris.")), True),
    "its own text": (_linked(memory("b", 20, "Hannah Arendt left Marburg.")), True),
    "its own mark": (lambda kb: kb.mark_sensitive(["b 21"]), True),
    "its own deletion": (lambda kb: kb.delete(["b 22"]), True),
    "one that moves in": (_linked(Memory("a 23", OWN["a"], scope="b", created_at=DAY)), True),
    "one that moves out": (_linked(Memory("b 23", OWN["b"], scope="a", created_at=DAY)), True),
    "a merge of its names": (lambda kb: kb.graph.merge("Bea", "Paris"), True),
    "and what was merged taken apart": (lambda kb: kb.graph.split("Bea"), True),
    "what a relation means": (lambda kb: kb.build(several_valued=["runs on"]), True),
    "all of it": (lambda kb: kb.build(rebuild=True), True),
}


def test_what_changes_elsewhere_reloads_nothing_and_what_changes_here_is_seen(two: KnowledgeBase) -> None:
    kept, config = ScopeMatrices(two.store), MatrixConfig()
    with two.store.transaction() as connection:
        kept.get(connection, ["b"], config)
    assert kept.loads == 1
    for name, (change, seen) in CHANGES.items():
        before = kept.loads
        change(two)
        with two.store.transaction() as connection:
            now = kept.get(connection, ["b"], config)
            assert kept.get(connection, ["b"], config) is now, name
            assert same(now, read_scopes(connection, ["b"], config).matrix), name
        assert kept.loads - before == int(seen), name


def test_a_recall_reads_what_its_scopes_may_see_and_no_more(two: KnowledgeBase) -> None:
    leg = two.graph_leg
    for number in range(3):
        assert two.recall("Where does Ada Lovelace live?", scope="b", explain=True)
        _linked(memory("a", 10 + number, f"Alan Turing owns lamp {number}."))(two)
    assert leg.scope_matrices.loads == 1
    assert "_matrices" not in vars(leg), "the whole graph was loaded"
    assert [hit.external_id for hit in two.recall("lamp", scope="a")][:1] == ["a 10"]
    assert leg.scope_matrices.loads == 2
    two.recall("Where does Ada Lovelace live?")
    assert "_matrices" in vars(leg) and leg.scope_matrices.loads == 2
    two.store_settings.set({"scopes": "shared"})
    two.recall("Where does Ada Lovelace live?", scope="b")
    assert leg.scope_matrices.loads == 2


def test_only_so_many_are_kept(two: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopgate.graph.walk.scope_matrices.KEPT_SCOPES", 1)
    kept = ScopeMatrices(two.store)
    with two.store.transaction() as connection:
        for scopes in (["a"], ["b"], ["b"], ["a"]):
            kept.get(connection, scopes, MatrixConfig())
    assert kept.loads == 3
