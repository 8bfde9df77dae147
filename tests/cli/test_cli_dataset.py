"""`hopgate dataset`: import, check and score from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_run import Runner

from hopgate.eval.data.dataset import read_dataset

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
    assert counts.pop("fingerprint") == read_dataset(folder).fingerprint and counts.pop("folder") == str(folder)
    assert counts == {
        "memories": 3,
        "sensitive": 1,
        "scopes": 0,
        "queries": 4,
        "splits": {"dev": 2, "test": 2},
        "types": {},
        "hops": {"1": 2, "2": 2},
        "facts": 1,
        "mentions": 1,
        "statements": 0,
        "problems": [],
    }
    printed = " ".join(bare("dataset", "check", str(folder)).out.split())
    assert "memories 3 sensitive 1" in printed and "splits dev 2, test 2" in printed


def test_check_lists_everything_that_a_gate_would_refuse(bare: Runner, folder: Path) -> None:
    (folder / "qrels/test.tsv").write_text(HEADER + "q2\tm9\t1\nq9\tm1\t1\nq0\tm1\t1\n")
    with (folder / "triples.jsonl").open("a") as file:
        file.write('{"doc_id": "other", "entity": "x"}\n')
    ran = bare("dataset", "check", str(folder), status=2)
    wanted = [
        "test.tsv, line 2: the memory 'm9' is not in corpus.jsonl",
        "test.tsv, line 3: the query 'q9' is not in queries.jsonl",
        "test.tsv, line 4: the query 'q0' is in the split 'dev' too",
        "queries.jsonl, line 4: the query 'q3' has no gold in any split",
        "triples.jsonl, line 3: doc_id 'other' is not in the corpus",
    ]
    lines = ran.out.splitlines()
    assert len(lines) == len(wanted)
    assert all(expected in line for expected, line in zip(wanted, lines, strict=True))
    assert ran.err == f"hopgate: {folder} has 5 problems: a gate would refuse it\n"
    as_json = bare("dataset", "check", str(folder), "--json", status=2)
    assert as_json.json == {"problems": lines}


def test_check_knows_the_splits_that_a_gate_needs(bare: Runner, folder: Path) -> None:
    assert "has one problem" in bare("dataset", "check", str(folder), "--split", "train", status=2).err
    same = bare("dataset", "check", str(folder), "--tune", "test", status=2)
    assert same.out == "'test' cannot be both tuned on and reported: name two splits\n"
    assert bare("dataset", "check", str(folder), "--tune", "none").out
    assert "train.tsv is missing" in bare("gate", str(folder), "--split", "train", status=2).refused()


def test_check_of_what_is_no_data_set(bare: Runner, tmp_path: Path) -> None:
    ran = bare("dataset", "check", str(tmp_path / "none"), status=2)
    assert "corpus.jsonl is missing" in ran.out
    assert ran.err.count("\n") == 1


def test_import_of_a_public_layout(bare: Runner, tmp_path: Path) -> None:
    def paragraphs(i: int) -> list[dict[str, object]]:
        texts = [f"Text {i}.", f"Text {i + 8}.", "Noise."]
        return [{"title": "T", "paragraph_text": text, "is_supporting": text != "Noise."} for text in texts]

    rows = [{"id": f"2hop__{i}_1", "question": f"What of {i}?", "paragraphs": paragraphs(i)} for i in range(8)]
    (tmp_path / "m.json").write_text(json.dumps(rows))
    out = tmp_path / "out"
    counts = bare("dataset", "import", "musique", str(tmp_path / "m.json"), str(out), "--json").json
    assert counts["folder"] == str(out)
    assert (counts["memories"], counts["queries"], counts["hops"]) == (17, 8, {"2": 8})
    assert " memories 17 " in " ".join(bare("dataset", "check", str(out)).out.split())
    again = bare("dataset", "import", "musique", str(tmp_path / "m.json"), str(out), status=2).refused()
    assert "is not empty" in again
    for arguments, reason in (
        (["squad", str(tmp_path / "m.json"), str(tmp_path / "x")], "no importer for 'squad'"),
        (["locomo", str(tmp_path / "m.json"), str(tmp_path / "x")], "not in the layout of locomo"),
        (["musique", str(tmp_path / "none.json"), str(tmp_path / "x")], "cannot be read"),
        (["musique", str(tmp_path / "m.json"), str(tmp_path / "x"), "--dev", "2"], "between 0 and 1"),
        (["trec", str(tmp_path / "m.json"), str(tmp_path / "x")], "give the corpus and the queries"),
    ):
        assert reason in bare("dataset", "import", *arguments, status=2).refused()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("topics", ["queries.jsonl", "topics.tsv"])
def test_import_of_trec_judgements(bare: Runner, tmp_path: Path, folder: Path, topics: str) -> None:
    (folder / "topics.tsv").write_text("".join(f"q{i}\tWhat of {i}?\n" for i in range(4)))
    (tmp_path / "qrels.txt").write_text("q0 0 m1 2\nq0 0 m2 0\nq1 0 m3 1\nq2 0 m1 0\n")
    given = ["trec", str(tmp_path / "qrels.txt"), str(tmp_path / "out"), "--corpus", str(folder / "corpus.jsonl")]
    bare("dataset", "import", *given, "--queries", str(folder / topics))
    made = read_dataset(tmp_path / "out")
    gold = {query: dict(judged) for split in made.splits.values() for query, judged in split.items()}
    assert gold == {"q0": {"m1": 2, "m2": 0}, "q1": {"m3": 1}}  # q2 has nothing relevant, q3 no judgement
    assert [memory.is_sensitive for memory in made.memories] == [False, False, True]
    assert made.queries["q1"].text == "What of 1?"
    shutil.rmtree(tmp_path / "out")
    for line, reason in (("q9 0 m1 1", "the query 'q9', which"), ("q0 0 m9 1", "the document 'm9', which")):
        (tmp_path / "qrels.txt").write_text(line + "\n")
        assert reason in bare("dataset", "import", *given, "--queries", str(folder / topics), status=2).refused()
    (folder / "topics.tsv").write_text("q0\n")
    ran = bare("dataset", "import", *given, "--queries", str(folder / "topics.tsv"), status=2).refused()
    assert "topics.tsv, line 1: a topic is an id, a tab and a text" in ran


def test_score_of_another_systems_run(bare: Runner, tmp_path: Path, folder: Path) -> None:
    run = tmp_path / "bm25.run"
    run.write_text("q2 Q0 m1 1 3.0 bm25\nq2 Q0 m3 2 2.0 bm25\nq0 Q0 m1 1 1.0 bm25\n")
    (row,) = bare(
        "dataset", "score", str(folder), str(run), "--measure", "recall@10", "--measure", "mrr", "--json"
    ).json
    assert row == {"run": str(run), "queries": 2, "missing": 1, "measures": {"recall@10": 0.25, "mrr": 0.5}}
    printed = bare("dataset", "score", str(folder), str(run), "--split", "dev").out
    assert "recall@10 0.500" in printed and "(2 queries, 1 not in the run)" in printed
    assert (
        "'recall@0' is not a measure"
        in bare("dataset", "score", str(folder), str(run), "--measure", "recall@0", status=2).refused()
    )
    run.write_text("q2 Q0 m9 1 3.0 bm25\n")
    assert "ranks 'm9', which is not in" in bare("dataset", "score", str(folder), str(run), status=2).refused()
    assert (
        "train.tsv is missing"
        in bare("dataset", "score", str(folder), str(run), "--split", "train", status=2).refused()
    )
