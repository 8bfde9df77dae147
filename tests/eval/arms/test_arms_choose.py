"""The choice of a configuration: what is tried, what is recorded, what is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from eval_world import lists

from hopgate.errors import HopgateError
from hopgate.eval.arms.choose import choose, development_score, reachable_fusers
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.measures import Recall
from hopgate.recall.fuse import RRF, TM2C2, Importance


@pytest.fixture(scope="module")
def world():
    return lists(30, helps=0.7, seed=4)


def per_query(fuser, legs, qrels):
    run = fused_run(fuser, legs, qrels)
    values = [measure.per_query(run, qrels) for measure in (Recall(5), Recall(10))]
    return np.array([(values[0][query] + values[1][query]) / 2 for query in qrels])


def test_only_configurations_in_which_the_graph_is_reachable_are_tuned_over(world):
    legs, qrels = world
    fusers = [RRF(graph=w) for w in (0, 0.35, 0.8, 1.5, 2)]
    assert reachable_fusers(fusers, legs, qrels) == [RRF(graph=1.5), RRF(graph=2)]
    with pytest.raises(HopgateError, match="none lets the graph leg reach the top k"):
        choose(reachable_fusers(fusers[:3], legs, qrels), legs, qrels)


@pytest.mark.parametrize("prefer_graph", [False, True])
def test_the_choice_is_as_good_as_the_best_and_all_that_was_tried_is_recorded(world, prefer_graph):
    legs, qrels = world
    fusers = [RRF(graph=0), RRF(graph=1.5), TM2C2(graph=1.5)]
    choice = choose(fusers, legs, qrels, prefer_graph=prefer_graph)
    assert choice.tuning.queries == frozenset(qrels)
    assert list(choice.tuning.tried) == [repr(fuser) for fuser in fusers]
    values = {fuser: per_query(fuser, legs, qrels) for fuser in fusers}
    for fuser in fusers:
        assert choice.tuning.tried[repr(fuser)] == pytest.approx(values[fuser].mean())
        assert development_score(fused_run(fuser, legs, qrels), qrels) == choice.tuning.tried[repr(fuser)]
    best = max(fusers, key=lambda fuser: values[fuser].mean())
    behind = values[best] - values[choice.fuser]
    assert behind.mean() <= behind.std(ddof=1) / np.sqrt(len(behind)) + 1e-12
    assert choice.fuser != RRF(graph=0)


def test_of_equals_the_least_graph_is_chosen_unless_the_graph_is_preferred(world):
    legs, qrels = world
    everything = {query: {memory: 1 for leg in legs.values() for memory, _ in leg[query]} for query in qrels}
    wide = {query: dict(list(gold.items())[-1:]) for query, gold in everything.items()}  # nobody finds these early
    fusers = [RRF(graph=0.2), RRF(graph=0.1), RRF(graph=0.3)]
    assert {development_score(fused_run(fuser, legs, wide), wide) for fuser in fusers} == {0.0}
    assert choose(fusers, legs, wide).fuser == RRF(graph=0.1)
    assert choose(fusers, legs, wide, prefer_graph=True).fuser == RRF(graph=0.3)


def test_ties_go_to_the_first_named(world):
    legs, qrels = world
    fusers = [RRF(k=61, graph=0), RRF(k=60, graph=0)]
    scores = choose(fusers, legs, qrels, 500).tuning.tried
    assert len(set(scores.values())) == 1
    assert choose(fusers, legs, qrels, 500).fuser == RRF(k=61, graph=0)
    assert choose(fusers[::-1], legs, qrels, 500).fuser == RRF(k=60, graph=0)


def test_a_leg_of_weight_zero_lets_nothing_in(world):
    legs, qrels = world
    run = fused_run(RRF(graph=0), legs, qrels, prior=Importance(), importance={})
    base = {query: {m for leg in ("lexical", "dense") for m, _ in legs[leg][query]} for query in qrels}
    assert all({memory for memory, _ in ranking} == base[query] for query, ranking in run.items())
