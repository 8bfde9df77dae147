"""Importers: tiny files in the public layouts become BEIR folders that pass every check."""

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.data.importers import import_dataset


def put(path: Path, value: Any) -> Path:
    """Write JSON, or lines of it."""
    path.write_text("".join(json.dumps(row) + "\n" for row in value) if path.suffix == ".jsonl" else json.dumps(value))
    return path


def gold(data: Dataset) -> dict[str, set[str]]:
    return {query: set(judged) for split in data.splits.values() for query, judged in split.items()}


def musique_question(name: str, supporting: tuple[int, ...] = (0, 2)) -> dict[str, Any]:
    paragraphs = [
        {"idx": i, "title": f"T{i}", "paragraph_text": f"Text {i}.", "is_supporting": i in supporting} for i in range(3)
    ]
    return {"id": name, "question": f"What of {name}?", "answer": "x", "paragraphs": paragraphs, "answerable": True}


@pytest.fixture
def musique(tmp_path: Path) -> Path:
    rows = [musique_question(f"{2 + i % 3}hop__{i}_1") for i in range(8)]
    return put(tmp_path / "musique.jsonl", [*rows, {**musique_question("2hop__9_9"), "answerable": False}])


def test_musique(tmp_path, musique):
    data = import_dataset("musique", musique, tmp_path / "out")
    assert [memory.title for memory in data.memories] == ["T0", "T1", "T2"]
    asked = data.queries["3hop__1_1"]
    assert (asked.hops, asked.metadata["type"]) == (3, "3hop") and len(data.queries) == 8
    assert gold(data)["3hop__1_1"] == {"d000000", "d000002"}


@pytest.mark.parametrize("parallel", [False, True])
def test_hotpot_and_2wiki(tmp_path, parallel):
    rows = []
    for i in range(6):
        context: Any = [["A", ["One.", " Two."]], [f"B{i}", ["Three."]]]
        facts: Any = [["A", 0], ["A", 1], [f"B{i}", 0]]
        if parallel:
            context = {"title": ["A", f"B{i}"], "sentences": [["One.", " Two."], ["Three."]]}
            facts = {"title": ["A", "A", f"B{i}"], "sent_id": [0, 1, 0]}
        key = "id" if parallel else "_id"
        rows.append({key: f"q{i}", "question": "?", "type": "bridge", "context": context, "supporting_facts": facts})
    data = import_dataset("2wiki", put(tmp_path / "h.json", rows), tmp_path / "out")
    assert data.memories[0].text == "One. Two."
    assert [memory.title for memory in data.memories] == ["A", *(f"B{i}" for i in range(6))]
    assert all(query.hops == 2 and query.metadata["type"] == "bridge" for query in data.queries.values())


def test_locomo(tmp_path):
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello."}
    shown = {"speaker": "Bob", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a boat"}
    conversation = {"speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn, shown]}
    asked = [(["D1:1; D1:2"], 1), (["D1:02"], 2), (["D9:9"], 4), (["D1:1"], 5), (["D1:1"], 4), (["D:1:1"], 3)]
    qa = [
        {"question": f"What {i}?", "answer": "x", "evidence": evidence, "category": category}
        for i, (evidence, category) in enumerate(asked)
    ]
    source = put(tmp_path / "l.json", [{"sample_id": "c1", "conversation": conversation, "qa": qa}])
    data = import_dataset("locomo", source, tmp_path / "out")
    assert [memory.text for memory in data.memories] == ["Ann: Hello.", "Bob: Look. [shares a photo: a boat]"]
    assert data.memories[0].created_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert {name: query.metadata["type"] for name, query in data.queries.items()} == {
        "c1/q0": "multi-hop", "c1/q1": "temporal", "c1/q4": "single-hop", "c1/q5": "open-domain",
    }  # fmt: skip
    assert data.queries["c1/q0"].scope == "c1"


def test_longmemeval(tmp_path):
    def row(name: str, marked: bool) -> dict[str, Any]:
        asked = {"role": "user", "content": "I got a cat.", "has_answer": marked}
        sessions = [[asked, {"role": "assistant", "content": "Nice."}], [{"role": "user", "content": "Hello."}]]
        dates = ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 12:00"]
        haystack = {"haystack_session_ids": ["s1", "s2"], "haystack_dates": dates, "haystack_sessions": sessions}
        about = {"question_id": name, "question_type": "single-session-user", "question": "Which pet?"}
        return {**about, **haystack, "answer": "A cat", "answer_session_ids": ["s1"]}

    rows = [row("a", True), row("b", False), row("c_abs", True), *(row(f"x{i}", True) for i in range(9))]
    data = import_dataset("longmemeval", put(tmp_path / "l.json", rows), tmp_path / "out")
    found = gold(data)
    assert found["a"] == {"a/s1/0"} and found["b"] == {"b/s1/0", "b/s1/1"} and "c_abs" not in found
    first = data.memories[0]
    assert (first.scope, first.thread, first.text) == ("a", "a/s1", "user: I got a cat.")
    assert data.queries["a"].scope == "a"


def beir(folder: Path, splits: dict[str, range]) -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"d{i}", "title": "", "text": f"t{i}", "metadata": {"url": "u"}} for i in range(9)]
    put(folder / "corpus.jsonl", corpus)
    put(folder / "queries.jsonl", [{"_id": f"q{i}", "text": f"what {i}?", "metadata": {}} for i in range(20)])
    for name, numbers in splits.items():
        rows = [f"q{i}\td{i % 9}\t{i % 3}" for i in numbers]
        (folder / "qrels" / f"{name}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n")
    return folder


def test_a_beir_folder_keeps_its_splits_and_its_own_fields_and_one_split_is_divided(tmp_path):
    data = import_dataset("beir", beir(tmp_path / "b", {"train": range(10), "test": range(10, 20)}), tmp_path / "out")
    assert set(data.splits) == {"dev", "test"} and set(data.split("test")) == {f"q{i}" for i in range(10, 20) if i % 3}
    assert data.memories[0].extra == {"url": "u"}
    assert "q0" not in data.queries
    data = import_dataset("beir", beir(tmp_path / "one", {"test": range(20)}), tmp_path / "divided")
    assert set(data.splits) == {"dev", "test"}


def test_what_is_wrong_is_said_and_nothing_is_left_behind(tmp_path, musique):
    broken = musique_question("2hop__1_1")
    broken["paragraphs"][0]["paragraph_text"] = "a NUL \0 character"
    (tmp_path / "empty").mkdir()
    for layout, source, more, reason in (
        ("squad", musique, {}, "no importer for 'squad'"),
        ("hotpotqa", musique, {}, "is not in the layout of hotpotqa"),
        ("beir", tmp_path, {}, r"queries\.jsonl cannot be read"),
        ("musique", tmp_path / "none.json", {}, "cannot be read"),
        ("musique", musique, {"corpus": musique}, "carries its own corpus"),
        ("musique", put(tmp_path / "n.json", [musique_question("2hop__1", ())]), {}, "has no supporting document"),
        ("musique", put(tmp_path / "b.json", [broken]), {}, "NUL"),
    ):
        for out in ("new", "empty"):
            with pytest.raises(HopgateError, match=reason):
                import_dataset(layout, source, tmp_path / out, **more)
        assert not (tmp_path / "new").exists() and list((tmp_path / "empty").iterdir()) == []
    put(tmp_path / "empty" / "x", 1)
    with pytest.raises(HopgateError, match="is not empty"):
        import_dataset("musique", musique, tmp_path / "empty")
