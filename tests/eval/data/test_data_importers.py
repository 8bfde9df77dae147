"""Importers: tiny files in the public layouts become BEIR folders that pass every check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.importers import import_dataset


def put(path, value):
    path.write_text(json.dumps(value))
    return path


def musique_question(name, supporting=(0, 2)):
    paragraphs = [
        {"idx": i, "title": f"T{i}", "paragraph_text": f"Text {i}.", "is_supporting": i in supporting} for i in range(3)
    ]
    return {"id": name, "question": f"What of {name}?", "answer": "x", "paragraphs": paragraphs, "answerable": True}


@pytest.fixture
def musique(tmp_path):
    return put(tmp_path / "musique.json", [musique_question(f"{2 + i % 3}hop__{i}_1") for i in range(8)])


def test_musique(tmp_path, musique):
    data = import_dataset("musique", musique, tmp_path / "out")
    assert len(data.memories) == 3
    assert data.queries["3hop__1_1"].hops == 3
    assert data.queries["3hop__1_1"].type == "3hop"
    gold = {query: set(judged) for split in data.splits.values() for query, judged in split.items()}
    assert gold["3hop__1_1"] == {"d000000", "d000002"}
    assert len(gold) == 8


def test_musique_lines_corpus_and_extraction(tmp_path):
    rows = [musique_question(f"2hop__{i}_1") for i in range(6)] + [
        {**musique_question("2hop__9_9"), "answerable": False}
    ]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = put(tmp_path / "c.json", [{"title": "Other", "text": "Else."}, {"title": "T0", "text": "Text 0."}])
    docs = [
        {"passage": "T0\nText 0.", "extracted_entities": ["T0", "T0"], "extracted_triples": [["T0", "is", "b"]] * 2},
        {"passage": "Unknown\nText.", "extracted_entities": ["x"], "extracted_triples": []},
        {"passage": "T1\nText 1.", "extracted_entities": [], "extracted_triples": [["T1", "is"], ["a", "", "b"]]},
    ]
    triples = put(tmp_path / "openie.json", {"docs": docs})
    data = import_dataset("musique", tmp_path / "m.jsonl", tmp_path / "out", corpus=corpus, triples=triples)
    assert [memory.title for memory in data.memories] == ["Other", "T0", "T1", "T2"]
    assert [(t.doc_id, t.subject, t.relation) for t in data.triples] == [("d000001", "T0", "is"), ("d000001", "T0", "")]
    assert "2hop__9_9" not in data.queries


@pytest.mark.parametrize("parallel", [False, True])
def test_hotpot_and_2wiki(tmp_path, parallel):
    rows = []
    for i in range(6):
        context = [["A", ["One.", " Two."]], [f"B{i}", ["Three."]]]
        facts = [["A", 0], ["A", 1], [f"B{i}", 0]]
        if parallel:
            context = {"title": ["A", f"B{i}"], "sentences": [["One.", " Two."], ["Three."]]}
            facts = {"title": ["A", "A", f"B{i}"], "sent_id": [0, 1, 0]}
        key = "id" if parallel else "_id"
        rows.append({key: f"q{i}", "question": "?", "type": "bridge", "context": context, "supporting_facts": facts})
    data = import_dataset("hotpotqa", put(tmp_path / "h.json", rows), tmp_path / "out")
    assert data.memories[0].text == "One. Two."
    assert len(data.memories) == 7
    assert all(query.hops == 2 and query.type == "bridge" for query in data.queries.values())


def test_hotpot_with_a_corpus_of_sentences(tmp_path):
    corpus = put(tmp_path / "c.json", {"A": ["One.", " Two."], "Z": ["Nine."]})
    row = {"question": "?", "context": [["A", ["One.", " Two."]]], "supporting_facts": [["A", 0]]}
    source = put(tmp_path / "h.json", [{"_id": f"q{i}", **row} for i in range(4)])
    data = import_dataset("2wiki", source, tmp_path / "out", corpus=corpus)
    assert [memory.title for memory in data.memories] == ["A", "Z"]


def test_locomo(tmp_path):
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello."}
    shown = {"speaker": "Bob", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a boat"}
    conversation = {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn, shown],
    }
    qa = [
        {"question": f"What {i}?", "answer": "x", "evidence": evidence, "category": category}
        for i, (evidence, category) in enumerate(
            [(["D1:1; D1:2"], 1), (["D1:02"], 2), (["D9:9"], 4), (["D1:1"], 5), (["D1:1"], 4), (["D:1:1"], 3)]
        )
    ]
    source = put(tmp_path / "l.json", [{"sample_id": "c1", "conversation": conversation, "qa": qa}])
    data = import_dataset("locomo", source, tmp_path / "out")
    assert [memory.text for memory in data.memories] == ["Ann: Hello.", "Bob: Look. [shares a photo: a boat]"]
    assert data.memories[0].created_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert {name: query.type for name, query in data.queries.items()} == {
        "c1/q0": "multi-hop", "c1/q1": "temporal", "c1/q4": "single-hop", "c1/q5": "open-domain",
    }  # fmt: skip
    assert data.queries["c1/q0"].scope == "c1"


def test_what_is_wrong_is_said(tmp_path, musique):
    with pytest.raises(HopgateError, match="no importer for 'squad'"):
        import_dataset("squad", musique, tmp_path / "out")
    with pytest.raises(HopgateError, match="is not in the layout of hotpotqa"):
        import_dataset("hotpotqa", musique, tmp_path / "out")
    with pytest.raises(HopgateError, match="cannot be read"):
        import_dataset("musique", tmp_path / "none.json", tmp_path / "out")
    with pytest.raises(HopgateError, match="holds nothing about the documents"):
        import_dataset("musique", musique, tmp_path / "out", triples=put(tmp_path / "t.json", {"docs": []}))
    (tmp_path / "full").mkdir()
    put(tmp_path / "full" / "x", 1)
    with pytest.raises(HopgateError, match="is not empty"):
        import_dataset("musique", musique, tmp_path / "full")
    with pytest.raises(HopgateError, match="has no supporting document"):
        import_dataset("musique", put(tmp_path / "n.json", [musique_question("2hop__1", ())]), tmp_path / "out")


def test_what_does_not_pass_the_checks_is_not_left_behind(tmp_path):
    broken = musique_question("2hop__1_1")
    broken["paragraphs"][0]["paragraph_text"] = "a NUL \0 character"
    source = put(tmp_path / "b.json", [broken])
    with pytest.raises(HopgateError, match="NUL"):
        import_dataset("musique", source, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(HopgateError, match="NUL"):
        import_dataset("musique", source, tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []
    with pytest.raises(HopgateError, match="is not in the layout of HippoRAG's extraction"):
        good = put(tmp_path / "m.json", [musique_question("2hop__1_1")])
        import_dataset("musique", good, tmp_path / "new", triples=put(tmp_path / "t.json", [{"no": "passage"}]))


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def beir(folder: Path, splits: dict[str, range]) -> Path:
    folder.mkdir()
    lines(
        folder / "corpus.jsonl",
        [{"_id": f"d{i}", "title": "", "text": f"t{i}", "metadata": {"url": "u"}} for i in range(9)],
    )
    lines(folder / "queries.jsonl", [{"_id": f"q{i}", "text": f"what {i}?", "metadata": {}} for i in range(20)])
    (folder / "qrels").mkdir()
    for name, numbers in splits.items():
        rows = [f"q{i}\td{i % 9}\t{i % 3}" for i in numbers]
        (folder / "qrels" / f"{name}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n")
    return folder


def test_a_beir_folder_keeps_its_splits_and_its_own_fields(tmp_path: Path) -> None:
    data = import_dataset("beir", beir(tmp_path / "b", {"train": range(10), "test": range(10, 20)}), tmp_path / "out")
    assert set(data.splits) == {"dev", "test"} and set(data.split("test")) == {f"q{i}" for i in range(10, 20) if i % 3}
    assert data.memories[0].source and data.memories[0].source["metadata"] == {"extra": {"url": "u"}}
    assert "q0" not in data.queries


def test_a_beir_folder_with_one_split_is_divided(tmp_path: Path) -> None:
    data = import_dataset("beir", beir(tmp_path / "b", {"test": range(20)}), tmp_path / "out")
    assert set(data.splits) == {"dev", "test"}
    with pytest.raises(HopgateError, match=r"corpus\.jsonl is missing"):
        import_dataset("beir", tmp_path, tmp_path / "other")


def test_longmemeval(tmp_path: Path) -> None:
    def row(name: str, marked: bool) -> dict[str, Any]:
        turns = [{"role": "user", "content": "I got a cat."}, {"role": "assistant", "content": "Nice."}]
        turns[0] |= {"has_answer": True} if marked else {}
        return {
            "question_id": name,
            "question_type": "single-session-user",
            "question": "Which pet?",
            "answer": "A cat",
            "haystack_session_ids": ["s1", "s2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 12:00"],
            "haystack_sessions": [turns, [{"role": "user", "content": "Hello."}]],
            "answer_session_ids": ["s1"],
        }

    source = tmp_path / "l.json"
    source.write_text(
        json.dumps([row("a", True), row("b", False), row("c_abs", True), *(row(f"x{i}", True) for i in range(9))])
    )
    data = import_dataset("longmemeval", source, tmp_path / "out")
    gold = {query: set(judged) for qrels in data.splits.values() for query, judged in qrels.items()}
    assert gold["a"] == {"a/s1/0"} and gold["b"] == {"b/s1/0", "b/s1/1"} and "c_abs" not in gold
    first = data.memories[0]
    assert (first.scope, first.thread, first.text) == ("a", "a/s1", "user: I got a cat.")
    assert data.queries["a"].scope == "a"
