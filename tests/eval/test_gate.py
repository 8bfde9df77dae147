"""The gate over real stores: what opens, what is kept and cannot be forged, what is hidden, what is applied."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hopgate
from hopgate.eval import Dataset, Judgement, Plan, gate_store, judge, load, read_dataset, run_gate, save, verify
from hopgate.eval.evidence import Rung
from hopgate.eval.gate import apply_settings, replay
from hopgate.eval.ledger import Ledger
from hopgate.extract.files import Replay
from hopgate.kb import KnowledgeBase

NOBODY = Ledger(None)
PLAN = Plan(shuffles=19, without_late=True)


def written(folder: Path, count: int, others: int) -> Dataset:
    """Questions of two hops: which machine a project is on says one memory, and where that machine is another."""
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"a{n}", "text": f"Project Aster{n} is kept on Machine{n}."} for n in range(count)]
    rows += [{"_id": f"b{n}", "text": f"Machine{n} hums in the cellar of guest {n}."} for n in range(count + others)]
    asked = [{"_id": f"q{n}", "text": f"Who would see where Project Aster{n} lives?"} for n in range(count)]
    for name, lines in (("corpus", rows), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for split, numbers in (("dev", range(0, count, 3)), ("test", [n for n in range(count) if n % 3])):
        gold = "".join(f"q{n}\ta{n}\t1\nq{n}\tb{n}\t1\n" for n in numbers)
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + gold)
    facts = [
        {"doc_id": f"a{n}", "subject": f"Project Aster{n}", "relation": "is kept on", "object": f"Machine{n}"}
        for n in range(count)
    ]
    facts += [{"doc_id": f"b{n}", "entity": f"Machine{n}"} for n in range(count + others)]
    (folder / "triples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in facts))
    return read_dataset(folder)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Enough questions for a verdict."""
    return written(tmp_path_factory.mktemp("gate") / "machines", 60, 60)


@pytest.fixture(scope="module")
def store(module_dsn: str, demo: Dataset) -> Iterator[KnowledgeBase]:
    """The memories with their graph."""
    with hopgate.open(module_dsn) as kb:
        kb.add(*demo.memories)
        kb.embed()
        kb.build(Replay(demo.folder / "triples.jsonl"))
        yield kb


