"""The attacks that the earlier gate gave way to, each with what must happen instead."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from eval_world import FAST, evidence, lists, saved_values

from hopgate.cli import main
from hopgate.eval.arms.ablation import ablate
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.leg_lists import GraphLists, LegLists
from hopgate.eval.data.dataset import Query
from hopgate.eval.gate.evidence import Arm, Evidence
from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.saved import save_gate
from hopgate.eval.gate.verdict import Verdict
from hopgate.eval.measures import NDCG, Recall, mean_score
from hopgate.eval.slices import All, NamedSlice

# Fusing thousands of lists takes three times as long when lines are traced, and test_gate_run.py runs the same ones.
pytestmark = pytest.mark.no_cover


def status_of(*words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return stopped.value.code


def given(differences, *, slices=None, policy=FAST):
    """Runs whose recall@10 differs by so much, query by query: 1, ½, 0, −½ or −1 of two relevant memories."""
    base, challenger, qrels = {}, {}, {}
    for i, difference in enumerate(differences):
        name, half = f"q{i:04d}", round(2 * difference)
        qrels[name] = {"a": 1, "b": 1}
        found = [("a", 2.0), ("b", 1.0)]
        base[name] = found[: max(0, -half)] or [("x", 1.0)]
        challenger[name] = found[: max(0, half)] or [("x", 1.0)]
    arms = {"base": Arm("base", base), "challenger": Arm("challenger", challenger)}
    made = Evidence(
        queries={name: Query(name, "?") for name in qrels}, qrels=qrels, arms=arms, challenger="challenger",
        base="base", measures=(), slices=slices or {}, policy=policy, given_runs=True,
    )  # fmt: skip
    return replace(made, saved=saved_values(made))


def ties(n, *, win=0, half=0, lost=0, lost_half=0):
    values = [1.0] * win + [0.5] * half + [-1.0] * lost + [-0.5] * lost_half
    return values + [0.0] * (n - len(values))


# 1. A forged run.


def test_gold_first_lists_do_not_open_it(tmp_path, capsys):
    made = evidence(40, helps=0.0)
    arm = made.challenger_arm
    gold_first = {
        query: [(memory, 9.0) for memory in gold] + [pair for pair in arm.run[query] if pair[0] not in gold]
        for query, gold in made.qrels.items()
    }
    forged = replace(made, arms={**made.arms, arm.name: replace(arm, run=gold_first)})
    judged = judge(replace(forged, saved=saved_values(forged)))
    assert judged.decision.verdict is Verdict.INVALID
    assert "integrity" in judged.decision.failed
    # On disk: saved as it was, then one score of a leg's list is changed.
    save_gate(tmp_path, made)
    assert status_of("report", str(tmp_path), "--verify") == 0
    record = json.loads((tmp_path / "arms/00.json").read_text())
    record["settings"] = {"depth": 7}
    (tmp_path / "arms/00.json").write_text(json.dumps(record))
    capsys.readouterr()
    assert status_of("report", str(tmp_path), "--verify") == 1
    assert "settings of the arm lexical was changed" in capsys.readouterr().out


# 2. The control is one: tests/graph/inspect/test_inspect_shuffle.py asks the function; here, that each is tuned.


def test_every_shuffle_is_tuned_like_the_challenger():
    legs, qrels = lists(30, helps=0.8, seed=1)
    dev, dev_qrels = lists(30, helps=0.8, seed=2, prefix="d")
    both = {leg: {**legs[leg], **dev[leg]} for leg in legs}
    noise = lists(30, helps=0.0, seed=3)[0]["graph"] | lists(30, helps=0.0, seed=4, prefix="d")[0]["graph"]
    shuffled = (GraphLists(noise, noise), GraphLists(both["graph"], both["graph"]))
    made = ablate(Collected(LegLists(both), shuffled), dev_qrels, qrels, k=10, settings={}, more=False)
    # The second shuffle is the real graph: tuned alike, it ends where the challenger does.
    assert made.shuffles[1].fuser == made.arms[made.challenger].fuser
    assert made.shuffles[0].fuser != ""


# 3. CLOSED needs grounds.


@pytest.mark.parametrize(
    "differences", [ties(15, lost=1), ties(15, lost_half=3, half=1), ties(15, half=5), ties(15, lost_half=4)]
)
def test_fifteen_queries_close_and_open_nothing(differences):
    assert judge(given(differences)).decision.verdict is Verdict.INCONCLUSIVE


def test_fifteen_queries_open_it_where_the_effect_is_overwhelming():
    assert judge(given(ties(15, win=9))).decision.verdict is Verdict.OPEN


def test_one_uncorrected_loss_of_thirty_does_not_close_a_shown_gain():
    differences = np.array(ties(273, half=14, lost_half=2))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(differences))
    names = [f"q{i:04d}" for i in range(len(differences))]
    lost, won = [names[i] for i in np.flatnonzero(differences < 0)], [names[i] for i in np.flatnonzero(differences > 0)]
    tied = [names[i] for i in order if differences[i] == 0]
    slices = {All(): frozenset(names), NamedSlice("the one", frozenset()): frozenset({*lost, *tied[:46]})}
    slices |= {
        NamedSlice(f"slice {i}", frozenset()): frozenset({*won[i % 7 :: 7], *tied[10 * i % 120 :][:100]})
        for i in range(28)
    }
    judged = judge(given(differences, slices=slices))
    assert judged.decision.verdict is Verdict.OPEN
    (one,) = (c for c in judged.comparisons if c.slice == "the one")
    assert one.difference < -0.02
    assert one.state == "open"


def test_below_zero_is_not_below_the_margin():
    judged = judge(given(ties(1200, lost_half=36), policy=replace(FAST, worthwhile=0.5)))
    # −.015, surely below 0 and surely within the margin: no harm is shown by it.
    assert judged.decision.because == "no worthwhile gain"


# 4. Nine development queries choose no straw man.


def test_nine_development_queries_choose_nothing():
    legs, qrels = lists(20, helps=0.5, seed=1)
    dev, dev_qrels = lists(9, helps=1.0, seed=2, prefix="d")
    both = {leg: {**legs[leg], **dev[leg]} for leg in legs}
    made = ablate(Collected(LegLists(both)), dev_qrels, qrels, k=10, settings={}, more=False)
    chosen = made.tuning["lexical+dense+graph"]
    assert chosen.carries is False
    assert made.arms["lexical+dense+graph"].fuser == chosen.default
    # Which base is the strongest is not known either: every one must be beaten.
    assert {made.base, *made.rivals} == {"lexical", "dense", "lexical+dense"}


# 5. The strongest base.


def test_the_claim_is_made_against_the_strongest_base():
    legs, qrels = lists(40, helps=0.0, seed=1)
    dev, dev_qrels = lists(40, helps=0.0, seed=2, prefix="d")
    both = {leg: {**legs[leg], **dev[leg]} for leg in legs}
    gold = {**qrels, **dev_qrels}
    both["dense"] = {
        q: [(m, 1.0) for m in gold[q]] + [(m, s / 2) for m, s in ranking if m not in gold[q]]
        for q, ranking in both["dense"].items()
    }
    both["lexical"] = {q: [(f"x{i}", 50.0 - i) for i in range(50)] for q in gold}
    made = ablate(Collected(LegLists(both)), dev_qrels, qrels, k=10, settings={}, more=False)
    scores = {
        name: mean_score(Recall(10), made.arms[name].run, qrels) for name in ("lexical", "dense", "lexical+dense")
    }
    assert made.base != "lexical"
    assert scores[made.base] == max(scores.values())


# 6. One's own runs, and a plan.


def test_anybodys_runs_are_judged_from_the_command_line(tmp_path, capsys):
    made = evidence(60)
    from hopgate.eval.report import write_trec

    write_trec(tmp_path, made)
    words = ["gate", "--runs", str(tmp_path / "lexical+dense.run"), str(tmp_path / "lexical+dense+graph.run")]
    words += ["--qrels", str(tmp_path / "qrels.txt"), "--plan", str(tmp_path / "plan.toml"), "--exit-code", "--json"]
    assert status_of(*words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "OPEN"
    assert told["audit"]["integrity"]["status"] == "not applicable"
    # Read back with another level than the plan's, it is refused; and the second look is counted.
    assert status_of(*words, "--alpha", "0.2") == 2
    assert "declares alpha = 0.05" in capsys.readouterr().err
    assert status_of(*words[:-2], "--out", str(tmp_path / "out"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["looks"] == 2
    assert status_of("report", str(tmp_path / "out"), "--verify") == 0


def test_the_exit_status_says_the_verdict(tmp_path, capsys):
    from hopgate.eval.report import write_trec

    write_trec(tmp_path, evidence(12, helps=0.0))
    words = ["gate", "--runs", str(tmp_path / "lexical+dense.run"), str(tmp_path / "lexical+dense+graph.run")]
    assert status_of(*words, "--qrels", str(tmp_path / "qrels.txt"), "--exit-code") == 11
    assert "what to do now" in capsys.readouterr().out
    assert status_of(*words, "--qrels", str(tmp_path / "qrels.txt"), "--apply") == 0
    assert "nothing was applied: the gate is not OPEN" in capsys.readouterr().out
    assert status_of(*words, "--qrels", str(tmp_path / "qrels.txt"), "--force") == 2
    assert "--force belongs to --apply" in capsys.readouterr().err


# 7. What is compared is what is said to be compared.


def test_measures_beside_the_primary_are_watched_with_one_level():
    made = replace(evidence(60), measures=(Recall(5), NDCG(10)))
    harms = [c for c in judge(made).comparisons if c.role == "harm"]
    assert {c.measure for c in harms} == {"recall@5", "ndcg@10", "recall@10"}
    assert sum(c.level for c in harms if c.counts) == pytest.approx(0.025)
