"""`hopgate add`, `ingest`, `export`, `show`, `delete`, `sensitive`, `status`, `watch`: in, out, and never half."""

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import samples
from cli_run import Runner
from word_endpoint import WordEndpoint

from hopgate.guard import SensitivityRules
from hopgate.memory import Memory

RECORDS: list[dict[str, Any]] = [
    {"_id": "a", "title": "NAS", "text": "It hums.", "metadata": {"tags": ["x"], "extra": {"kept": [1]}}},
    {"_id": "b", "text": "Ünï ❤ עברית \u2028 '; drop table \\ \t %s", "metadata": {"created_at": "2024-05-01"}},
    {"_id": "d", "text": "A secret.", "metadata": {"is_sensitive": True, "scope": "home"}},
]


@pytest.fixture(autouse=True)
def _light_embedder(endpoint: WordEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_EMBEDDER", endpoint.spec)


def written(path: Path, *records: dict[str, Any]) -> str:
    """A file of records, one a line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def exported(run: Runner) -> dict[str, dict[str, Any]]:
    """What comes out by its id, less the date of arrival of what came without a date."""
    records = {record["_id"]: record for record in map(json.loads, run("export").out.split("\n")[:-1])}
    for key, record in records.items():
        if key != "b":
            del record["metadata"]["created_at"]
    return records


def test_what_goes_in_comes_out(run, tmp_path, monkeypatch):
    path = written(tmp_path / "corpus.jsonl", *RECORDS)
    counts = {"rows": 3, "added": 3, "pruned": 0, "rejected": []}
    assert run("ingest", path, "--later", "--json").json == {"path": path, "source": "jsonl", **counts}
    assert list(exported(run).values()) == RECORDS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
    assert "3 memories, 0 of them new" in run("ingest", "-", "--later").out
    assert list(exported(run).values()) == RECORDS


def test_ingest_embeds_links_and_keeps_the_rules_of_sensitivity(run, tmp_path, endpoint):
    first = ({"_id": "a", "text": "My PIN: 4711"}, {"_id": "b", "text": "The cat.", "tags": ["diary"]})
    rules = ("--sensitive-match", r"PIN:\s*\d+", "--sensitive-tag", "diary")
    run("ingest", written(tmp_path / "1.jsonl", *first), *rules)
    later = ({"_id": "c", "text": "His PIN: 0815"}, {"_id": "d", "text": "The dog.", "url": "u"})
    ran = run("ingest", written(tmp_path / "2.jsonl", *later), "--keep-unknown")
    assert "embedded 1 memory, linked 1" in ran.out
    lines = {line["_id"]: line["metadata"] for line in map(json.loads, run("export").out.splitlines())}
    assert [key for key in lines if lines[key].get("is_sensitive")] == ["a", "b", "c"]
    assert lines["d"]["extra"] == {"url": "u"}
    assert not any("PIN" in text or "cat" in text for text in endpoint.texts)
    shown = " ".join(run("status").out.split())
    assert "memories 4 sensitive 3" in shown and "patterns PIN" in shown


def test_ingest_says_what_it_is_and_a_dry_run_stores_nothing(run, tmp_path):
    vault = str(samples.vault(tmp_path))
    shown = run("ingest", vault, "--dry-run").out
    assert "an Obsidian vault; the first 3 memories, nothing is stored" in shown
    assert "The NAS" in shown and "blue vase" not in shown and "(sensitive)" in shown
    assert run("status", "--json").json["memories"] == 0
    assert "an Obsidian vault, 3 memories, 3 of them new" in run("ingest", vault, "--scope", "notes").out


def test_add_stores_embeds_and_links_at_once_or_later(run, endpoint):
    made = run("add", "Ada Lovelace lives in London.", "--tags", "people, places", "--at", "2024-05-01", "--json").json
    assert made["new"] and made["embedded"] == 1 and made["linked"] == 1
    assert run("add", "Ada Lovelace lives in London.").out.startswith(f"updated {made['_id']}")
    (edge,) = run("edges", "London", "--json").json
    assert (edge["source"], edge["relation"], edge["evidence"]) == ("Ada Lovelace", "lives in", [made["_id"]])
    run("add", "The boiler hums.", "--id", "b", "--later")
    run("add", "The code is 4711.", "--id", "s", "--sensitive", "--later")
    waiting = run("status", "--json").json
    assert [waiting[name] for name in ("memories", "sensitive", "pending_vectors", "pending_graph")] == [3, 1, 1, 1]
    assert "embedded 1 memory, linked 1" in run("watch", "--once").out
    assert not any("4711" in text for text in endpoint.texts)


def test_show(run, kb):
    run("add", "Ada Lovelace lives in London.", "--id", "a", "--title", "Ada", "--scope", "home")
    run("add", "Ada Lovelace wrote to Bea Byron.", "--id", "b", "--scope", "home")
    shown = run("show", "a").out
    for line in ("a  Ada", "scope       home", "Ada Lovelace — lives in → London", "b by Ada Lovelace"):
        assert line in shown
    found = run("show", "a", "--json").json
    assert found["_id"] == "a" and [other["_id"] for other in found["related"]] == ["b"]
    assert {mention["concept"] for mention in found["mentions"]} >= {"Ada Lovelace", "London"}
    then = datetime(2024, 5, 5, tzinfo=UTC)
    old = Memory("old", "The ladder is in the cellar.", superseded_by="new", superseded_at=then)
    kb.add(Memory("new", "The ladder is in the attic."), old)
    assert "superseded by new since" in run("show", "old").out and "supersedes  old" in run("show", "new").out
    lexical = ("recall", "ladder", "--dense", "0", "--graph", "0")
    assert [hit["_id"] for hit in run(*lexical, "--json").json] == ["new"]
    assert len(run(*lexical, "--include-superseded", "--json").json) == 2
    why = run(*lexical, "--why-not", "old").out
    assert "it is superseded by 'new' since 2024-05-05" in why and "--include-superseded" in why


def test_delete_and_sensitive(run, tmp_path):
    run("ingest", written(tmp_path / "corpus.jsonl", *RECORDS))
    assert run("sensitive", "a", "--json").json == {"marked": 1}
    assert exported(run)["a"]["metadata"]["is_sensitive"] is True
    assert "add --yes" in run("sensitive", "a", "--undo", status=2).refused()
    assert run("sensitive", "a", "--undo", "--yes").out == "1 memory is no longer sensitive\n"
    assert run("delete", "a", "b", "--json").json == {"deleted": 2}
    assert list(exported(run)) == ["d"]


def test_a_backup_is_written_before_many_are_deleted(run, bare, kb, other, monkeypatch, tmp_path):
    monkeypatch.setattr("hopgate.store.server.default_directory", lambda: tmp_path)
    keys = [f"m{number}" for number in range(11)]
    kb.add(*(Memory(key, "a note") for key in keys))
    deleted = run("delete", *keys, "--yes", "--json")
    assert deleted.json == {"deleted": 11}
    (kept,) = (tmp_path / "backups").iterdir()
    assert str(kept) in deleted.err and kept.stat().st_mode & 0o077 == 0
    assert bare("restore", str(kept), "--json", "--dsn", other).json["memories"] == 11


def test_json_is_utf8_in_any_locale_and_a_file_name_need_not_be(run, dsn, tmp_path):
    odd = tmp_path / os.fsdecode(b"\xff.jsonl")
    odd.write_text('{"_id": "x", "text": "caf\u00e9"}\n', encoding="utf-8")
    run("ingest", str(odd), "--later")
    command = [sys.executable, "-m", "hopgate", "export", "--dsn", dsn]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=latin, capture_output=True, check=True)
    assert '"text": "caf\u00e9"' in done.stdout.decode("utf-8")


def test_an_extractor_that_is_down_or_another_one(run, tmp_path):
    run("add", "Ada Lovelace lives in London.", "--id", "a", "--later")
    dead = ("--extractor", "openai", "--model", "m", "--url", "http://127.0.0.1:9/v1")
    ran = run("extract", *dead, status=1)
    assert "stopped: http://127.0.0.1:9/v1 cannot be reached" in ran.out and "1 pending" in ran.out
    assert run("build", *dead, "--json", status=1).json["extraction"]["memories"] == 0
    run("watch", "--once")
    # A graph that another extractor made is made anew, and what comes later waits for that one.
    fact = {"doc_id": "a", "subject": "Ada", "relation": "sails to", "object": "Oslo"}
    replay = ("build", "--extractor", "replay", "--model", written(tmp_path / "t.jsonl", fact), "--json")
    assert run(*replay).json["incremental"] is False
    assert [edge["target"] for edge in run("edges", "Ada", "--json").json] == ["Oslo"]
    assert run(*replay).json["incremental"] is True
    assert run("add", "Bea Byron lives in Rome.").out.endswith("run hopgate build --extractor replay with its model\n")


def test_watch_follows_what_another_program_writes(kb, dsn, endpoint):
    kb.add_sensitivity(SensitivityRules(patterns=("secret",)))
    done = kb.upkeep.watch(wait=20)
    assert next(done).linked == 0
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO hopgate.memories (content) VALUES ('Ada Lovelace lives in London.'), ('A secret of Bea.')"
        )
    first = next(done)
    done.close()
    assert (first.embedded, first.linked) == (1, 1)
    assert [edge.target for edge in kb.graph.edges("Ada Lovelace")] == ["London"]
    assert not any("secret" in text for text in endpoint.texts)
