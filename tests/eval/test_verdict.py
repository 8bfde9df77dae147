"""The verdict against who would have it wrong: each attack once opened or closed the gate with every check green."""

from __future__ import annotations

import json
import re
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
from hopgate.eval.report import headline, todo
from hopgate.eval.verdict import Judgement, over_sets
from hopgate.extract.files import Triple
from hopgate.memory import Memory

NOBODY = Ledger(None)


def verdicts(judgement: Judgement) -> dict[str, str]:
    return {claim.part: claim.verdict.value for claim in judgement.claims}


def found(judgement: Judgement, name: str) -> tuple[str, str]:
    return next((check.status.value, check.finding) for check in judgement.checks if check.name == name)


def test_a_gain_over_every_base_and_every_shuffle_opens_and_says_so() -> None:
    judgement = judge(evidence(*gains(120, 1.5)))
    assert verdicts(judgement) == {"concepts": "OPEN"} and judgement.recommended == "graph"
    claim = judgement.main
    assert claim.interval[0] > 0 and claim.p < 0.025 and claim.randomised_p < 0.025
    assert claim.control is not None and claim.control.p == 1 / 40
    assert (claim.queries, claim.clusters) == (120, 120) and len(claim.by_cluster) == 120
    said = headline(judgement)
    assert said.startswith("OPEN: the concept graph earns its place") and "over base" in said
    assert "use graph" in todo(judgement)
    told = judgement.to_dict()
    assert {"verdict", "headline", "fingerprint", "base", "challenger", "arms", "claims", "checks"} <= told.keys()
    keys = {"part", "over", "verdict", "difference", "interval", "queries", "clusters", "icc", "cost"}
    assert keys <= told["claims"][0].keys()


def test_no_gain_on_many_questions_closes_and_on_few_decides_nothing() -> None:
    closed = judge(evidence(*gains(600, 0.0, spread=1.0)))
    assert verdicts(closed) == {"concepts": "CLOSED"} and "is excluded" in closed.main.reason
    assert closed.recommended == "base" and "do without" in todo(closed)
    open_ended = judge(evidence(*gains(40, 0.0)))
    assert verdicts(open_ended) == {"concepts": "INCONCLUSIVE"}
    assert "go on with base" in todo(open_ended) and "new questions in" in todo(open_ended)


@pytest.mark.parametrize(
    ("count", "groups", "about", "verdict"),
    [
        (6, 6, "new", "INCONCLUSIVE"),
        (300, 5, "new", "INCONCLUSIVE"),
        (300, 6, "new", "OPEN"),
        (300, 5, "these", "OPEN"),
    ],
)
def test_few_questions_or_few_conversations_open_nothing_in_general(
    count: int, groups: int, about: Any, verdict: str
) -> None:
    """Attack 13 (six questions, all won) and 4 (five conversations)."""
    base = [3] * count
    better = [3 + 3 + at % 3 for at in range(count)]
    judgement = judge(evidence(base, better, groups=[at % groups for at in range(count)], plan=Plan(about=about)))
    assert verdicts(judgement) == {"concepts": verdict}
    if about == "these":
        assert "further questions on these conversations" in headline(judgement)


def test_conversations_that_agree_do_not_open_by_chance() -> None:
    """Attack 4: no effect, questions of one conversation alike; by questions alone a quarter of such gates opened."""
    opened = 0
    for seed in range(20):
        groups = [at % 10 for at in range(200)]
        made = evidence(*gains(200, 0.0, seed=seed, groups=10, icc=0.14), groups=groups)
        opened += judge(made).verdict == "OPEN"
    assert opened <= 2


