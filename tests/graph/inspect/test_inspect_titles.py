"""Links that follow from titles are known by their relation, whatever they weigh, and a shuffle leaves them."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest
from graph_world import write_concepts, write_memories, write_mentions

from hopgate.graph.inspect.controls import shuffled
from hopgate.graph.walk.matrix import GraphMatrix, MatrixConfig, load_matrix

COUNT = 12


def loaded(dsn: str, config: MatrixConfig) -> GraphMatrix:
    """Every memory is titled with its own concept and mentions the next two, one of them heavily."""
    with psycopg.connect(dsn) as connection:
        write_memories(connection, range(1, COUNT + 1))
        write_concepts(connection, range(1, COUNT + 1))
        rows = []
        for number in range(COUNT):
            rows.append((number + 1, number + 1, 6.0, "titled"))
            rows.append((number + 1, (number + 1) % COUNT + 1, 1.0))
            rows.append((number + 1, (number + 2) % COUNT + 1, 2.0))
        write_mentions(connection, rows)
        return load_matrix(connection, config)


def pairs(matrix: GraphMatrix) -> set[tuple[int, int]]:
    ends = matrix.graph.indptr[matrix.graph.memories]
    memory = np.repeat(np.arange(COUNT), np.diff(matrix.graph.indptr[: COUNT + 1]))
    return set(zip(memory.tolist(), (matrix.graph.indices[:ends] - COUNT).tolist(), strict=True))


@pytest.mark.parametrize("factor", [1.0, 0.1])
def test_a_shuffle_keeps_titles_and_deals_out_mentions_whatever_they_weigh(dsn: str, factor: float) -> None:
    matrix = loaded(dsn, MatrixConfig(relations={"titled": factor}))
    titles = {(number, number) for number in range(COUNT)}
    assert set(zip(matrix.title_memory.tolist(), matrix.title_concept.tolist(), strict=True)) == titles
    dealt = [pairs(shuffled(matrix, seed)) for seed in range(5)]
    assert all(titles <= found for found in dealt)
    heavy = {(number, (number + 2) % COUNT) for number in range(COUNT)}
    assert not all(heavy <= found for found in dealt)


def test_titles_that_are_not_walked_are_not_there(dsn: str) -> None:
    matrix = loaded(dsn, MatrixConfig(relations={"titled": 0}))
    assert len(matrix.title_memory) == 0
