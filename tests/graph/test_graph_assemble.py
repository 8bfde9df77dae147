import numpy as np
import pytest

from hopgate.errors import HopgateError
from hopgate.graph.assemble import linked_graph
from hopgate.graph.link import CONTAINED, NAMED, TITLED
from hopgate.graph.seed import restart
from hopgate.graph.walk import rank_memories

NAMES = [("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Robert Marsh", 3), ("Bob Marsh", 3)]
CONTENTS = [
    (0, "The fire of 1890 began in Mill Street, Norwich."),
    (1, "Bob Marsh (miller)\nHe owned the mill that burned."),
    (2, "Norwich\nA city in the east."),
]


def test_mentions_edges_and_links_are_one_graph() -> None:
    graph, _ = linked_graph(
        3, 4, memory=[0, 2], concept=[2, 1], source=[2], target=[3], edge_weight=[2], names=NAMES, contents=CONTENTS
    )
    matrix = graph.matrix.toarray()
    assert matrix[0, 3 + 2] == 1  # extracted, so not merely NAMED
    assert matrix[1, 3 + 3] == TITLED
    assert matrix[2, 3 + 1] == TITLED
    assert matrix[3 + 2, 3 + 3] == 2
    assert matrix[3 + 2, 3 + 1] == matrix[3 + 2, 3 + 0] == CONTAINED
    assert np.array_equal(matrix, matrix.T)


def test_a_query_reaches_a_memory_that_only_names_join_to_it() -> None:
    graph, index = linked_graph(3, 4, memory=[0], concept=[2], names=NAMES, contents=CONTENTS)
    found = [spotted.concept for spotted in index.spot("Which city had a fire in Mill Street?")]
    assert [memory for memory, _ in rank_memories(graph, restart(graph, names=found))] == [0, 2]


def test_without_contents_only_what_was_extracted_joins_memories() -> None:
    graph, _ = linked_graph(3, 4, memory=[0], concept=[2], names=NAMES)
    assert graph.strength[:3].tolist() == [1, 0, 0]
    named, _ = linked_graph(3, 4, memory=[], concept=[], names=NAMES, contents=CONTENTS)
    assert named.matrix.toarray()[0, 3 + 2] == NAMED


def test_nothing_at_all_is_a_graph_too() -> None:
    graph, index = linked_graph(0, 0, memory=[], concept=[])
    assert (graph.nodes, graph.arcs, len(index.names)) == (0, 0, 0)


def test_a_content_of_a_memory_outside_the_graph_is_refused() -> None:
    with pytest.raises(HopgateError):
        linked_graph(1, 4, memory=[], concept=[], names=NAMES, contents=CONTENTS)
