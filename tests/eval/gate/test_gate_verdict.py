"""The verdict: what opens the gate, what closes it, and what does neither."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from eval_world import FAST, evidence, prototype

from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.verdict import Verdict


def test_a_graph_made_to_help_opens_the_gate():
    judged = judge(evidence())
    assert judged.decision.verdict is Verdict.OPEN
    assert judged.decision.chosen == "RRF(k=60, lexical=1, dense=1, graph=1.5)"
    assert "shuffled graph" in judged.decision.reason
    assert judged.contribution.relevant_alone > 30


def test_the_prototype_is_invalid_naming_reachability_and_exclusion():
    decision = judge(prototype()).decision
    assert decision.verdict is Verdict.INVALID
    assert {"reachability", "exclusion"} <= set(decision.failed)
    assert "reachability" in decision.reason
    assert "exclusion" in decision.reason


@pytest.mark.parametrize("seed", range(20))
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
    assert decision.queries_needed >= 10


def test_weight_zero_closes_or_waits_but_is_not_invalid():
    assert judge(evidence(120, weight=0)).decision.verdict is Verdict.CLOSED
    assert judge(evidence(12, weight=0)).decision.verdict is Verdict.INCONCLUSIVE


def test_harm_elsewhere_keeps_the_gate_closed():
    made = evidence(80)
    arm = made.challenger_arm
    # The gain at recall@10 stays, and everything that was first goes to tenth place.
    run = {
        query: [(name, -float(rank)) for rank, (name, _) in enumerate(ranking[5:10] + ranking[:5] + ranking[10:])]
        for query, ranking in arm.run.items()
    }
    worse = replace(made, arms={**made.arms, arm.name: replace(arm, run=run)}, saved=None)
    saved = {name: made.primary.per_query(each.run, made.qrels) for name, each in worse.arms.items()}
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
    assert told.keys() >= {"verdict", "reason", "audit", "arms", "chosen", "comparisons"}
    assert told["arms"]["lexical"].keys() >= {"recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"}
    assert told["comparisons"][0].keys() >= {"arms", "measure", "slice", "difference", "interval", "p", "p_holm"}
    assert told["audit"]["reachability"].keys() >= {"status", "detail"}


def test_claims_are_corrected_together():
    comparisons = judge(evidence(30)).comparisons
    claims = [c for c in comparisons if c.role in ("primary", "control")]
    assert [c.role for c in claims] == ["primary", "control"]
    assert all(c.p_holm >= c.p for c in comparisons)
    assert min(c.p_holm for c in claims) <= 2 * min(c.p for c in claims)