@pytest.fixture(scope="module")
def judged(store: KnowledgeBase, demo: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[Judgement, Path]:
    """The store's gate and its folder; a minute, with every leg, walk and shuffle of the real thing."""
    out = tmp_path_factory.mktemp("judged") / "out"
    return gate_store(store, demo, PLAN, out=out, ledger=NOBODY), out


def test_a_graph_that_answers_what_the_base_cannot_opens(judged):
    judgement, out = judged
    assert judgement.verdict == "OPEN", judgement.to_dict()
    assert judgement.main.part == "concepts" and judgement.main.control is not None
    assert set(judgement.evidence.bases) == {"lexical", "dense", "rrf", "tm2c2", "minmax"}
    arms = judgement.evidence.arms.values()
    assert all(arm.configuration and arm.run.keys() == judgement.evidence.qrels.keys() for arm in arms)
    statuses = {check.name: check.status.value for check in judgement.checks}
    # Who made a store's graph cannot be known: that is said, and never passes.
    assert statuses.pop("provenance") == "unknown" and set(statuses.values()) <= {"pass", "unknown"}
    page = (out / "page.html").read_text()
    assert "OPEN" in page and "What to do now" in page
    assert "hums in the cellar" not in page


def test_the_first_tests_configuration_is_invalid_because_its_graph_is_barred(judged):
    first_test = replace(judged[0].evidence, rungs=(Rung("prototype", "prototype", ("rrf",)),), bases=("rrf",))
    judgement = judge(first_test)
    assert judgement.verdict == "INVALID"
    assert "in prototype a memory of the graph leg alone can enter the first 10 on 0 of" in judgement.main.reason


@pytest.mark.parametrize(
    "forged", ["a run", "a judgement", "the decision", "the page", "the plan", "saved again", "more"]
)
def test_what_was_kept_and_then_changed_is_found_out(judged, tmp_path, forged):
    fingerprint, out = judged[0].fingerprint, tmp_path / "out"
    shutil.copytree(judged[1], out)
    assert verify(out, fingerprint) == []
    if forged == "saved again":
        evidence = load(out)
        losers = {query: dict.fromkeys(evidence.arms["lexical"].run[query][:1], 1) for query in evidence.qrels}
        save(out, replace(evidence, qrels=losers))
        assert verify(out) == []
    else:
        name, old, new = {
            "a run": ("runs/004.trec", " Q0 ", " Q1 "),
            "a judgement": ("evidence.json", ": 1", ": 2"),
            "the decision": ("gate.json", '"OPEN"', '"CLOSED"'),
            "the page": ("page.html", "OPEN", "CLOSED"),
            "the plan": ("plan.toml", "worthwhile = 0.03", "worthwhile = 0.01"),
            "more": ("note.txt", "", "all is well"),
        }[forged]
        path = out / name
        before = path.read_text() if path.exists() else ""
        path.write_text(before.replace(old, new, 1) if old else new)
    assert verify(out, fingerprint) != []


def test_a_sensitive_memory_is_a_label_and_its_id_stands_nowhere(store, demo, tmp_path):
    few = dict(list(demo.splits["test"].items())[:6])
    secret = next(iter(next(iter(few.values()))))
    store.mark_sensitive([secret])
    try:
        gate_store(store, replace(demo, splits={**demo.splits, "test": few}), PLAN, out=tmp_path / "out", ledger=NOBODY)
    finally:
        store.unmark_sensitive([secret])
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(f'"{secret}"' in text or f" {secret} " in text for text in texts)
    assert any("sensitive-0" in text for text in texts)


def test_the_recommended_rung_is_applied_with_its_parts_and_its_fingerprint(store, judged):
    judgement = judged[0]
    arms = judgement.evidence.arms
    assert arms["base + names"].parts == ["names"] and arms["base + names + facts"].parts == ["names", "facts"]
    # With the fewest parts that opened, with a part that nothing above it improves on, and with none.
    rungs = {rung.part: rung for rung in judgement.evidence.rungs}
    base = replace(rungs["names"], arm="rrf")
    for chosen, parts in ((rungs["names"], ("names",)), (rungs["concepts"], ("names", "facts")), (base, ())):
        claim = replace(judgement.main, part=chosen.part, arm=chosen.arm)
        applied = apply_settings(replace(judgement, claims=(claim,)), store)
        settings = store.settings()
        assert (repr(settings.fuser), settings.parts) == (applied["fuser"], parts)
        assert applied["fuser"] == arms[chosen.arm].configuration and tuple(applied["parts"]) == parts
    assert f"gate {judgement.fingerprint}" in store.store_settings.resolve().sources.values()


def test_a_data_set_is_gated_replayed_and_its_change_is_seen(tmp_path):
    folder, out = tmp_path / "set", tmp_path / "out"
    read = written(folder, 9, 8)
    judgement = run_gate(read, Plan(tune="none", k=3, rerank=True), out=out, ledger=NOBODY)
    assert judgement.verdict == "INCONCLUSIVE" and "25 in 6 are the least" in judgement.main.reason
    assert {"rrf, read again", "late"} <= set(judgement.evidence.bases)
    assert judgement.evidence.arms[judgement.main.arm].reread
    assert judgement.main.cost.build_seconds
    assert replay(out, read) == []
    # A base or a shuffle that was taken away, and the gate saved again, is found out.
    kept = load(out)
    fewer = tuple(replace(rung, over=rung.over[:-1]) for rung in kept.rungs)
    save(tmp_path / "forged", replace(kept, bases=kept.bases[:-1], rungs=fewer))
    forged = replay(tmp_path / "forged", read)
    assert any("other bases" in line for line in forged) and any("other rungs" in line for line in forged)
    judgements = folder / "qrels" / "test.tsv"
    judgements.write_text(judgements.read_text().replace("q1\tb1\t1\n", ""))
    assert any("qrels" in line for line in replay(out, read_dataset(folder)))
