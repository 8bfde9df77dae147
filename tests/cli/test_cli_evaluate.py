"""`hopgate dataset`, `questions` and `slices build`; what they compute is tested in tests/eval."""

import json
from pathlib import Path

import pytest
from cli_run import Runner

import hopgate
from hopgate.eval.data.dataset import read_dataset
from hopgate.extract.files import Replay
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three memories, four queries, two splits, two facts and a mention."""
    made = tmp_path / "set"
    (made / "qrels").mkdir(parents=True)
    rows = [{"_id": f"m{i}", "text": f"Text {i}.", "metadata": {"is_sensitive": i == 3}} for i in range(1, 4)]
    queries = [{"_id": f"q{i}", "text": f"What of {i}?", "metadata": {"hops": 1 + i % 2}} for i in range(4)]
    triples = [{"doc_id": "m1", "subject": "a", "relation": "owns", "object": "b"}, {"doc_id": "m2", "entity": "b"}]
    for name, lines in (("corpus", rows), ("queries", queries), ("triples", triples)):
        (made / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (made / "qrels/dev.tsv").write_text(HEADER + "q0\tm1\t1\nq1\tm2\t1\n")
    (made / "qrels/test.tsv").write_text(HEADER + "q2\tm1\t1\nq2\tm2\t2\nq3\tm3\t1\n")
    return made


def test_check_counts_what_is_there(bare: Runner, folder: Path) -> None:
    counts = bare("dataset", "check", str(folder), "--json").json
    assert (counts["memories"], counts["sensitive"], counts["queries"], counts["facts"]) == (3, 1, 4, 1)
    assert counts["problems"] == []
    printed = " ".join(bare("dataset", "check", str(folder)).out.split())
    assert "memories 3 sensitive 1" in printed and "splits dev 2, test 2" in printed
    assert "train.tsv is missing" in bare("gate", str(folder), "--split", "train", status=2).refused()


def test_import_of_public_files(bare: Runner, tmp_path: Path, folder: Path) -> None:
    (folder / "topics.tsv").write_text("".join(f"q{i}\tWhat of {i}?\n" for i in range(4)))
    judged, out = tmp_path / "qrels.txt", tmp_path / "out"
    judged.write_text("q0 0 m1 2\nq0 0 m2 0\nq1 0 m3 1\nq2 0 m1 0\n")
    given = ["trec", str(judged), str(out), "--corpus", str(folder / "corpus.jsonl")]
    counts = bare("dataset", "import", *given, "--queries", str(folder / "topics.tsv"), "--json").json
    assert (counts["folder"], counts["memories"], counts["sensitive"]) == (str(out), 3, 1)
    splits = read_dataset(out).splits.values()
    gold = {query: dict(graded) for split in splits for query, graded in split.items()}
    assert gold == {"q0": {"m1": 2, "m2": 0}, "q1": {"m3": 1}}  # q2 has nothing relevant, q3 no judgement
    new = str(tmp_path / "x")
    for arguments, reason in (
        ([*given, "--queries", str(folder / "queries.jsonl")], "is not empty"),
        (["squad", str(judged), new], "no importer for 'squad'"),
        (["locomo", str(judged), new], "is not JSON"),
        (["musique", str(tmp_path / "none.json"), new], "cannot be read"),
        (["trec", str(judged), new], "give the corpus and the queries"),
    ):
        assert reason in bare("dataset", "import", *arguments, status=2).refused()
    assert not (tmp_path / "x").exists()


def test_what_questions_tells_to_run_next_can_be_run(run: Runner, kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(Memory("m1", "Gitea runs on birch."), Memory("Haus/Keller neu.md", "birch steht im Keller."))
    asked = tmp_path / "questions.md"
    asked.write_text("## Where?\n- [x] m1 · Gitea\n## What?\n- [x] Haus/Keller neu.md · birch\n")
    told = run("questions", str(asked), "--out", str(tmp_path / "all"), "--dev", "0").out
    assert told.endswith("--store --tune none\n")
    told = run("questions", str(asked), "--out", str(tmp_path / "halves"), "--dev", "0.5").out
    assert told.endswith("--store\n")


# Each pair of memories that share a thing has no word in common besides its name, and each memory has a near twin.
PAIRS = {
    "amber": ("Ada polishes amber lamps daily", "Gitea hums behind amber doors"),
    "birch": ("Bea waters birch saplings weekly", "Immich photographs live under birch roofs"),
    "cobalt": ("Cy paints cobalt vases monthly", "Vault keys rest inside cobalt boxes"),
}


def test_slices_are_made_of_a_stores_own_facts(run: Runner, bare: Runner, dsn: str, tmp_path: Path) -> None:
    memories = [Memory("secret", "A canary in a cage.", is_sensitive=True)]
    rows = [{"doc_id": "secret", "subject": "x", "relation": "hides", "object": "owner 0"}]
    for number, (thing, texts) in enumerate(PAIRS.items()):
        for key, text in zip("ab", texts, strict=True):
            memories += [Memory(f"{key}{number}", text), Memory(f"{key}{number}-twin", text.replace(f" {thing}", ""))]
        rows.append({"doc_id": f"a{number}", "subject": f"owner {number}", "relation": "tends", "object": thing})
        rows.append({"doc_id": f"b{number}", "subject": thing, "relation": "houses", "object": f"service {number}"})
    triples, out = tmp_path / "triples.jsonl", tmp_path / "hops"
    triples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with hopgate.open(dsn) as kb:
        kb.add(*memories)
        kb.build(Replay(str(triples)))
    printed = " ".join(run("slices", "build", "--out", str(out), "--neighbours", "1").out.split())
    made = read_dataset(out)
    assert printed.startswith(f"{out} memories {4 * len(PAIRS)} ") and "left out" not in printed
    assert len(made.queries) == len(PAIRS)
    for query in made.queries.values():
        assert query.hops == 2 and query.metadata["made"] is True
    assert "canary" not in "".join(path.read_text() for path in out.rglob("*.*"))
    assert sum(triple.is_fact for triple in made.triples) == 2 * len(PAIRS)
    again = bare("slices", "build", "--dataset", str(out), "--out", str(tmp_path / "more"), "--json").json
    assert (again["queries"], again["hops"]) == (len(PAIRS), {"2": len(PAIRS)})
