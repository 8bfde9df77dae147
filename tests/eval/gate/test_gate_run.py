"""The gate end to end, on a real store of the synthetic corpus: what must open, what must not, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hopgate.cli import main
from hopgate.cli.evaluate import show_judgement
from hopgate.demo.generate import write
from hopgate.errors import HopgateError
from hopgate.eval import load_gate
from hopgate.eval.arms.ablation import BASE, ablate
from hopgate.eval.arms.belief_walks import BeliefWalks
from hopgate.eval.arms.collect import Collected, collect
from hopgate.eval.arms.controls import PROTOTYPE, REBUILT
from hopgate.eval.arms.cross_reading import bundled_reading
from hopgate.eval.arms.fused_runs import fused_arm, fused_run, remade_run
from hopgate.eval.arms.graph_controls import Shuffle
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.data.runs import ordered
from hopgate.eval.gate.assemble import assemble
from hopgate.eval.gate.evidence import LEGS, Evidence, Tuning
from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.plan import GateOptions, Policy
from hopgate.eval.gate.run import gate_store, run_gate, throwaway_store
from hopgate.eval.gate.saved import saved_fingerprint
from hopgate.eval.gate.verdict import Verdict
from hopgate.eval.measures import Recall, mean_score
from hopgate.kb import KnowledgeBase
from hopgate.recall.settings import Settings
from hopgate.sensitivity import SensitivityRules

# First of six by chance with 1/6, so the level of the rank is of these tests: what takes longest is shuffled graphs.
SHUFFLES = 5
POLICY = Policy(rank_alpha=0.2)


def _smaller(dataset: Dataset, queries: int) -> Dataset:
    """The multi-hop queries, which a graph is for, and few enough for a test."""
    splits = {
        name: dict([item for item in qrels.items() if dataset.queries[item[0]].hops != 1][:queries])
        for name, qrels in dataset.splits.items()
    }
    return replace(dataset, splits=splits)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return _smaller(read_dataset(write(tmp_path_factory.mktemp("demo"))), 40)


@pytest.fixture(scope="module")
def kb(dataset: Dataset) -> Iterator[KnowledgeBase]:
    with throwaway_store(dataset) as opened:
        yield opened


@pytest.fixture(scope="module")
def collected(kb: KnowledgeBase, dataset: Dataset) -> Collected:
    asked = [dataset.queries[name] for split in ("dev", "test") for name in dataset.split(split)]
    return collect(kb, asked, shuffles=range(SHUFFLES), parts=True)


@pytest.fixture(scope="module")
def evidence(kb: KnowledgeBase, dataset: Dataset, collected: Collected) -> Evidence:
    made, _ = assemble(dataset, collected, GateOptions(arms="quick"), kb, policy=POLICY)
    return replace(made, saved=_values(made))


def _values(evidence: Evidence) -> dict[str, dict[str, float]]:
    from hopgate.eval.gate.compare import per_query

    return {name: dict(values[evidence.primary]) for name, values in per_query(evidence).items()}


def test_a_graph_of_gold_bridges_opens_the_gate(evidence: Evidence) -> None:
    judgement = judge(evidence)
    assert judgement.decision.verdict is Verdict.OPEN, judgement.decision.reason
    told = judgement.to_dict()
    names = {"lexical", "dense", "lexical+dense", "graph", "lexical+dense+graph", "prototype", "shuffled-graph"}
    assert names <= told["arms"].keys()
    measures = {"recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"}
    assert measures <= {measure.lower() for measure in told["arms"]["graph"]}
    assert {"arms", "measure", "slice", "difference", "interval", "p", "p_holm"} <= told["comparisons"][0].keys()
    assert len(told["audit"]) == 12
    assert told["control"]["place"] == 1 and told["control"]["shuffles"] == SHUFFLES


def test_the_default_arm_is_what_recall_ships(kb: KnowledgeBase, dataset: Dataset, collected: Collected) -> None:
    run = fused_run(Settings().fuser, collected.lists, dataset.split("test"))
    for name in dataset.split("test"):
        query = dataset.queries[name]
        hits = kb.recall(query.text, scope=query.scope, k=10)
        assert [hit.external_id for hit in hits] == ordered(run[name])[:10], query.text


@pytest.mark.full
def test_the_re_read_arm_is_what_recall_ships_with_its_walk(
    kb: KnowledgeBase, dataset: Dataset, collected: Collected
) -> None:
    asked = list(dataset.split("test"))[:3]
    reading = bundled_reading(dataset.queries, dataset.texts, BeliefWalks(kb, dataset.queries, Settings().depth, [3]))
    plain = fused_arm("with", Settings().fuser, collected.lists.only(asked, LEGS), asked, {})
    read = reading.arm(plain)
    arm = reading.walked(read)
    assert (read.settings["stages"], arm.settings["stages"]) == ("fuse > rerank(30)", "fuse > rerank(30) > walk")
    for name in asked:
        query = dataset.queries[name]
        hits = kb.recall(query.text, scope=query.scope, k=10, rerank=True, rerank_timeout=600)
        assert [hit.external_id for hit in hits] == ordered(arm.run[name])[:10], query.text
    assert remade_run(arm, asked, collected.lists.importance) == arm.run
    # On a shuffled graph the walk goes elsewhere.
    assert reading.walked(read, 0).walked != arm.walked


def test_a_shuffle_is_the_graph_leg_on_that_graph(kb: KnowledgeBase, dataset: Dataset, collected: Collected) -> None:
    seed, names = 3, kb.id_map()
    leg = kb.graph_leg.variant(over=Shuffle(seed))
    for name in list(dataset.split("test"))[:10]:
        query = dataset.queries[name]
        legs, _ = kb.legs(query.text, scope=query.scope, settings=Settings(), exact=True, graphs={"control": leg})
        asked = {names[key]: score for key, score in legs.scores["control"]}
        walked = dict(collected.shuffled[seed].scores[name])
        assert walked.keys() == asked.keys()
        assert walked == pytest.approx(asked, abs=2e-4)
        # Every leg of the pool was completed, for the shuffles too.
        lists, unseen = collected.lists.with_graph(collected.shuffled[seed]).of(name, ("lexical", "dense", "graph"))
        assert all(
            len(leg) + len(unseen[each]) == len(set().union(*map(dict, lists.values()))) for each, leg in lists.items()
        )


def test_a_store_is_judged_as_it_is_with_the_same_verdict(
    kb: KnowledgeBase, dataset: Dataset, evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A rule that comes while the gate runs: what meets it is in nothing that is kept.
    gold = {name for judged in dataset.split("test").values() for name in judged}
    texts = {memory.external_id: memory.content for memory in kb.export()}
    secret = next(name for name in sorted(gold) if len(texts[name]) > 40)
    rule = SensitivityRules(patterns=(re.escape(texts[secret]),))
    monkeypatch.setattr(kb, "sensitivity", lambda: rule)
    shutil.copytree(dataset.folder, tmp_path / "questions")
    for name in ("corpus.jsonl", "triples.jsonl"):
        (tmp_path / "questions" / name).unlink()
    asked = replace(read_dataset(tmp_path / "questions", kb.export()), splits=dataset.splits)
    judged = gate_store(kb, asked, GateOptions(arms="quick", shuffles=SHUFFLES), policy=POLICY, out=tmp_path / "out")
    assert judged.decision.verdict is judge(evidence).decision.verdict is Verdict.OPEN
    theirs = judge(evidence).arms()
    assert all(means == pytest.approx(theirs[name]) for name, means in judged.arms().items())
    assert "the store's graph" in (tmp_path / "out" / "report.html").read_text().replace("&#39;", "'")
    for path in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        said = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        assert texts[secret][:40] not in said and f'"{secret}"' not in said, path


@pytest.mark.full
def test_the_full_ablation_answers_what_was_left_open(
    kb: KnowledgeBase, dataset: Dataset, collected: Collected
) -> None:
    no_model = collected.lists.with_graph(collected.shuffled[1])
    fewer = replace(collected, shuffled=collected.shuffled[:2], no_model=no_model)
    made, _ = assemble(dataset, fewer, GateOptions(arms="full"), kb)
    assert {f"rrf (k={k})" for k in (10, 20, 40, 60, 80, 100)} <= made.arms.keys()
    wanted = {"exact-match bonus", "graph (no model)", "lexical+dense+graph (no model)", "concept-boost", "tm2c2"}
    assert wanted <= made.arms.keys()
    lacking = {"without names", "without typed edges", "without neighbours", "one step, no walk", "fixed shares"}
    assert lacking <= made.arms.keys()
    # The corpus's bridges are its triples' names: without them the graph is next to nothing.
    found = {
        name: mean_score(Recall(10), made.arms[name].run, made.qrels) for name in (*lacking, made.challenger, made.base)
    }
    assert found["without names"] < found["one step, no walk"] <= found[made.challenger]
    assert found["without names"] - found[made.base] < 0.5 * (found[made.challenger] - found[made.base])
    assert made.arms["rrf (k=60)"].run.keys() == dataset.split("test").keys()
    checks = {check.name: check for check in judge(made).checks}
    assert checks["integrity"].status == "pass", checks["integrity"].detail


def test_the_prototype_is_invalid_for_reachability_and_exclusion(evidence: Evidence) -> None:
    tuning = {**evidence.tuning, PROTOTYPE: Tuning()}
    judgement = judge(replace(evidence, challenger=PROTOTYPE, tuning=tuning))
    assert judgement.decision.verdict is Verdict.INVALID
    assert {"reachability", "exclusion"} <= set(judgement.decision.failed)


@pytest.mark.full
def test_so_is_the_prototype_on_its_own_graph_of_cliques(
    evidence: Evidence, kb: KnowledgeBase, dataset: Dataset, collected: Collected
) -> None:
    made, _ = assemble(dataset, replace(collected, shuffled=collected.shuffled[:2]), GateOptions(arms="default"), kb)
    arm = made.arms[REBUILT]
    assert any(arm.legs["graph"].values()) and "0.35" in arm.fuser
    judgement = judge(replace(made, challenger=REBUILT, tuning={**made.tuning, REBUILT: Tuning()}))
    assert judgement.decision.verdict is Verdict.INVALID
    assert {"reachability", "exclusion"} <= set(judgement.decision.failed)


def test_a_shuffled_graph_never_opens_it(evidence: Evidence, dataset: Dataset, collected: Collected) -> None:
    dev, test = dataset.split("dev"), dataset.split("test")
    verdicts = []
    for number in (0, 3):
        others = tuple(run for at, run in enumerate(collected.shuffled) if at != number)
        lists = collected.lists.with_graph(collected.shuffled[number])
        made = ablate(Collected(lists, others), dev, test, k=10, settings={}, more=False)
        changed = replace(
            evidence, arms=made.arms, tuning=made.tuning, challenger=made.challenger, base=made.base,
            shuffles=made.shuffles,
        )  # fmt: skip
        verdicts.append(judge(replace(changed, saved=_values(changed))).decision.verdict)
    assert Verdict.OPEN not in verdicts, verdicts


def test_three_queries_never_open_it(evidence: Evidence) -> None:
    few = dict(list(evidence.qrels.items())[:3])
    judgement = judge(replace(evidence, qrels=few, slices={}))
    assert judgement.decision.verdict is Verdict.INCONCLUSIVE
    assert judgement.decision.queries_needed and judgement.decision.queries_needed > 3


def test_an_undecided_gate_does_not_recommend_what_it_says_to_leave_alone(
    evidence: Evidence, capsys: pytest.CaptureFixture[str]
) -> None:
    judgement = judge(replace(evidence, qrels=dict(list(evidence.qrels.items())[:3]), slices={}))
    show_judgement(judgement, 10)
    told = " ".join(capsys.readouterr().out.split())
    assert "leave recall as it is until then" in told
    assert "recommended: " not in told and "nothing is recommended yet; the graph was compared with: " in told


def test_the_base_is_tuned_as_hard_as_the_challenger(evidence: Evidence) -> None:
    default = Settings().fuser
    assert all(len(base_grid(default)) >= len(challenger_grid(default, base)) for base in base_grid(default))
    assert len(evidence.tuning[BASE].tried) >= len(evidence.tuning[evidence.challenger].tried)
    assert evidence.tuning[BASE].queries == evidence.tuning[evidence.challenger].queries


def test_the_control_keeps_degrees_and_loses_structure(kb: KnowledgeBase) -> None:
    from hopgate.eval.arms.graph_controls import shuffled
    from hopgate.graph.walk.matrix import load_matrix

    with kb.store.transaction() as connection:
        matrix = load_matrix(connection)
    control = shuffled(matrix, seed=3)
    one, two = matrix.graph.matrix, control.graph.matrix
    assert one.shape == two.shape
    assert matrix.graph.degree.tolist() == control.graph.degree.tolist()
    assert two.diagonal().sum() == one.diagonal().sum()
    assert ((one > 0).multiply(two > 0)).sum() < 0.3 * (one > 0).sum()
    assert shuffled(matrix, seed=3).graph.indices.tolist() == control.graph.indices.tolist()


def test_the_whole_gate_from_the_command_line(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "small"
    shutil.copytree(dataset.folder, folder)
    for name, qrels in dataset.splits.items():
        rows = [f"{query}\t{memory}\t1" for query in list(qrels)[:15] for memory in qrels[query]]
        (folder / "qrels" / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n")
    kept = {query for qrels in dataset.splits.values() for query in list(qrels)[:15]}
    lines = (folder / "queries.jsonl").read_text().splitlines()
    (folder / "queries.jsonl").write_text("\n".join(line for line in lines if json.loads(line)["_id"] in kept) + "\n")
    about = {"doc_id": dataset.memories[0].external_id, "statement": "It is about a host."}
    (folder / "statements.jsonl").write_text(json.dumps(about) + "\n")
    out, store = tmp_path / "report", ("--data", str(tmp_path / "store"))
    words = [
        "gate",
        str(folder),
        "--arms",
        "quick",
        "--statements",
        "--out",
        str(out),
        "--apply",
        "--force",
        "--json",
        "--shuffles",
        "5",
    ]
    _run(*words, *store)
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] in {"OPEN", "CLOSED", "INCONCLUSIVE"}
    assert load_gate(out)[1]["graph"] == "triples.jsonl and statements.jsonl"
    _run("settings", "--json", *store)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert rows["fuser"]["value"] == told["applied"]["fuser"]
    assert rows["fuser"]["source"] == rows["walk"]["source"] == f"gate {saved_fingerprint(out)}"
    assert all((out / name).is_file() for name in ("report.html", "report.md", "report.json", "gate.json"))
    _run("report", str(out), "--json")
    again = json.loads(capsys.readouterr().out)
    assert again["arms"] == told["arms"] and again["verdict"] == told["verdict"]
    evidence, _ = load_gate(out)
    assert len(evidence.shuffles) == 5 and evidence.looks == 1
    assert (folder / "looks.txt").read_text().count("\n") == 1
    assert "alpha = 0.05" in (out / "plan.toml").read_text()
    _run("report", str(out), "--verify")
    assert "as it was saved" in capsys.readouterr().out
    assert (out / "report.html").read_text() != (out / "recomputed.html").read_text()
    page = (out / "report.html").read_text()
    assert not any(word in page for words in _canaries() for word in words)


def _run(*words: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    assert stopped.value.code == 0


def _canaries() -> list[tuple[str, ...]]:
    from hopgate.demo import corpus

    return list(corpus().canaries.values())


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: shutil.rmtree(folder / "qrels"), "no judgements"),
        (lambda folder: (folder / "qrels" / "test.tsv").unlink(), "has no gold in any split"),
        (lambda folder: (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n"), "dev.tsv"),
        (lambda folder: (folder / "triples.jsonl").write_text('{"doc_id": "other", "entity": "x"}\n'), "other doc"),
        (lambda folder: (folder / "corpus.jsonl").unlink(), "corpus.jsonl is missing"),
    ],
)
def test_a_broken_data_set_is_one_sentence_and_status_2(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str], spoil: object, sentence: str
) -> None:
    import re

    folder = tmp_path / "broken"
    shutil.copytree(dataset.folder, folder)
    assert callable(spoil)
    spoil(folder)
    with pytest.raises(SystemExit) as stopped:
        main(["gate", str(folder), "--json"])
    told = capsys.readouterr().err
    assert stopped.value.code == 2 and told.count("\n") == 1 and re.search(sentence, told), told


def test_tuning_on_what_is_reported_is_refused(dataset: Dataset) -> None:
    with pytest.raises(HopgateError, match="cannot be both tuned on and reported"):
        run_gate(dataset, GateOptions(tune="test", split="test"))