def test_every_base_must_be_beaten_in_whatever_order_they_are_named() -> None:
    """Attack 5: `b1 b2 c` opened and `b2 b1 c` closed."""
    base, better = gains(120, 1.5)
    strong = Arm(run_of(better, "s"), "RRF", FREE)
    made = evidence(base, better)
    arms = {**made.arms, "strong": strong}
    told = set()
    for over in (("base", "strong"), ("strong", "base")):
        each = replace(made, arms=arms, bases=over, rungs=(replace(made.rungs[0], over=over),))
        judgement = judge(each)
        told.add((judgement.verdict.value, judgement.main.over, judgement.main.difference))
    assert told == {("INCONCLUSIVE", "strong", 0.0)} or told == {("CLOSED", "strong", 0.0)}


def test_a_graph_that_is_no_better_than_its_shuffles_is_closed() -> None:
    """Attack 1: one made-up name in one turn as the whole graph; its order of turns helped, and any graph would."""
    base, better = gains(120, 1.5)
    made = evidence(base, better)
    alike = {name: Arm(run_of(better)) for name in made.rungs[0].shuffled}
    judgement = judge(replace(made, arms={**made.arms, **alike}))
    assert verdicts(judgement) == {"concepts": "CLOSED"} and "39 of 39 shuffled graphs" in judgement.main.reason
    strict = judge(replace(made, plan=Plan(alpha=0.01)))
    assert strict.verdict == "OPEN" and "none of 39 shuffled graphs do as well" in strict.main.reason
    unshuffled = judge(replace(made, rungs=(replace(made.rungs[0], shuffled=()),)))
    assert verdicts(unshuffled) == {"concepts": "INCONCLUSIVE"}


def test_parts_are_judged_one_over_the_other_and_the_headline_is_about_concepts() -> None:
    base, threads = gains(200, 1.5)
    made = evidence(base, threads)
    rungs = (
        replace(made.rungs[0], part="threads"),
        Rung("names", "named", ("base", "graph"), made.rungs[0].shuffled),
        Rung("concepts", "named", ("base", "graph"), made.rungs[0].shuffled),
    )
    arms = {**made.arms, "named": Arm(run_of(threads, "n"), "RRF", FREE)}
    judgement = judge(replace(made, arms=arms, rungs=rungs))
    assert judgement.opened == ("threads",) and judgement.verdict == "CLOSED"
    assert judgement.recommended == "graph"
    assert "CLOSED: the concept graph does not earn its place" in headline(judgement)
    assert "What opened: the order of turns" in headline(judgement)


def test_the_concept_graph_that_opened_is_recommended_where_none_of_its_parts_did() -> None:
    base, threads = gains(200, 1.0, seed=1)
    made = evidence(base, threads)
    more = [min(10, count + 1) if at % 2 else count for at, count in enumerate(threads)]
    arms = {**made.arms, "all": Arm(run_of(more, "a"), "RRF", FREE)}
    shuffled = made.rungs[0].shuffled
    rungs = (
        replace(made.rungs[0], part="threads"),
        Rung("facts", "all", ("base", "graph"), ()),
        Rung("concepts", "all", ("base", "graph"), shuffled),
    )
    judgement = judge(replace(made, arms=arms, rungs=rungs))
    assert judgement.opened == ("threads", "concepts") and judgement.recommended == "all"
    priced = tuple(replace(rung, cost=Cost(41, query_ms=3.2, megabytes=12.5)) for rung in rungs)
    said = headline(judge(replace(made, arms=arms, rungs=priced)))
    assert "What opened, too: the order of turns." in said and len(re.findall(r"\d+(?:\.\d+)?", said)) <= 10


@pytest.mark.parametrize(("share", "status"), [(10, "pass"), (9, "unknown"), (7, "fail")])
def test_a_base_that_finds_everything_is_no_fault_where_the_others_find_nearly_all(share: int, status: str) -> None:
    assert found(judge(evidence([10] * 60, [share] * 60)), "judged")[0] == status


def test_what_cannot_be_judged_is_said_in_a_sentence() -> None:
    made = evidence([3] * 30, [4] * 30)
    for other, said in (
        (replace(made, qrels={name: {"x": 0} for name in made.qrels}), "no judged question has an answer"),
        (replace(made, rungs=()), "there is no graph"),
    ):
        with pytest.raises(HopgateError, match=said):
            judge(other)
    with pytest.raises(HopgateError, match="declare k = 50, too"):
        Plan(measure="recall@50")
    assert str(Plan(k=5, measure="mrr").primary) == "mrr@5"


