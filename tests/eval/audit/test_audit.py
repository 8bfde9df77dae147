"""The twelve checks: what each passes, what each fails, and when it does not apply."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eval_world import evidence, prototype, saved_values

from hopgate.eval.audit import CHECKS, Case, Status, audit
from hopgate.eval.data.dataset import Query
from hopgate.eval.gate.evidence import Arm, GraphSource, Tuning
from hopgate.eval.gate.judge import judge
from hopgate.eval.slices import All, NamedSlice, NonAdjacent


class Statuses(dict):
    """Name → status, each check run when it is asked for."""

    def __init__(self, made):
        super().__init__()
        self.case = Case(made)

    def __missing__(self, name):
        return CHECK[name](self.case).status


CHECK = {check.__name__: check for check in CHECKS}
statuses = Statuses


def detail(made, name):
    return CHECK[name](Case(made)).detail


@pytest.fixture(scope="module")
def good():
    return evidence()


def test_a_sound_test_passes_all_twelve(good):
    found = {check.name: check.status for check in audit(Case(good))}
    assert list(found) == [
        "reachability", "inertness", "exclusion", "selection", "circularity",
        "leakage", "power", "persistence", "fairness", "control",
        "tuning", "integrity",
    ]  # fmt: skip
    assert found.pop("circularity") is Status.NOT_APPLICABLE
    assert set(found.values()) == {Status.PASS}
    assert len(CHECKS) == 12


def test_the_prototype_fails_reachability_exclusion_and_is_inert():
    found = {check.name: check.status for check in audit(Case(prototype()))}
    assert {name for name, status in found.items() if status is Status.FAIL} >= {
        "reachability", "exclusion", "inertness",
    }  # fmt: skip


@pytest.mark.parametrize(("weight", "status"), [(0.35, "fail"), (0.8, "fail"), (2.0, "pass")])
def test_dropping_the_exclusion_alone_does_not_make_it_reachable(weight, status):
    made = evidence(weight=weight)
    assert statuses(made)["reachability"] == status
    assert statuses(made)["exclusion"] is Status.PASS
    assert "over 0.871" in detail(made, "reachability")


def test_the_importance_prior_counts_in_the_bound():
    assert "over 0.610" in detail(evidence(weight=1.2, prior=True), "reachability")


def test_every_fuser_can_be_audited():
    for fuser in ("TM2C2(lexical=1, dense=1, graph=2)", "StretchedRRF(graph=2)"):
        assert statuses(evidence(30, fuser=fuser))["reachability"] is Status.PASS


def test_an_unknown_fuser_is_judged_by_what_it_returned(good):
    arm = good.challenger_arm
    opaque = replace(good, arms={**good.arms, arm.name: replace(arm, fuser="Learned(0.1, 0.3)")})
    assert statuses(opaque)["reachability"] is Status.PASS
    base_run = good.arms["lexical+dense"].run
    deaf = replace(opaque, arms={**good.arms, arm.name: replace(arm, fuser="Learned(0.1, 0.3)", run=base_run)})
    assert statuses(deaf)["reachability"] is Status.FAIL
    assert statuses(deaf)["inertness"] is Status.FAIL


def test_weight_zero_claims_nothing():
    found = statuses(evidence(weight=0))
    assert found["reachability"] is found["inertness"] is Status.NOT_APPLICABLE


def test_a_graph_leg_that_found_nothing_is_not_inert_by_construction(good):
    arm = good.challenger_arm
    silent = replace(arm, legs={**arm.legs, "graph": {}}, run=good.arms["lexical+dense"].run)
    assert statuses(replace(good, arms={**good.arms, arm.name: silent}))["inertness"] is Status.NOT_APPLICABLE


def test_a_graph_leg_without_lists_proves_nothing(good):
    arm = Arm("lexical+dense+graph", good.challenger_arm.run, good.challenger_arm.fuser)
    assert statuses(replace(good, arms={**good.arms, arm.name: arm}))["reachability"] is Status.FAIL


def test_exclusion_inside_the_leg_shows_by_lists_that_never_meet():
    made = evidence(weight=2, exclude=True)
    arm = replace(made.challenger_arm, found={})
    hidden = replace(made, arms={**made.arms, arm.name: arm})
    assert statuses(hidden)["exclusion"] is Status.FAIL
    assert "never returned" in detail(hidden, "exclusion")
    assert statuses(replace(hidden, corpus_size=None))["exclusion"] is Status.PASS


def test_a_slice_from_the_runs_or_in_the_tested_space_is_refused(good):
    missed = NamedSlice("base misses", frozenset(list(good.qrels)[:20]), from_runs=True)
    assert statuses(replace(good, slices={missed - All(): missed.ids}))["selection"] is Status.FAIL
    same = {All(): frozenset(good.qrels), NonAdjacent("bge"): frozenset(good.qrels)}
    assert statuses(replace(good, slices=same))["selection"] is Status.FAIL
    other = {All(): frozenset(good.qrels), NonAdjacent("minilm"): frozenset(good.qrels)}
    assert statuses(replace(good, slices=other))["selection"] is Status.PASS


def test_queries_made_from_the_graph_under_test_are_circular(good):
    made = {name: Query(name, "?", {"graph": "abc", "facts": ["f1"]}) for name in good.qrels}
    assert statuses(replace(good, queries=made))["circularity"] is Status.FAIL
    held_out = replace(good, queries=made, graph=GraphSource("abc", facts=frozenset({"f2"})))
    assert statuses(held_out)["circularity"] is Status.PASS
    kept = replace(good, queries=made, graph=GraphSource("other", facts=frozenset({"f1"})))
    assert statuses(kept)["circularity"] is Status.FAIL
    assert statuses(replace(good, queries=made, graph=GraphSource("other")))["circularity"] is Status.PASS
    assert statuses(replace(good, queries=made, graph=None))["circularity"] is Status.FAIL


def test_tuning_on_reported_queries_leaks(good):
    tuning = {**good.tuning, "dense": Tuning(frozenset(list(good.qrels)[:1]), {"a": 1.0})}
    assert statuses(replace(good, tuning=tuning))["leakage"] is Status.FAIL
    assert statuses(replace(good, tuning={}))["leakage"] is Status.NOT_APPLICABLE


def test_an_untuned_base_is_unfair(good):
    tuning = {"lexical+dense+graph": good.tuning["lexical+dense+graph"]}
    assert statuses(replace(good, tuning=tuning))["fairness"] is Status.FAIL
    elsewhere = {**good.tuning, "lexical+dense": replace(good.tuning["lexical+dense"], queries=frozenset({"x"}))}
    assert statuses(replace(good, tuning=elsewhere))["fairness"] is Status.FAIL


def test_what_was_not_saved_or_differs_is_named(good):
    assert statuses(replace(good, saved=None))["persistence"] is Status.FAIL
    saved = saved_values(good)
    partly = {name: values for name, values in saved.items() if name != "dense"}
    assert "not saved: dense" in detail(replace(good, saved=partly), "persistence")
    changed = {**saved, "dense": {query: value / 2 for query, value in saved["dense"].items()}}
    assert "differently: dense" in detail(replace(good, saved=changed), "persistence")


def test_a_gain_that_the_shuffle_has_too_is_not_the_graphs():
    made = evidence(helps=0.8, control_helps=0.8)
    judged = judge(made)
    assert statuses(made)["control"] is Status.FAIL
    assert judged.decision.verdict == "INVALID"
    assert judged.decision.failed == ("control",)


def test_a_gain_without_a_control_is_not_believed(good):
    assert judge(replace(good, shuffles=())).decision.failed == ("control",)


def test_no_gain_needs_no_control():
    assert statuses(evidence(helps=0.0))["control"] is Status.NOT_APPLICABLE


def test_a_run_that_its_lists_do_not_make_is_named(good):
    arm = good.challenger_arm
    forged = {query: [(memory, 1.0) for memory in gold] for query, gold in good.qrels.items()}
    made = replace(good, arms={**good.arms, arm.name: replace(arm, run=forged)})
    assert statuses(made)["integrity"] is Status.FAIL
    assert "the run of lexical+dense+graph is not what its lists" in detail(made, "integrity")
    unknown = replace(good, arms={**good.arms, arm.name: replace(arm, fuser="Learned(0.1)")})
    assert "cannot be made again" in detail(unknown, "integrity")
    shuffle = replace(good.shuffles[0], run=forged)
    assert "the run of shuffle 1 is not" in detail(replace(good, shuffles=(shuffle,)), "integrity")


def test_a_choice_that_the_queries_do_not_carry_is_a_note_or_a_failure(good):
    name = good.challenger
    default = Tuning(frozenset({"d"}), {"a": 1.0}, good.arms[name].fuser, carries=False)
    noted = replace(good, tuning={**good.tuning, name: default})
    assert statuses(noted)["tuning"] is Status.PASS
    assert "the declared default" in detail(noted, "tuning")
    forced = replace(good, tuning={**good.tuning, name: replace(default, default="RRF()", gain=-0.1, agreement=0.2)})
    assert statuses(forced)["tuning"] is Status.FAIL


def test_runs_of_somebody_are_asked_what_can_be_asked_of_runs(good):
    found = {check.name: check.status for check in audit(Case(replace(good, given_runs=True)))}
    assert found["integrity"] is found["control"] is found["reachability"] is Status.NOT_APPLICABLE
    assert found["power"] is found["persistence"] is Status.PASS


def test_few_shuffles_can_never_pass():
    made = evidence(shuffles=10)
    assert statuses(made)["control"] is Status.FAIL
    assert "can never show more" in detail(made, "control")
    assert judge(made).decision.verdict == "INCONCLUSIVE"
