"""A graph without a part is what was made without it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import EDGES, MENTIONS, TITLE, matrix_of, mentions_of

from hopgate.graph.walk.config import PARTS
from hopgate.graph.walk.parts import parts_of, with_parts


@settings(deadline=None, max_examples=100)
@given(MENTIONS, EDGES, st.sets(st.sampled_from(["titles", "names", "facts"])))
def test_parts_are_what_was_made_with_them_alone(mentions, edges, parts):
    matrix = matrix_of(mentions, edges)
    titled = {concept for (_, concept), weight in mentions.items() if weight == TITLE}
    kept_mentions = {
        pair: weight for pair, weight in mentions.items() if ("titles" if pair[1] in titled else "names") in parts
    }
    left = with_parts(matrix, parts)
    assert left.edges.weight.tolist() == (matrix.edges.weight.tolist() if "facts" in parts else [])
    assert mentions_of(left) == mentions_of(matrix_of(kept_mentions, []))
    assert left.graph.nodes == matrix.graph.nodes
    assert with_parts(matrix, PARTS).graph.weights.tobytes() == matrix.graph.weights.tobytes()
    assert {name for name, count in parts_of(left).items() if count} <= parts