def test_a_question_made_from_a_graph_never_opens() -> None:
    """Attack 2: `slices build`, then `gate --store`, opened with +.412."""
    judgement = judge(evidence(*gains(120, 3.0), metadata={"made": True}))
    assert judgement.verdict == "INVALID" and "made from a graph" in found(judgement, "provenance")[1]


def test_facts_that_are_the_test_questions_are_found() -> None:
    """Attack 3: 126 triples that are test questions on their gold memory."""
    memories = [Memory(f"m{at}", "It stands in the cellar.") for at in range(40)]
    questions = {f"q{at}": f"Which appliance does Ada{at} lend neighbours?" for at in range(40)}
    asked = Evidence(
        "a set",
        Plan(),
        {name: Query(name, text) for name, text in questions.items()},
        {f"q{at}": {f"m{at}": 1} for at in range(40)},
    )
    triples = [Triple(f"m{at}", questions[f"q{at}"], "answers", "cellar") for at in range(40)]
    status, finding = compared_facts(asked, memories, triples)
    assert status == "fail" and [problem[:5] for problem in finding.split("; ")] == ["40 of", "40 re"]
    base, better = gains(40, 3.0)
    judgement = judge(evidence(base, better, provenance=(status, finding)))
    assert judgement.verdict == "INVALID" and found(judgement, "provenance")[0] == "fail"
    assert compared_facts(asked, memories, [Triple("m1", "It", "stands in", "cellar")])[0] == "pass"
    assert found(judge(evidence(base, better, provenance=UNKNOWN)), "provenance")[0] == "unknown"


def test_questions_that_were_tuned_on_are_found_and_left_out() -> None:
    """Attack 8: dev = test with "Tell me: " in front, gold and scopes shared."""
    made = evidence(*gains(30, 3.0))
    copies = {f"d{at}": Query(f"d{at}", f"Tell me: Where is the key of the {at}th red door?") for at in range(30)}
    tuned = {name: {f"other-{name}": 1} for name in copies}
    attacked = replace(made, queries={**made.queries, **copies}, tuned=tuned)
    assert found(judge(attacked), "copies")[0] == "fail" and judge(attacked).verdict == "INVALID"
    assert related({**made.queries, **copies}, tuned, made.qrels) == copies.keys()
    sharing = {"d0": {"q1-0": 1}, "d1": {"q2-0": 1}, "d2": {"q3-0": 1}, "d3": {"free": 1}}
    fresh = {name: Query(name, f"Something about {name} alone?") for name in sharing}
    attacked = replace(made, queries={**made.queries, **fresh}, tuned=sharing)
    assert found(judge(attacked), "copies")[1].startswith("3 of 4 questions that were tuned on share words, an answer")
    apart = replace(attacked, tuned={"d3": sharing["d3"]}, left_out=3)
    assert found(judge(apart), "copies")[1].startswith(
        "30 reported questions, apart from 1 tuned ones; 3 were left out"
    )


def test_copies_of_a_question_are_one_group() -> None:
    """Attack 5: each query copied eight times turned INCONCLUSIVE to OPEN."""
    base, better = gains(24, 1.0, seed=3)
    made = evidence(base * 8, better * 8, groups=range(192))
    queries = {name: Query(name, f"Where is the key of the {int(name[1:]) % 24}th red door?") for name in made.queries}
    judgement = judge(replace(made, queries=queries))
    assert judgement.main.clusters == 24 and judgement.main.design_effect == pytest.approx(8)


def test_a_barred_leg_is_no_test() -> None:
    made = evidence(*gains(60, 0.0))
    barred = replace(made.arms["graph"], entering={"lexical": (40, 60), "graph": (0, 60)})
    judgement = judge(replace(made, arms={**made.arms, "graph": barred}))
    assert judgement.verdict == "INVALID" and "graph leg alone" in found(judgement, "reachable")[1]
    assert "mend what the check of reachable found" in todo(judgement)


