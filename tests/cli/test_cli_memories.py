"""`hopgate ingest`, `export`, `delete` and `sensitive`: in, out, away, and never half."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_run import Runner
from word_endpoint import WordEndpoint

Writer = Callable[..., str]

RECORDS: list[dict[str, Any]] = [
    {
        "_id": "a",
        "title": "NAS",
        "text": "It hums.",
        "metadata": {"tags": ["x", "y"], "importance": 0.25, "extra": {"kept": [1]}},
    },
    {"_id": "b", "text": "Ünï ❤ עברית \u2028 '; drop table \\ \t %s", "metadata": {"created_at": "2024-05-01"}},
    {"_id": "c", "text": "", "metadata": {"extra": {"kept": None}}},
    {"_id": "d", "text": "A secret.", "metadata": {"is_sensitive": True, "scope": "home"}},
]


def exported(run: Runner) -> list[dict[str, Any]]:
    """What comes out, less the date of arrival of what came without a date."""
    records = [json.loads(line) for line in run("export").out.split("\n") if line]
    given = {record["_id"]: record for record in RECORDS}
    for record in records:
        if "created_at" not in given.get(record["_id"], {}).get("metadata", {}):
            del record["metadata"]["created_at"]
        if not record["metadata"]:
            del record["metadata"]
    return records


def test_what_goes_in_comes_out(run: Runner, corpus: Writer) -> None:
    path = corpus(*RECORDS)
    assert run("ingest", path, "--later", "--json").json == {"path": path, "source": "jsonl", "rows": 4, "added": 4}
    assert exported(run) == RECORDS
    assert run("ingest", path, "--later", "--json").json == {"path": path, "source": "jsonl", "rows": 4, "added": 0}
    assert exported(run) == RECORDS
    assert "4 memories, 0 of them new" in run("ingest", path, "--later").out


def test_an_empty_store_exports_nothing(run: Runner) -> None:
    assert run("export").out == ""


def test_standard_input(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert run("ingest", "-", "--later", "--json").json["rows"] == 4


def test_ingest_embeds_unless_told_not_to(
    run: Runner, corpus: Writer, endpoint: WordEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPGATE_EMBEDDER", endpoint.spec)
    assert "embedded 3 memories, linked 3" in run("ingest", corpus(*RECORDS)).out
    assert "A secret." not in endpoint.texts
    assert run("status", "--json").json["graph_built"]


LINE = '{"_id": "x", "text": "fine"}'


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([LINE, "{broken"], "line 2: not JSON"),
        (['{"text": "no id"}'], "line 1: the field '_id' is missing"),
        ([LINE, LINE], "line 2: _id 'x' stands already on line 1"),
        (['{"_id": "y", "text": "t", "metadata": {"importance": 3.5}}'], "importance must be between 0 and 1"),
        (['{"_id": "y", "text": "t", "metadata": {"importance": NaN}}'], "NaN is not a number"),
        (['{"_id": "y", "text": "a\\u0000b"}'], "NUL"),
        ([], "holds no memories"),
    ],
)
def test_a_wrong_line_is_refused_and_nothing_is_written(
    run: Runner, corpus: Writer, lines: list[str], reason: str
) -> None:
    run("ingest", corpus(*RECORDS, name="good.jsonl"), "--later")
    assert reason in run("ingest", corpus(*lines, name="bad.jsonl"), "--later", status=2).refused()
    assert exported(run) == RECORDS


def test_files_that_are_none(run: Runner, tmp_path: Path) -> None:
    assert "is a directory" in run("ingest", str(tmp_path), status=2).refused()
    assert "cannot be read" in run("ingest", str(tmp_path / "gone.jsonl"), status=2).refused()


def test_delete(run: Runner, corpus: Writer) -> None:
    run("ingest", corpus(*RECORDS), "--later")
    assert "no memory 'zzz'" in run("delete", "a", "zzz", status=2).refused()
    assert len(exported(run)) == 4
    assert run("delete", "a", "b", "--json").json == {"deleted": 2}
    assert [record["_id"] for record in exported(run)] == ["c", "d"]
    assert run("delete", "c").out == "deleted 1 memory\n"


def test_sensitive(run: Runner, corpus: Writer, endpoint: WordEndpoint) -> None:
    run("ingest", corpus(*RECORDS), "--later")
    run("embed", "--embedder", endpoint.spec)
    assert "no memory 'zzz'" in run("sensitive", "zzz", status=2).refused()
    assert run("sensitive", "a", "--json").json == {"marked": 1}
    assert "marked 1 memory" in run("sensitive", "a").out
    found = run("recall", "hums", "--json", "--lexical", "0", "--graph", "0").json
    assert "a" not in [hit["_id"] for hit in found]
    assert [hit["_id"] for hit in run("recall", "hums", "--json", "--dense", "0", "--graph", "0").json] == ["a"]
    (first, *_) = exported(run)
    assert first["metadata"]["is_sensitive"] is True


def test_json_is_utf8_in_any_locale_and_a_file_name_need_not_be(run: Runner, dsn: str, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff.jsonl")
    odd.write_text('{"_id": "x", "text": "caf\u00e9"}\n', encoding="utf-8")
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    run("ingest", str(odd), "--later")
    command = [sys.executable, "-m", "hopgate.cli", "export", "--dsn", dsn]
    done = subprocess.run(command, env=latin, capture_output=True, check=True)
    assert '"text": "caf\u00e9"' in done.stdout.decode("utf-8")
