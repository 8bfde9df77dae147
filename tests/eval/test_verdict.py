"""The verdict against who would have it wrong: each attack once opened or closed the gate with every check green."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eval_world import FREE, GOLD, evidence, gains, run_of

from hopgate.errors import HopgateError
from hopgate.eval import gate_runs, judge, load, save, verify
from hopgate.eval.checks import compared_facts, related
from hopgate.eval.data.dataset import Query
from hopgate.eval.evidence import UNKNOWN, Arm, Cost, Evidence, Rung
from hopgate.eval.ledger import Ledger
from hopgate.eval.plan import Plan
from hopgate.eval.verdict import Judgement, over_sets
from hopgate.extract.files import Triple
from hopgate.memory import Memory

NOBODY = Ledger(None)
WON = gains(120, 1.5)


def said(judgement: Judgement) -> str:
    """All that a gate says in words."""
    findings = [f"{check.name} {check.status.value}: {check.finding}" for check in judgement.checks]
    return "\n".join([judgement.headline, judgement.todo, judgement.main.reason, *findings])


def groups(count: int, of: int, about: Any = "new") -> Evidence:
    """Questions that are all won, in so many conversations."""
    better = [6 + at % 3 for at in range(count)]
    return evidence([3] * count, better, groups=[at % of for at in range(count)], plan=Plan(about=about))


def one_base_more(*over: str) -> Evidence:
    """A base as strong as the graph, named first or last."""
    made = evidence(*WON)
    arms = {**made.arms, "strong": Arm(run_of(WON[1], "s"), "RRF", FREE)}
    return replace(made, arms=arms, bases=over, rungs=(replace(made.rungs[0], over=over),))


def shuffled_alike() -> Evidence:
    made = evidence(*WON)
    return replace(made, arms={**made.arms, **{name: Arm(run_of(WON[1])) for name in made.rungs[0].shuffled}})


def not_shuffled() -> Evidence:
    made = evidence(*WON)
    return replace(made, rungs=(replace(made.rungs[0], shuffled=()),))


def tuned_on(texts: list[str], answers: list[str], left_out: int = 0) -> Evidence:
    """Questions that were tuned on, each with its answer."""
    made = evidence(*gains(30, 3.0))
    queries = {f"d{at}": Query(f"d{at}", text) for at, text in enumerate(texts)}
    tuned = {name: {answer: 1} for name, answer in zip(queries, answers, strict=True)}
    return replace(made, queries={**made.queries, **queries}, tuned=tuned, left_out=left_out)


def copied(times: int) -> Evidence:
    base, better = gains(24, 1.0, seed=3)
    made = evidence(base * times, better * times, groups=range(24 * times))
    queries = {name: Query(name, f"Where is the key of the {int(name[1:]) % 24}th red door?") for name in made.queries}
    return replace(made, queries=queries)


def barred() -> Evidence:
    made = evidence(*gains(60, 0.0))
    graph = replace(made.arms["graph"], entering={"lexical": (40, 60), "graph": (0, 60)})
    return replace(made, arms={**made.arms, "graph": graph})


def harmed(lost: int, name: str) -> Evidence:
    """All of the first questions are lost, which are a kind of their own, and most of the others won."""
    base, better = gains(120, 2.0)
    better = [0 if at < 20 else max(count, base[at]) for at, count in enumerate(better)]
    return evidence(base, better, slices={name: frozenset(f"q{at}" for at in range(lost))})


def judged_of_base(count: int, grade: Callable[[bool], int]) -> Evidence:
    """What the base found is judged, and nothing else."""
    made = evidence(*gains(60, 0.0))
    run = made.arms["base"].run
    return replace(
        made,
        qrels={
            name: {memory: grade(memory in gold) for memory in run[name][: count or 1 + len(run[name]) // 2]}
            for name, gold in made.qrels.items()
        },
    )


def one_zero() -> Evidence:
    made = evidence([3] * 60, [6 + at % 2 for at in range(60)])
    return replace(made, qrels={**made.qrels, "q0": {**made.qrels["q0"], "no": 0}})


DOORS = [f"Where is the key of the {at}th red door?" for at in range(30)]
ALONE = [f"Something about d{at} alone?" for at in range(4)]
SHARED = ["q1-0", "q2-0", "q3-0", "free"]
AS_IF = "every answer is among the first 10 of base, as if only what it found had been judged"
CASES: dict[str, tuple[Callable[[], Evidence], str, str]] = {
    "a gain": (lambda: evidence(*WON), "OPEN", "use graph"),
    "no gain on many": (lambda: evidence(*gains(600, 0.0, spread=1.0)), "CLOSED", "do without the concept graph"),
    "no gain on few": (lambda: evidence(*gains(40, 0.0)), "INCONCLUSIVE", "go on with base; to decide about a gain"),
    "1: shuffles do as well": (shuffled_alike, "CLOSED", "39 of 39 shuffled graphs do as well"),
    "a strict alpha": (lambda: evidence(*WON, plan=Plan(alpha=0.01)), "OPEN", "none of 39 shuffled graphs do as well"),
    "no shuffles": (not_shuffled, "INCONCLUSIVE", "it was not compared with shuffled graphs"),
    "2: made from a graph": (lambda: evidence(*WON, metadata={"made": True}), "INVALID", "were made from a graph"),
    "3: made for the questions": (lambda: evidence(*WON, provenance=("fail", "40 facts")), "INVALID", "40 facts"),
    "a graph of unknown making": (lambda: evidence(*WON, provenance=UNKNOWN), "OPEN", "provenance unknown: who made"),
    "5: copies are one group": (lambda: copied(8), "INCONCLUSIVE", "192 questions in 24 groups"),
    "5: bases in any order": (lambda: one_base_more("base", "strong"), "CLOSED", "by +0.000"),
    "5: bases in another": (lambda: one_base_more("strong", "base"), "CLOSED", "over strong"),
    "7: the base's finds are judged": (lambda: judged_of_base(10, int), "INVALID", "judged fail: of the first 10"),
    "7: its answers are judged": (lambda: judged_of_base(0, lambda _: 1), "INVALID", f"{AS_IF}: judge what the others"),
    "a single 0 is no pool": (one_zero, "OPEN", "judged pass"),
    "a base finds all, as others do": (lambda: evidence([10] * 60, [10] * 60), "INCONCLUSIVE", "judged pass"),
    "a base finds all, others nearly": (lambda: evidence([10] * 60, [9] * 60), "CLOSED", f"judged unknown: {AS_IF}"),
    "a base finds all, others less": (lambda: evidence([10] * 60, [7] * 60), "INVALID", f"judged fail: {AS_IF}"),
    "8: dev is test": (lambda: tuned_on([f"Tell me: {text}" for text in DOORS], DOORS), "INVALID", "30 of 30 q"),
    "8: answers are shared": (lambda: tuned_on(ALONE, SHARED), "INVALID", "3 of 4 questions that were tuned on share"),
    "what is shared was left out": (lambda: tuned_on(ALONE[3:], SHARED[3:], 3), "OPEN", "1 tuned ones; 3 were left"),
    "9: look 40": (lambda: evidence(*gains(60, 0.75, seed=5), look=40), "INCONCLUSIVE", "neither a gain over base"),
    "9: alpha is said": (lambda: evidence(*WON, plan=Plan(alpha=0.2)), "OPEN", "Declared: alpha = 0.2."),
    "11: a slice is harmed": (lambda: harmed(20, "type=A"), "CLOSED", "it loses on type=A questions against base"),
    "11: a small one": (lambda: harmed(7, "type=B"), "CLOSED", "it loses on type=B questions against base"),
    "13: six questions": (lambda: groups(6, 6), "INCONCLUSIVE", "25 in 6 are the least"),
    "4: five conversations": (lambda: groups(300, 5), "INCONCLUSIVE", "are the least, or declare --about these"),
    "six conversations": (lambda: groups(300, 6), "OPEN", "300 questions in 6 groups"),
    "five, and about these": (lambda: groups(300, 5, "these"), "OPEN", "further questions on these conversations"),
    "the prototype: a barred leg": (barred, "INVALID", "mend what the check of reachable found"),
}


@pytest.mark.parametrize(("made", "verdict", "words"), CASES.values(), ids=CASES)
def test_what_is_decided_and_said(made, verdict, words):
    judgement = judge(made())
    assert judgement.verdict == verdict and words in said(judgement), said(judgement)


def test_what_a_program_reads_of_it():
    judgement = judge(evidence(*WON))
    claim = judgement.main
    assert claim.interval[0] > 0 and claim.p < 0.025 and claim.randomised_p < 0.025
    assert claim.control is not None and claim.control.p == 1 / 40
    assert (claim.queries, claim.clusters) == (120, 120) and len(claim.by_cluster) == 120
    read = judgement.to_dict()
    assert {"verdict", "headline", "fingerprint", "base", "challenger", "arms", "claims", "checks"} <= read.keys()
    keys = {"part", "over", "verdict", "difference", "interval", "queries", "clusters", "icc", "cost"}
    assert keys <= read["claims"][0].keys() and judge(copied(8)).main.design_effect == pytest.approx(8)


def test_conversations_that_agree_do_not_open_by_chance():
    """Attack 4: no effect, questions of one conversation alike; by questions alone a quarter of such gates opened."""
    alike = [at % 10 for at in range(200)]
    made = [evidence(*gains(200, 0.0, seed=seed, groups=10, icc=0.14), groups=alike) for seed in range(20)]
    assert sum(judge(each).verdict == "OPEN" for each in made) <= 2


def test_parts_are_judged_one_over_the_other_and_the_headline_is_about_concepts():
    base, threads = gains(200, 1.0, seed=1)
    made = evidence(base, threads)
    more = [min(10, count + 1) if at % 2 else count for at, count in enumerate(threads)]
    arms = {name: Arm(run_of(found, name), "RRF", FREE) for name, found in (("alike", threads), ("more", more))}

    def decided(arm: str) -> Judgement:
        shuffled = made.rungs[0].shuffled
        rungs = (
            replace(made.rungs[0], part="threads"),
            Rung("facts", arm, ("base", "graph"), ()),
            Rung("concepts", arm, ("base", "graph"), shuffled, Cost(41, query_ms=3.2, megabytes=12.5)),
        )
        return judge(replace(made, arms={**made.arms, **arms}, rungs=rungs))

    judgement = decided("alike")
    assert judgement.opened == ("threads",) and judgement.recommended == "graph"
    assert judgement.headline.startswith("CLOSED: the concept graph does not earn its place")
    assert "What opened: the order of turns" in judgement.headline
    # All together opened and no part of it did: all together is recommended.
    judgement = decided("more")
    assert judgement.opened == ("threads", "concepts") and judgement.recommended == "more"
    line = judgement.headline
    assert "What opened, too: the order of turns." in line and len(re.findall(r"\d+(?:\.\d+)?", line)) <= 10


def test_what_cannot_be_judged_is_said_in_a_sentence():
    made = evidence([3] * 30, [4] * 30)
    for other, reason in (
        (replace(made, qrels={name: {"x": 0} for name in made.qrels}), "no judged question has an answer"),
        (replace(made, rungs=()), "there is no graph"),
    ):
        with pytest.raises(HopgateError, match=reason):
            judge(other)
    for values, reason in (({"measure": "recall@50"}, "declare k = 50, too"), ({"alpha": 0.9}, "alpha")):
        with pytest.raises(HopgateError, match=reason):
            Plan(**values)
    assert str(Plan(k=5, measure="mrr").primary) == "mrr@5"


def test_facts_that_are_the_test_questions_are_found():
    """Attack 3: 126 triples that are test questions on their gold memory."""
    memories = [Memory(f"m{at}", "It stands in the cellar.") for at in range(40)]
    queries = {f"q{at}": Query(f"q{at}", f"Which appliance does Ada{at} lend neighbours?") for at in range(40)}
    asked = Evidence("a set", Plan(), queries, {f"q{at}": {f"m{at}": 1} for at in range(40)})
    triples = [Triple(f"m{at}", queries[f"q{at}"].text, "answers", "cellar") for at in range(40)]
    status, finding = compared_facts(asked, memories, triples)
    assert status == "fail" and [problem[:5] for problem in finding.split("; ")] == ["40 of", "40 re"]
    assert compared_facts(asked, memories, [Triple("m1", "It", "stands in", "cellar")])[0] == "pass"


def test_what_is_related_to_reported_questions_is_left_out_of_tuning():
    made = tuned_on([*ALONE, f"Tell me: {DOORS[0]}"], [*SHARED, "free"])
    assert related(made.queries, made.tuned, made.qrels) == {"d0", "d1", "d2", "d4"}


# The record.


@pytest.mark.parametrize("change", ["a base that is none", "a list", "another shape"])
def test_a_record_that_was_edited_is_a_sentence_and_no_traceback(tmp_path, change):
    save(tmp_path, evidence([3] * 30, [4] * 30))
    values = json.loads((tmp_path / "evidence.json").read_text())
    if change == "a base that is none":
        values["bases"].append("nobody")
    else:
        values["arms"]["base"]["entering"] = ["x"]
    (tmp_path / "evidence.json").write_text(json.dumps([] if change == "a list" else values))
    assert "were changed" in verify(tmp_path)[0]
    with pytest.raises(HopgateError, match="is not what a gate saved"):
        load(tmp_path)


def test_a_gate_that_is_run_again_leaves_nothing_of_the_one_before(tmp_path):
    short = evidence([3] * 30, [4] * 30, shuffled=0)
    clean = save(tmp_path / "clean", short).fingerprint
    save(tmp_path / "out", evidence([3] * 30, [4] * 30))
    assert save(tmp_path / "out", short).fingerprint == clean and verify(tmp_path / "out", clean) == []


# The doors: runs that somebody brought.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"q{at} 0 q{at}-{place} 1" for at in range(60) for place in range(GOLD)]
    (tmp_path / "judged.qrels").write_text("\n".join(rows) + "\n")
    return tmp_path


def written(
    folder: Path, name: str, found: list[int], *, skip: int = 0, cut: int = GOLD, whole: int = 0, sign: int = 1,
    tied: bool = False,
) -> Path:  # fmt: skip
    lines = [
        f"{query} Q0 {memory} {rank + 1} {1 if tied else sign * (20 - rank)} {name}"
        for at, (query, ids) in enumerate(list(run_of(found, name).items())[skip:])
        for rank, memory in enumerate(ids[: GOLD if at < whole else cut])
    ]
    path = folder / f"{name}.run"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"skip": 10}, "has no list for 10 of 60"),
        ({"cut": 5}, "is cut at 5, others list more"),
        ({"sign": -1}, "go against its scores"),
        ({"tied": True}, "equal scores leave"),
        ({"cut": 5, "whole": 1}, "is cut at 5, others list more"),
        ({"tied": True, "empty": 6000}, "equal scores leave"),
    ],
    ids=["missing", "cut", "distances", "tied", "cut but for one", "tied among many without an answer"],
)
def test_runs_that_cannot_be_compared_are_named(folder, change, finding):
    """Attack 5: each of these opened."""
    base, better = gains(60, 2.0)
    with (folder / "judged.qrels").open("a") as file:
        file.writelines(f"empty{at} 0 nothing 0\n" for at in range(change.pop("empty", 0)))
    paths = [written(folder, "base", base, **change), written(folder, "other", better)]
    judgement = gate_runs(paths, folder / "judged.qrels", plan=Plan(k=5 if "tied" in change else 10), ledger=NOBODY)
    assert judgement.verdict == "INVALID" and finding in said(judgement)


def test_one_run_twice_is_no_comparison_and_questions_without_an_answer_count_nowhere(folder):
    base, better = gains(60, 2.0)
    one, other, qrels = written(folder, "base", base), written(folder, "other", better), folder / "judged.qrels"
    twin = folder / "twin.run"
    twin.write_text(one.read_text() + "q0 Q0 further 11 0 twin\n")
    assert "are one run" in said(gate_runs([one, twin], qrels, ledger=NOBODY))
    before = gate_runs([one, other], qrels, ledger=NOBODY)
    with qrels.open("a") as file:
        file.writelines(f"empty{at} 0 nothing 0\n" for at in range(600))
    after = gate_runs([one, other], qrels, ledger=NOBODY)
    assert before.verdict == after.verdict == "OPEN" and after.main.difference == before.main.difference
    assert "the last run, other, earns its place" in after.headline and "graph" not in after.headline
    assert "600 queries without an answer are left out" in said(after) and "copies unknown" in said(after)
    assert after.todo == "use other"


def test_looks_at_ids_alone_are_told_apart_by_their_answers(folder):
    """Questions 1 to 50 of another set are not these; the same with more judged are."""
    ledger = Ledger(folder / "looks.jsonl")
    paths = [written(folder, "base", [3] * 60), written(folder, "other", [4] * 60)]
    more = (folder / "judged.qrels").read_text() + "q0 0 further 1\n"
    (folder / "more.qrels").write_text(more)
    (folder / "others.qrels").write_text(more.replace(" 0 ", " 0 z"))
    looks = [
        gate_runs(paths, folder / f"{name}.qrels", ledger=ledger).evidence.look for name in ("judged", "more", "others")
    ]
    assert looks == [1, 2, 1]


def test_grades_below_the_one_that_is_declared_are_no_answers(folder):
    """Attack 6: losing every answer and finding four on-topic memories opened with +.600."""
    rows = [f"q{at} 0 q{at}-0 2\n" for at in range(60)]
    rows += [f"q{at} 0 topic{at}-{n} 1\n" for at in range(60) for n in range(4)]
    (folder / "graded.qrels").write_text("".join(rows))
    paths = [written(folder, "base", [5] * 60), folder / "other.run"]
    paths[1].write_text("".join(f"q{at} Q0 topic{at}-{n} {n + 1} {9 - n} o\n" for at in range(60) for n in range(4)))
    judgement = gate_runs(paths, folder / "graded.qrels", plan=Plan(relevant_from=2, k=4), ledger=NOBODY)
    assert judgement.main.difference == -1.0 and judgement.verdict != "OPEN"


def test_several_sets_give_a_mean_one_where_nothing_changed_counts_and_one_that_is_invalid_does_not():
    """A set without a difference had no error and was left out: the mean of the others was told."""
    gained = [judge(evidence(*gains(80, 1.0, seed=seed))) for seed in range(2)]
    still = judge(evidence([5] * 80, [5] * 80))
    made = judge(evidence([1] * 80, [9] * 80, metadata={"made": True}))
    two, three = (over_sets([*gained, other])["concepts"] for other in (made, still))
    assert (two.sets, three.sets) == (2, 3) and three.difference < two.difference < 0.2
    assert three.interval[0] < three.difference < three.interval[1] and two.next_set is None
    assert three.next_set is not None and three.next_set[0] < three.interval[0]
