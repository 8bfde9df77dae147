"""Splicing a change into a matrix gives what weighing and numbering everything anew gives, whatever changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_in_ids import in_ids

from hopgate.graph.walk.graph_rows import GraphRows, RowChanges
from hopgate.graph.walk.matrix import matrix_of
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.matrix_patch import follows, patchable, patched
from hopgate.store.graph.arc_rows import Arcs
from hopgate.store.graph.arrays import Edges, Mentions, Numbered, Stamp
from hopgate.store.graph.change_rows import Changed
from hopgate.store.graph.link_rows import MENTIONS, TITLED

CONFIG = MatrixConfig(relations={"knows": 2, "hides": 0})
# Hubs are what more than five memories mention, so that there must be some more.
MEMORIES, CONCEPTS = range(1, 13), range(1, 6)


@dataclass
class Rows:
    """A small store, by id: what memories say, what joins concepts, and which memories follow each other."""

    scopes: dict[int, str] = field(default_factory=dict)
    mentions: dict[tuple[int, int], tuple[str, float]] = field(default_factory=dict)
    concepts: set[int] = field(default_factory=set)
    edges: dict[int, tuple[int, int, str, float]] = field(default_factory=dict)
    arcs: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def valid(self) -> Rows:
        """Without what would point at a concept that is gone; arcs of hidden memories stay."""
        return Rows(
            self.scopes,
            {pair: said for pair, said in self.mentions.items() if pair[1] in self.concepts},
            self.concepts,
            {key: edge for key, edge in self.edges.items() if {edge[0], edge[1]} <= self.concepts},
            self.arcs,
        )


def numbered(values: dict[int, str]) -> Numbered:
    names = tuple(sorted(set(values.values())))
    ids = sorted(values)
    return Numbered(np.array(ids, np.int64), np.array([names.index(values[key]) for key in ids], np.int32), names)


def mentions_of(rows: Rows, only: Any) -> Mentions:
    kept = [(memory, concept, said) for (memory, concept), said in rows.mentions.items() if memory in only]
    return Mentions(
        np.array([one[0] for one in kept], np.int64),
        np.array([one[1] for one in kept], np.int64),
        np.array([one[2][1] for one in kept], np.float32),
        np.array([int(one[2][0] == TITLED) for one in kept], np.int32),
        (MENTIONS, TITLED),
    )


def edges_of(rows: Rows, only: Any) -> Edges:
    kept = [(key, *edge) for key, edge in rows.edges.items() if key in only]
    names = tuple(sorted({edge[3] for edge in kept}))
    return Edges(
        *(np.array([edge[at] for edge in kept], np.int64) for at in range(3)),
        np.array([edge[4] for edge in kept], np.float32),
        np.array([names.index(edge[3]) for edge in kept], np.int32),
        names,
    )


def arcs_of(rows: Rows) -> Arcs:
    first, second, kind = (np.array([arc[at] for arc in rows.arcs], np.int64) for at in range(3))
    return Arcs(first, second, np.array(list(rows.arcs.values()), np.float32), kind.astype(np.int32))


def graph_rows(rows: Rows) -> GraphRows:
    concepts = numbered(dict.fromkeys(rows.concepts, ""))
    every = mentions_of(rows, MEMORIES)
    return GraphRows(None, numbered(rows.scopes), concepts, every, edges_of(rows, rows.edges), arcs_of(rows))


def different(before: dict[Any, Any], after: dict[Any, Any]) -> set[Any]:
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}


def changes(before: Rows, after: Rows) -> RowChanges:
    """What triggers would have recorded and `read_changes` read."""
    memories = different(before.scopes, after.scopes) | {key for key, _ in different(before.mentions, after.mentions)}
    edges = different(before.edges, after.edges)
    around = {end for arc in different(before.arcs, after.arcs) for end in arc[:2]} | memories
    concepts = before.concepts ^ after.concepts
    return RowChanges(
        None,
        Changed(sorted(memories), sorted(concepts), sorted(edges)),
        numbered({key: scope for key, scope in after.scopes.items() if key in memories}),
        numbered(dict.fromkeys(concepts & after.concepts, "")),
        mentions_of(after, memories),
        edges_of(after, edges).ascending(),
        arcs_of(after),
        np.array(sorted(around), np.int64),
    )


WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.0])
MENTIONED = st.tuples(st.sampled_from([MENTIONS, TITLED]), WEIGHTS)
EDGES = st.tuples(
    st.sampled_from(CONCEPTS), st.sampled_from(CONCEPTS), st.sampled_from(["knows", "owns", "hides"]), WEIGHTS
)
ROWS = st.builds(
    Rows,
    st.dictionaries(st.sampled_from(MEMORIES), st.sampled_from(["a", "a", "a", "b", ""]), max_size=12),
    st.dictionaries(st.tuples(st.sampled_from(MEMORIES), st.sampled_from(CONCEPTS)), MENTIONED, max_size=40),
    st.sets(st.sampled_from(CONCEPTS), min_size=1),
    st.dictionaries(st.integers(1, 9), EDGES, max_size=8),
    st.dictionaries(
        st.tuples(st.sampled_from(MEMORIES), st.sampled_from(MEMORIES), st.integers(0, 1)).filter(
            lambda arc: arc[0] != arc[1]
        ),
        st.sampled_from([0.5, 1.0]),
        max_size=8,
    ),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(ROWS, min_size=2, max_size=4), st.lists(st.booleans(), min_size=20, max_size=20))
def test_a_spliced_matrix_is_one_made_anew(histories: list[Rows], stays: list[bool]) -> None:
    before = histories[0].valid()
    base = patchable(graph_rows(before), Stamp("x", 1, 1), CONFIG)
    for version, other in enumerate(histories[1:], start=2):
        after = mixed(before, other, stays).valid()
        stamp = Stamp("x", version, version)
        made = patched(base, changes(before, after), stamp)
        assert made is not None
        fresh, plain = matrix_of(graph_rows(after), stamp, CONFIG)
        assert in_ids(made.matrix) == in_ids(fresh)
        np.testing.assert_allclose(made.plain, plain, rtol=1e-6)
        np.testing.assert_allclose(made.matrix.graph.weights, fresh.graph.weights, rtol=1e-6)
        np.testing.assert_array_equal(made.matrix.graph.indices, fresh.graph.indices)
        np.testing.assert_allclose(made.matrix.graph.strength, fresh.graph.strength, rtol=1e-6)
        before, base = after, made


def mixed(before: Rows, other: Rows, stays: list[bool]) -> Rows:
    """Half of one store and half of another: what changes at once is then little or much."""

    def half(one: dict[Any, Any], two: dict[Any, Any]) -> dict[Any, Any]:
        keys = sorted({*one, *two})
        picked = {key: (one if stays[at % len(stays)] else two) for at, key in enumerate(keys)}
        return {key: side[key] for key, side in picked.items() if key in side}

    kept = half(dict.fromkeys(before.concepts), dict.fromkeys(other.concepts))
    return Rows(
        half(before.scopes, other.scopes),
        half(before.mentions, other.mentions),
        set(kept) or {1},
        half(before.edges, other.edges),
        half(before.arcs, other.arcs),
    )


def test_only_views_of_the_whole_graph_are_patched() -> None:
    assert follows(MatrixConfig(relations={"knows": 2}))
    assert not follows(MatrixConfig(kinds={"person": 2}))
    assert not follows(MatrixConfig(edges=False))


def test_what_does_not_agree_is_read_again() -> None:
    before = Rows({1: "a"}, {(1, 1): (MENTIONS, 1.0)}, {1})
    base = patchable(graph_rows(before), Stamp("x", 1, 1), CONFIG)
    # A concept went, and the memory that mentions it is not said to have changed.
    lost = changes(before, Rows({1: "a"}, before.mentions, set()))
    assert patched(base, lost, Stamp("x", 2, 2)) is None
    # An edge came whose concepts are not there.
    unknown = changes(before, Rows({1: "a"}, before.mentions, {1}, {1: (1, 7, "knows", 1.0)}))
    assert patched(base, unknown, Stamp("x", 2, 2)) is None
