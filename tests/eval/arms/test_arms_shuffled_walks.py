"""Where walks start in a shuffled graph: facts move with their edges, names and memories stay."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_world import matrix_of

from hopgate.eval.arms.shuffled_walks import MovedFacts
from hopgate.graph.inspect.shuffle import shuffled
from hopgate.graph.walk.seeds import NearFact, restart


def test_a_fact_seeds_the_concepts_that_it_joins_in_the_shuffled_graph():
    rng = np.random.default_rng(0)
    mentions = {(m, int(c)): 1.0 for m in range(30) for c in rng.choice(40, 3, replace=False)}
    edges = [(a, (a + 1 + a % 3) % 40, 0) for a in range(40)]
    matrix = matrix_of(mentions, edges, memories=30, concepts=40)
    control = shuffled(matrix, 1)
    fact = NearFact(5, int(matrix.edge_target[5]), 0.9, 5)
    start = restart(matrix.graph, names=[7], facts=[fact], memories=[(3, 0.8)])
    moved = MovedFacts(matrix, control, 0.75).start(start)
    assert moved.sum() == pytest.approx(1.0)
    # As if the query had been asked of the shuffled graph from the beginning.
    there = NearFact(int(control.edge_source[5]), int(control.edge_target[5]), 0.9, 5)
    asked = restart(control.graph, names=[7], facts=[there], memories=[(3, 0.8)])
    assert moved == pytest.approx(asked.vector)
    plain = restart(matrix.graph, names=[7], memories=[(3, 0.8)])
    assert MovedFacts(matrix, control, 0.75).start(plain) == pytest.approx(plain.vector)
