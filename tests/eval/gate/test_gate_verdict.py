"""The verdict: what opens the gate, what closes it, and what does neither."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from eval_world import FAST, evidence, prototype

from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.verdict import Verdict
from hopgate.eval.measures import score_all

# Fusing thousands of lists takes three times as long when lines are traced, and test_gate_run.py runs the same ones.
pytestmark = pytest.mark.no_cover


def test_a_graph_made_to_help_opens_the_gate():
    judged = judge(evidence())
    assert judged.decision.verdict is Verdict.OPEN
    assert judged.decision.chosen == "RRF(k=60, lexical=1, dense=1, graph=1.5)"
    assert "number 1 of 21 among shuffled graphs" in judged.decision.reason
    assert judged.among.outcome == "passes"
    assert judged.contribution.relevant_alone > 30


def test_the_prototype_is_invalid_naming_reachability_and_exclusion():
    decision = judge(prototype()).decision
    assert decision.verdict is Verdict.INVALID
    assert {"reachability", "exclusion"} <= set(decision.failed)
    assert "reachability" in decision.reason
    assert "exclusion" in decision.reason


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(4, 20))])
def test_a_graph_of_noise_never_opens_the_gate(seed):
    assert judge(evidence(40, helps=0.0, seed=seed)).decision.verdict in (Verdict.CLOSED, Verdict.INCONCLUSIVE)


def test_a_useless_graph_on_many_queries_closes_the_gate():
    judged = judge(evidence(150, helps=0.0))
    assert judged.decision.verdict is Verdict.CLOSED
    assert judged.decision.chosen == "RRF(k=60, lexical=1, dense=1, graph=0)"


def test_a_small_gain_on_few_queries_is_inconclusive_with_the_number_needed():
    decision = judge(evidence(24, helps=0.12, seed=3)).decision
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.queries_needed > 24
    assert f"{decision.queries_needed:,} queries" in decision.reason


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_few_queries_never_open_the_gate(n):
    decision = judge(evidence(n, helps=1.0)).decision
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.queries_needed > n


def test_weight_zero_closes_or_waits_but_is_not_invalid():
    assert judge(evidence(125, weight=0)).decision.verdict is Verdict.CLOSED
    assert judge(evidence(12, weight=0)).decision.verdict is Verdict.INCONCLUSIVE


def test_harm_elsewhere_keeps_the_gate_closed():
    made = evidence(80)
    arm = made.challenger_arm
    # The gain at recall@10 stays, and everything that was first goes to tenth place.
    run = {
        query: [(name, -float(rank)) for rank, (name, _) in enumerate(ranking[5:10] + ranking[:5] + ranking[10:])]
        for query, ranking in arm.run.items()
    }
    # As somebody's own run: it is not what its lists make, and integrity would say so.
    worse = replace(made, arms={**made.arms, arm.name: replace(arm, run=run)}, saved=None, given_runs=True)
    saved = {name: score_all(made.primary, each.run, made.qrels) for name, each in worse.arms.items()}
    decision = judge(replace(worse, saved=saved)).decision
    assert decision.verdict is Verdict.CLOSED
    assert "harms" in decision.reason
    assert "mrr" in decision.reason


def test_the_worthwhile_effect_is_a_setting():
    made = evidence(60, helps=0.0)
    assert judge(replace(made, policy=replace(FAST, worthwhile=0.5))).decision.verdict is Verdict.CLOSED
    assert judge(replace(made, policy=replace(FAST, worthwhile=0.001))).decision.verdict is not Verdict.OPEN


def test_the_same_evidence_gives_the_same_judgement_and_prints_as_json():
    first, second = judge(evidence(20)), judge(evidence(20))
    assert first.to_dict() == second.to_dict()
    told = json.loads(json.dumps(first.to_dict(), allow_nan=False))
    assert told.keys() >= {"verdict", "reason", "audit", "arms", "chosen", "comparisons", "control", "policy", "looks"}
    assert told["arms"]["lexical"].keys() >= {"recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"}
    assert told["comparisons"][0].keys() >= {"arms", "measure", "slice", "difference", "interval", "p", "p_holm"}
    assert told["audit"]["reachability"].keys() >= {"status", "detail"}


def test_the_claim_has_half_of_the_level_and_the_harms_share_the_other():
    judged = judge(evidence(60))
    claims = [c for c in judged.comparisons if c.role in ("primary", "control")]
    assert [c.role for c in claims] == ["primary", "control"]
    assert {c.level for c in claims} == {0.025}
    harms = [c for c in judged.comparisons if c.role == "harm"]
    assert sum(c.level for c in harms if c.counts) == pytest.approx(0.025)
    assert all(c.p_holm >= c.p for c in judged.comparisons)


def test_the_level_is_shared_out_over_the_looks():
    first = judge(evidence(40))
    assert first.after_looks is None
    again = judge(replace(evidence(40, helps=0.5), looks=400))
    assert again.decision.verdict is Verdict.OPEN
    assert again.after_looks.verdict is Verdict.INCONCLUSIVE
    assert again.to_dict()["verdict_after_looks"] == "INCONCLUSIVE"


def test_every_rival_must_be_beaten_too():
    made = evidence(60)
    arm = made.challenger_arm
    twin = replace(arm, name="twin")
    decision = judge(replace(made, arms={**made.arms, "twin": twin}, rivals=("twin",), saved=None)).decision
    assert decision.verdict is not Verdict.OPEN


def test_a_plan_may_ask_that_every_harm_be_excluded():
    made = evidence(60)
    decision = judge(replace(made, policy=replace(FAST, every_harm_excluded=True))).decision
    assert (decision.verdict, decision.because) == (Verdict.INCONCLUSIVE, "harm not excluded")
    assert decision.queries_needed > 100
