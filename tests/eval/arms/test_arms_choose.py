"""Tuning and the shuffled control: what is chosen, what is kept, what is lost."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from eval_world import evidence, lists
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.arms.tune import fused_run, heard, tune
from hopgate.eval.gate.judge import judge
from hopgate.eval.measures import Recall
from hopgate.eval.shuffle import shuffled
from hopgate.eval.slices import All, Picked
from hopgate.extract.triples import Triple
from hopgate.recall.fuse import RRF, TM2C2, Importance

names = st.integers(0, 5).map(lambda i: f"c{i}")
memories = st.integers(0, 6).map(lambda i: f"m{i}")
facts = st.builds(Triple, memories, names, st.sampled_from(["owns", "likes"]), names)
graphs = st.lists(st.one_of(facts, st.builds(Triple, memories, names)), max_size=40)


def incidence(triples):
    return {(t.doc_id, name) for t in triples for name in (t.subject, t.object) if name}


@given(graphs, st.integers(0, 3))
def test_a_shuffle_keeps_memories_relations_and_concepts(triples, seed):
    made = shuffled(triples, seed)
    assert made == shuffled(triples, seed)
    assert [(t.doc_id, t.relation, t.is_fact) for t in made] == [(t.doc_id, t.relation, t.is_fact) for t in triples]
    assert {name for _, name in incidence(made)} == {name for _, name in incidence(triples)}


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffle_keeps_every_degree_and_loses_the_structure(seed):
    rng = random.Random(seed)
    triples = [
        Triple(f"m{m}", f"title {m}" if rng.random() < 0.7 else f"c{rng.randrange(200)}", "r", f"c{rng.randrange(200)}")
        for m in range(150)
        for _ in range(rng.randrange(1, 8))
    ]
    triples += [Triple(f"m{m}", f"c{rng.randrange(200)}") for m in range(150)]
    made = shuffled(triples, seed)
    before, after = incidence(triples), incidence(made)
    for side in (0, 1):
        assert Counter(pair[side] for pair in before) == Counter(pair[side] for pair in after)
    assert len(before & after) < 0.05 * len(before)
    edges = [{(t.subject, t.object) for t in side if t.is_fact} for side in (triples, made)]
    assert len(edges[0] & edges[1]) < 0.05 * len(edges[0])
    assert len(edges[1]) == pytest.approx(len(edges[0]), rel=0.05)


@pytest.fixture(scope="module")
def world():
    return lists(30, helps=0.7, seed=4)


def test_only_configurations_that_can_be_heard_are_tuned_over(world):
    legs, qrels = world
    fusers = [RRF(graph=w) for w in (0, 0.35, 0.8, 1.5, 2)]
    assert heard(fusers, legs, qrels) == [RRF(graph=1.5), RRF(graph=2)]
    with pytest.raises(HopgateError, match="none lets the graph leg be heard"):
        tune(heard(fusers[:3], legs, qrels), legs, qrels)


def test_the_best_on_the_first_measure_is_chosen_and_all_are_recorded(world):
    legs, qrels = world
    fusers = [RRF(graph=0), RRF(graph=1.5), TM2C2(graph=1.5)]
    found = tune(fusers, legs, qrels)
    assert found.tuning.queries == frozenset(qrels)
    assert list(found.tuning.tried) == [repr(fuser) for fuser in fusers]
    assert found.tuning.tried[repr(found.chosen)] == max(found.tuning.tried.values())
    assert found.chosen != RRF(graph=0)
    best = Recall(10).mean(fused_run(found.chosen, legs, qrels), qrels)
    assert found.tuning.tried[repr(found.chosen)] == pytest.approx(best)


def test_ties_go_to_the_first_named(world):
    legs, qrels = world
    assert tune([RRF(k=61, graph=0), RRF(k=60, graph=0)], legs, qrels, [Recall(500)]).chosen == RRF(k=61, graph=0)


def test_a_leg_of_weight_zero_lets_nothing_in(world):
    legs, qrels = world
    run = fused_run(RRF(graph=0), legs, qrels, prior=Importance(), importance={})
    base = {query: {m for leg in ("lexical", "dense") for m, _ in legs[leg][query]} for query in qrels}
    assert all({memory for memory, _ in ranking} == base[query] for query, ranking in run.items())


def test_evidence_that_does_not_fit_together_is_refused():
    made = evidence(10)
    for change, reason in (
        ({"challenger": "none"}, "there is no arm 'none'"),
        ({"control": "none"}, "there is no arm 'none'"),
        ({"qrels": {}}, "no judged query"),
        ({"queries": {}}, "'q000' is not among the queries"),
        ({"slices": {All(): frozenset({"x"})}}, "not reported on"),
    ):
        with pytest.raises(HopgateError, match=reason):
            replace(made, **change)


def test_a_slice_without_queries_decides_nothing():
    made = evidence(20)
    empty = replace(made, slices={Picked("none", frozenset()): frozenset(), All(): frozenset(made.qrels)})
    assert judge(empty).decision.verdict == "INCONCLUSIVE"
