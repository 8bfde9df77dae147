"""A graph without one of its parts is the graph that was made without it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import RELATIONS, Edges, Mentions, matrix_of

from hopgate.graph.inspect.controls import PARTS, without

memories, concepts = st.integers(0, 6), st.integers(0, 5)
mentions = st.dictionaries(st.tuples(memories, concepts), st.sampled_from([0.5, 1.0, 3.0]), max_size=20)
edges = st.lists(st.tuples(concepts, concepts, st.integers(0, len(RELATIONS) - 1)), max_size=20)


@settings(deadline=None, max_examples=100)
@given(mentions, edges)
def test_it_is_what_was_made_without_the_part(mentions: Mentions, edges: Edges) -> None:
    matrix = matrix_of(mentions, edges)
    made = {"names": matrix_of({}, edges), "typed edges": matrix_of(mentions, []), "neighbours": matrix}
    for part in PARTS:
        left, wanted = without(matrix, part), made[part]
        assert (left.graph.matrix != wanted.graph.matrix).nnz == 0
        assert left.edge_id.tolist() == wanted.edge_id.tolist()
        assert left.title_memory.tolist() == wanted.title_memory.tolist()
        assert left.graph.nodes == matrix.graph.nodes