def test_harm_to_a_guarded_slice_is_seen_and_slices_are_not_taken_away() -> None:
    """Attack 11: a harmed type was hidden by leaving it out."""
    base, better = gains(120, 2.0)
    better = [0 if at < 20 else max(count, base[at]) for at, count in enumerate(better)]
    slices = {"type=A": frozenset(f"q{at}" for at in range(20))}
    judgement = judge(evidence(base, better, slices=slices))
    assert judgement.verdict == "CLOSED" and judgement.main.harmed == ("type=A",)
    seven = {"type=B": frozenset(f"q{at}" for at in range(7))}
    assert judge(evidence(base, better, slices=seven)).main.harmed == ("type=B",)


def test_looks_spend_the_level() -> None:
    """Attack 9: look 402 was as good as the first."""
    base, better = gains(60, 0.75, seed=5)
    first = judge(evidence(base, better, look=1))
    later = judge(evidence(base, better, look=40))
    assert first.level == pytest.approx(0.04) and later.level < 1e-6
    assert later.verdict != "OPEN"
    with pytest.raises(HopgateError, match="alpha"):
        Plan(alpha=0.9)
    assert "Declared: alpha = 0.2." in headline(judge(evidence(base, better, plan=Plan(alpha=0.2))))


def test_only_what_one_arm_found_is_judged_is_said() -> None:
    """Attack 7: +.162 became +.020 once the other arm's finds were judged."""
    # Who finds more answers has more judged: a single 0 is no pool.
    made = evidence([3] * 60, [6 + at % 2 for at in range(60)])
    assert judge(replace(made, qrels={**made.qrels, "q0": {**made.qrels["q0"], "no": 0}})).verdict == "OPEN"
    made = evidence(*gains(60, 0.0))
    pooled = {
        name: {memory: int(memory in gold) for memory in made.arms["base"].run[name]}
        for name, gold in made.qrels.items()
    }
    assert found(judge(replace(made, qrels=pooled)), "judged")[0] == "fail"
    listed = {name: dict.fromkeys(ids[: 1 + len(ids) // 2], 1) for name, ids in made.arms["base"].run.items()}
    attacked = judge(replace(made, qrels=listed))
    assert found(attacked, "judged") == (
        "fail", "every answer is among the first 10 of base, as if only what it found had been judged: judge what the "
        "others found, with 0 where it is no answer",
    )  # fmt: skip


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
def test_runs_that_cannot_be_compared_are_named(folder: Path, change: dict[str, Any], finding: str) -> None:
    """Attack 5: each of these opened."""
    base, better = gains(60, 2.0)
    with (folder / "judged.qrels").open("a") as file:
        file.writelines(f"empty{at} 0 nothing 0\n" for at in range(change.pop("empty", 0)))
    paths = [written(folder, "base", base, **change), written(folder, "other", better)]
    judgement = gate_runs(paths, folder / "judged.qrels", plan=Plan(k=5 if "tied" in change else 10), ledger=NOBODY)
    assert judgement.verdict == "INVALID" and finding in found(judgement, "coverage")[1], judgement.checks


def test_one_run_twice_is_no_comparison_and_questions_without_an_answer_count_nowhere(folder: Path) -> None:
    base, better = gains(60, 2.0)
    one = written(folder, "base", base)
    twin = folder / "twin.run"
    twin.write_text(one.read_text() + "q0 Q0 further 11 0 twin\n")
    assert "are one run" in found(gate_runs([one, twin], folder / "judged.qrels", ledger=NOBODY), "coverage")[1]
    other = written(folder, "other", better)
    before = gate_runs([one, other], folder / "judged.qrels", ledger=NOBODY)
    with (folder / "judged.qrels").open("a") as file:
        file.writelines(f"empty{at} 0 nothing 0\n" for at in range(600))
    after = gate_runs([one, other], folder / "judged.qrels", ledger=NOBODY)
    assert before.verdict == after.verdict == "OPEN" and after.main.difference == before.main.difference
    assert "600 queries without an answer are left out" in found(after, "coverage")[1]
    assert "the last run, other, earns its place" in headline(after) and "graph" not in headline(after)
    assert todo(after) == "use other" and found(after, "copies")[0] == "unknown"


def test_looks_at_ids_alone_are_told_apart_by_their_answers(folder: Path) -> None:
    """Questions 1 to 50 of another set are not these; the same with more judged are."""
    ledger = Ledger(folder / "looks.jsonl")
    paths = [written(folder, "base", [3] * 60), written(folder, "other", [4] * 60)]
    assert gate_runs(paths, folder / "judged.qrels", ledger=ledger).evidence.look == 1
    more = (folder / "judged.qrels").read_text() + "q0 0 further 1\n"
    (folder / "more.qrels").write_text(more)
    assert gate_runs(paths, folder / "more.qrels", ledger=ledger).evidence.look == 2
    (folder / "others.qrels").write_text(more.replace(" 0 ", " 0 z"))
    assert gate_runs(paths, folder / "others.qrels", ledger=ledger).evidence.look == 1


@pytest.mark.parametrize("change", ["a base that is none", "a list", "another shape"])
def test_a_record_that_was_edited_is_a_sentence_and_no_traceback(tmp_path: Path, change: str) -> None:
    save(tmp_path, evidence([3] * 30, [4] * 30))
    told = json.loads((tmp_path / "evidence.json").read_text())
    if change == "a base that is none":
        told["bases"].append("nobody")
    else:
        told["arms"]["base"]["entering"] = []
    (tmp_path / "evidence.json").write_text(json.dumps([] if change == "a list" else told))
    assert "were changed" in verify(tmp_path)[0]
    with pytest.raises(HopgateError, match="is not what a gate saved"):
        load(tmp_path)


def test_a_gate_that_is_run_again_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    made = evidence([3] * 30, [4] * 30)
    short = replace(made, rungs=(replace(made.rungs[0], shuffled=()),))
    clean = save(tmp_path / "clean", short).fingerprint
    save(tmp_path / "out", made)
    assert save(tmp_path / "out", short).fingerprint == clean and verify(tmp_path / "out", clean) == []


def test_grades_below_the_one_that_is_declared_are_no_answers(folder: Path) -> None:
    """Attack 6: losing every answer and finding four on-topic memories opened with +.600."""
    rows = [f"q{at} 0 q{at}-0 2" for at in range(60)] + [
        f"q{at} 0 topic{at}-{n} 1" for at in range(60) for n in range(4)
    ]
    (folder / "graded.qrels").write_text("\n".join(rows) + "\n")
    base = written(folder, "base", [5] * 60)
    other = folder / "other.run"
    other.write_text("".join(f"q{at} Q0 topic{at}-{n} {n + 1} {9 - n} o\n" for at in range(60) for n in range(4)))
    plan = Plan(relevant_from=2, k=4)
    judgement = gate_runs([base, other], folder / "graded.qrels", plan=plan, ledger=NOBODY)
    assert judgement.main.difference == -1.0 and judgement.verdict != "OPEN"


def test_several_sets_give_a_mean_one_where_nothing_changed_counts_and_one_that_is_invalid_does_not() -> None:
    """A set without a difference had no error and was left out: the mean of the others was told."""
    gained = [judge(evidence(*gains(80, 1.0, seed=seed))) for seed in range(2)]
    still = judge(evidence([5] * 80, [5] * 80))
    made = judge(evidence([1] * 80, [9] * 80, metadata={"made": True}))
    two, three = (over_sets([*gained, other])["concepts"] for other in (made, still))
    assert (two.sets, three.sets) == (2, 3) and three.difference < two.difference < 0.2
    assert three.interval[0] < three.difference < three.interval[1] and two.next_set is None
    assert three.next_set is not None and three.next_set[0] < three.interval[0]
