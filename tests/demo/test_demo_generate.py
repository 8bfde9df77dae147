"""The generated folder: deterministic bytes, in the exchange formats."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import datetime

import pytest

from hopgate.demo import corpus
from hopgate.demo.generate import main, write
from hopgate.errors import HopgateError
from hopgate.memory import Memory


def digest(folder):
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in names}


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path):
    command = [sys.executable, "-m", "hopgate.demo.generate", str(tmp_path / "a")]
    environment = os.environ | {"PYTHONHASHSEED": "1", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    write(tmp_path / "c")
    assert digest(tmp_path / "a") == digest(tmp_path / "c")
    assert set(digest(tmp_path / "a")) == {
        "corpus.jsonl",
        "queries.jsonl",
        "triples.jsonl",
        "facts.jsonl",
        "qrels/dev.tsv",
        "qrels/test.tsv",
    }
    assert main([str(tmp_path / "d"), "--seed", "8"]) == 0
    assert digest(tmp_path / "d") != digest(tmp_path / "a")


def test_the_files_give_back_the_records(tmp_path):
    write(tmp_path)
    world = corpus()
    rows = [json.loads(line) for line in (tmp_path / "corpus.jsonl").read_text().splitlines()]
    memories = []
    for row in rows:
        metadata = dict(row["metadata"])
        metadata["created_at"] = datetime.fromisoformat(metadata["created_at"])
        for name in ("tags", "expanded_keywords"):
            metadata[name] = tuple(metadata.get(name, ()))
        memories.append(Memory(row["_id"], row["text"], title=row["title"], **metadata))
    assert memories == world.memories
    queries = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert [(q["_id"], q["text"], q["metadata"]) for q in queries] == [
        (q.id, q.text, q.metadata) for q in world.queries
    ]
    facts = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert [tuple(fact["evidence"]) for fact in facts] == [fact.evidence for fact in world.facts]
    assert [fact["valid_from"] for fact in facts] == [
        fact.valid_from and fact.valid_from.isoformat() for fact in world.facts
    ]
    for split, qrels in world.qrels.items():
        header, *lines = (tmp_path / "qrels" / f"{split}.tsv").read_text().splitlines()
        assert header == "query-id\tcorpus-id\tscore"
        assert {(a, b, int(c)) for a, b, c in (line.split("\t") for line in lines)} == {
            (query, key, score) for query, found in qrels.items() for key, score in found.items()
        }


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(HopgateError, match="cannot write the corpus into"):
        write(tmp_path / "file")
    assert main([str(tmp_path / "file")]) == 2
    assert "cannot write the corpus" in capsys.readouterr().err
