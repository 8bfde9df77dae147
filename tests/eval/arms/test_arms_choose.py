"""The choice of a configuration: what is tried, what is recorded, what is chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from eval_world import lists

from hopgate.errors import HopgateError
from hopgate.eval.arms.choose import choose, reachable_fusers
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.arms.score_table import run_values, score_table
from hopgate.eval.measures import Recall, score_all
from hopgate.recall.fuse import RRF, TM2C2, Importance, StretchedRRF


@pytest.fixture(scope="module")
def world():
    legs, qrels = lists(30, helps=0.7, seed=4)
    return LegLists(legs), qrels


def per_query(fuser, legs, qrels):
    run = fused_run(fuser, legs, qrels)
    values = [score_all(measure, run, qrels) for measure in (Recall(5), Recall(10))]
    return np.array([(values[0][query] + values[1][query]) / 2 for query in qrels])


def test_only_configurations_in_which_the_graph_is_reachable_are_tuned_over(world):
    legs, qrels = world
    fusers = [RRF(graph=w) for w in (0, 0.35, 0.8, 1.5, 2)]
    assert reachable_fusers(fusers, legs, qrels) == [RRF(graph=1.5), RRF(graph=2)]
    with pytest.raises(HopgateError, match="none lets the graph leg reach the top k"):
        choose(reachable_fusers(fusers[:3], legs, qrels), legs, qrels)


def test_the_choice_is_as_good_as_the_best_and_all_that_was_tried_is_recorded(world):
    legs, qrels = world
    fusers = [RRF(graph=0), RRF(graph=1.5), TM2C2(graph=1.5), StretchedRRF(graph=2)]
    choice = choose(fusers, legs, qrels)
    assert choice.tuning.queries == frozenset(qrels)
    assert list(choice.tuning.tried) == [repr(fuser) for fuser in fusers]
    values = {fuser: per_query(fuser, legs, qrels) for fuser in fusers}
    for fuser in fusers:
        assert choice.tuning.tried[repr(fuser)] == pytest.approx(values[fuser].mean())
    best = max(fusers, key=lambda fuser: values[fuser].mean())
    behind = values[best] - values[choice.fuser]
    assert behind.mean() <= behind.std(ddof=1) / np.sqrt(len(behind)) + 1e-12
    assert choice.fuser != RRF(graph=0)
    assert choice.tuning.carries


def test_the_table_is_what_fusing_gives(world):
    legs, qrels = world
    fusers = [fuser for fuser in challenger_grid(RRF(graph=1.4), RRF(graph=0, dense=0.35)) if not fuser.others]
    table = score_table(fusers, legs, qrels, 10)
    for column in range(0, len(fusers), 9):
        assert table[:, column] == pytest.approx(run_values(fused_run(fusers[column], legs, qrels), qrels, 10))


def test_of_equals_the_nearest_to_the_default_is_chosen(world):
    legs, qrels = world
    nobody = {query: {"nobody": 1} for query in qrels}
    assert choose([RRF(graph=0.2), RRF(graph=0.1), RRF(graph=5)], legs, nobody).fuser == RRF(graph=0.2)


def test_few_queries_choose_nothing(world):
    legs, qrels = world
    few = dict(list(qrels.items())[:9])
    choice = choose([RRF(graph=0), RRF(graph=1.5)], legs, few)
    assert choice.fuser == RRF(graph=0)
    assert choice.tuning.carries is False
    assert choice.tuning.default == "RRF(k=60, lexical=1, dense=1, graph=0)"


@pytest.mark.parametrize("default", [RRF(graph=1.4), TM2C2(lexical=0.015, dense=0.035, graph=5)])
def test_grids_begin_with_the_default_and_are_alike_in_size(default):
    base = base_grid(default)
    challengers = challenger_grid(default, base[5])
    assert base[0] == default.reweighed(graph=0)
    assert challengers[0] == default
    assert len(base) >= len(challengers)
    assert all(fuser.graph == 0 for fuser in base)


def test_a_leg_of_weight_zero_lets_nothing_in(world):
    legs, qrels = world
    run = fused_run(RRF(graph=0), replace(legs, prior=Importance()), qrels)
    base = {query: {m for leg in ("lexical", "dense") for m, _ in legs.scores[leg][query]} for query in qrels}
    assert all({memory for memory, _ in ranking} == base[query] for query, ranking in run.items())
