"""The generated folder: deterministic bytes, in the exchange formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopgate.corpus import read_corpus
from hopgate.demo import corpus
from hopgate.demo.generate import write
from hopgate.errors import HopgateError


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from hopgate.demo.generate import write; write(Path(sys.argv[1]))"
    environment = os.environ | {"PYTHONHASHSEED": "1", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], env=environment, check=True)
    made = contents(write(tmp_path / "b"))
    assert contents(tmp_path / "a") == made
    assert set(made) == {*(f"{name}.jsonl" for name in ("corpus", "queries", "triples", "facts")), "qrels/dev.tsv",
                         "qrels/test.tsv"}  # fmt: skip
    assert contents(write(tmp_path / "c", corpus(8))) != made


def test_the_files_give_back_the_records(tmp_path: Path) -> None:
    world = corpus()
    write(tmp_path)
    plain = [(one.external_id, one.content, one.tags, one.created_at) for one in read_corpus(tmp_path / "corpus.jsonl")]
    assert plain == [(one.external_id, one.content, one.tags, one.created_at) for one in world.memories]
    queries = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert [(q["_id"], q["text"], q["metadata"]) for q in queries] == [
        (q.id, q.text, q.metadata) for q in world.queries
    ]
    facts = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert [(tuple(fact["evidence"]), fact["valid_from"]) for fact in facts] == [
        (fact.evidence, fact.valid_from and fact.valid_from.isoformat()) for fact in world.facts
    ]
    for split, qrels in world.qrels.items():
        header, *lines = (tmp_path / "qrels" / f"{split}.tsv").read_text().splitlines()
        assert header == "query-id\tcorpus-id\tscore"
        assert {tuple(line.split("\t")) for line in lines} == {
            (query, key, str(score)) for query, found in qrels.items() for key, score in found.items()
        }


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HopgateError, match="cannot write the corpus into"):
        write(tmp_path / "file")
