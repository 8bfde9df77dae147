"""BEIR and LongMemEval come in by command, and a data set is split anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_dataset
from hopgate.eval.data.importers import import_dataset
from hopgate.eval.data.split import split_dataset


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


def test_split_anew(tmp_path: Path) -> None:
    made = import_dataset("beir", beir(tmp_path / "b", {"test": range(20)}), tmp_path / "one")
    again = split_dataset(tmp_path / "one", tmp_path / "two", dev=0.3)
    assert {q for s in again.splits.values() for q in s} == {q for s in made.splits.values() for q in s}
    assert split_dataset(tmp_path / "one", tmp_path / "three", dev=0.3).splits == again.splits
    assert again.memories == read_dataset(tmp_path / "one").memories
    with pytest.raises(HopgateError, match="is not empty"):
        split_dataset(tmp_path / "one", tmp_path / "two")
    with pytest.raises(HopgateError, match="between 0 and 1"):
        split_dataset(tmp_path / "one", tmp_path / "four", dev=1)
