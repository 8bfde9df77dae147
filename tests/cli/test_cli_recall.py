"""`hopgate recall`, `settings` and `audit`: hostile queries, tables and JSON, options, and what bars a leg."""

import json
import re
import subprocess
import sys

import pytest
from word_endpoint import WordEndpoint

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

LEXICAL = ("--dense", "0", "--graph", "0")


@pytest.fixture
def filled(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    kb.add(
        Memory("key", "The spare key hangs in the cellar", scope="home", importance=0.9),
        Memory("cat", "The cat sleeps in the cellar\nall day", scope="home"),
        Memory("brackets", "see [bold]docs[/bold] of the cellar"),
    )
    kb.embed(endpoint.spec)


def test_an_empty_store_and_nothing_found_are_said(run, kb):
    assert "the store is empty: run hopgate ingest" in run("recall", "anything").out
    assert run("recall", "anything", "--json").json == []
    kb.add(Memory("a", "amber"))
    assert run("recall", "xylophone", *LEXICAL).out == "nothing found\n"


def test_hits_as_json_and_as_a_table_that_takes_no_markup(run, filled):
    found = run("recall", "spare key", "--json", "--explain", "--k", "2", "--graph", "0").json
    assert [hit["rank"] for hit in found] == [1, 2] and found[0]["_id"] == "key"
    assert {"score", "content", "importance", "scope", "created_at", "legs"} <= set(found[0])
    assert set(found[0]["legs"]) == {"lexical", "dense"}
    table = run("recall", "cellar", "--explain", "--graph", "0").out
    for text in ("[bold]docs[/bold]", "The cat sleeps in the cellar all day", "lexical #1", "prior ×"):
        assert text in table


def test_options_and_variables_reach_the_recall(run, filled, monkeypatch):
    def ids(*options: str) -> list[str]:
        return [hit["_id"] for hit in run("recall", "cellar", "--json", *LEXICAL, *options).json]

    assert len(ids()) == 3
    assert ids("--scope", "home", "--scope", "nowhere", "--exclude", "cat") == ["key"]
    assert ids("--k", "1", "--prior", "0") == ["key"] and len(ids("--depth", "1")) == 1
    assert ids("--min-score", "99") == ids("--known-at", "2001-01-01") == ids("--lexical", "0") == []
    monkeypatch.setenv("HOPGATE_K", "1")
    assert len(ids()) == 1
    monkeypatch.setenv("HOPGATE_K", "many")
    assert "HOPGATE_K must be a number" in run("recall", "cellar", status=2).refused()


def test_why_a_memory_is_not_among_the_hits(run, filled):
    why = run("recall", "spare key", "--why-not", "cat", *LEXICAL).out
    assert why.startswith("cat is not here: no leg lists it") and "lexical: –: no word of the query is in it" in why
    found = run("recall", "spare key", "--why-not", "key", "--scope", "work", "--json").json
    assert not found["present"] and found["removed_by"][0].startswith("scope:")
    assert "key is hit 1" in run("recall", "spare key", "--why-not", "key").out


def test_a_reader_that_goes_away_ends_the_command_without_a_word(dsn, filled):
    pipe = f'{sys.executable} -m hopgate export --dsn "{dsn}" | head -n 1'
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["_id"] == "key" and done.stderr == ""


def test_settings_are_shown_set_and_unset(run, kb):
    run("settings", "set", "k", "5")
    rows = {row["name"]: row for row in run("settings", "--json").json["settings"]}
    assert (rows["k"]["value"], rows["k"]["source"]) == (5, "hopgate settings")
    assert rows["graph"]["source"] == "default" and all(row["meaning"] for row in rows.values())
    assert re.search(r"parts\tthreads,titles\S+\tdefault", run("settings").out)
    assert run("settings", "unset", "k").out == "k comes from default again\n"
    kb.add(Memory("a", "Ada runs Immich."))
    kb.store_settings.apply_gate("1f3c", fuser="RRF(k=60)", depth=30, parts=())
    kb.build()
    shown = run("settings").out
    assert re.search(r"parts\tnone\tgate 1f3c", shown) and "the graph was changed since gate 1f3c" in shown


@pytest.mark.usefixtures("filled")
def test_audit_of_every_leg_and_a_recall_that_warns_of_a_barred_one(run, tmp_path):
    barred = ("--fuser", "RRF(late=0, graph=0.35)", "--prior", "1", "--json")
    assert run("audit", *barred).json["bounds"]["graph"]["verdict"] == "barred"
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "q1", "text": "cellar"}\n{"_id": "q2", "text": "spare key"}\n')
    assert set(run("audit", "--queries", str(queries), *barred).json["lists"]) == {"lexical", "dense", "graph"}
    warned = run("recall", "cellar", "--fuser", "RRF(graph=0.1)", "--prior", "1", "--k", "2", "--json")
    assert "hopgate: warning: the graph leg is barred" in warned.err and warned.json
