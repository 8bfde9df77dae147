"""`add`, `show`, `edges`, `status`, `watch`, and what `ingest` does beyond lines."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import samples
from cli_run import Runner
from word_endpoint import WordEndpoint

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.sensitivity import SensitivityRules

Writer = Callable[..., str]


@pytest.fixture(autouse=True)
def _light_embedder(endpoint: WordEndpoint, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOPGATE_EMBEDDER", endpoint.spec)
    yield


def test_add_stores_embeds_and_links_at_once(run: Runner) -> None:
    made = run("add", "Ada Lovelace lives in London.", "--tags", "people, places", "--at", "2024-05-01", "--json").json
    assert made["new"] and made["embedded"] == 1 and made["linked"] == 1
    again = run("add", "Ada Lovelace lives in London.").out
    assert again.startswith(f"updated {made['_id']}")
    (edge,) = run("edges", "London", "--json").json
    assert (edge["source"], edge["relation"], edge["target"]) == ("Ada Lovelace", "lives in", "London")
    assert edge["evidence"] == [made["_id"]]
    assert "Ada Lovelace — lives in → London" in run("edges", "ada lovelace").out
    assert "no concept" in run("edges", "Paris", status=2).refused()
    assert "nothing to remember" in run("add", "  ", status=2).refused()


def test_add_later_and_sensitive(run: Runner, endpoint: WordEndpoint) -> None:
    run("add", "The boiler hums.", "--id", "b", "--later")
    run("add", "The code is 4711.", "--id", "s", "--sensitive", "--later")
    found = run("status", "--json").json
    assert (found["memories"], found["sensitive"]) == (2, 1)
    assert (found["pending_vectors"], found["pending_graph"]) == (1, 1)
    assert "embedded 1 memory, linked 1" in run("watch", "--once").out
    found = run("status", "--json").json
    assert (found["pending_vectors"], found["pending_graph"], found["extractor"]) == (0, 0, "phrases")
    assert not any("4711" in text for text in endpoint.texts)
    shown = run("status").out
    assert "memories      2, of which 1 are sensitive" in shown and "0 pending; built" in shown


def test_show(run: Runner) -> None:
    run("add", "Ada Lovelace lives in London.", "--id", "a", "--title", "Ada", "--scope", "home")
    run("add", "Ada Lovelace wrote to Bea Byron.", "--id", "b", "--scope", "home")
    shown = run("show", "a").out
    for line in ("a  Ada", "scope             home", "Ada Lovelace — lives in → London", "b by Ada Lovelace"):
        assert line in shown
    found = run("show", "a", "--json").json
    assert found["_id"] == "a" and [other["_id"] for other in found["neighbours"]] == ["b"]
    assert {mention["concept"] for mention in found["mentions"]} >= {"Ada Lovelace", "London"}
    assert "no memory 'zzz'" in run("show", "zzz", status=2).refused()


def test_show_says_what_superseded_what(run: Runner, dsn: str) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(hopgate.Memory("new", "In the attic."), hopgate.Memory("old", "In the cellar.", superseded_by="new"))
    assert "superseded by new since" in run("show", "old").out
    assert "supersedes old" in run("show", "new").out


def test_show_says_that_a_memory_is_superseded_whose_successor_is_gone(run: Runner, dsn: str) -> None:
    may = datetime(2024, 5, 5, tzinfo=UTC)
    with hopgate.open(dsn) as kb:
        old = hopgate.Memory("old", "In the cellar.", superseded_by="new", superseded_at=may)
        kb.add(hopgate.Memory("new", "In the attic."), old)
        # As stores of earlier versions hold it, which kept a tombstone whose reason was deleted.
        with kb.store.transaction() as connection:
            connection.execute("UPDATE memories SET superseded_by = NULL WHERE external_id = 'old'")
    shown = run("show", "old").out
    assert "superseded since 2024-05-05T00:00:00+00:00: recall leaves it out" in shown


def test_recall_finds_what_is_superseded_where_that_is_asked_for(run: Runner, dsn: str) -> None:
    may = datetime(2024, 5, 5, tzinfo=UTC)
    with hopgate.open(dsn) as kb:
        old = hopgate.Memory("old", "The ladder is in the cellar.", superseded_by="new", superseded_at=may)
        kb.add(hopgate.Memory("new", "The ladder is in the attic."), old)
    assert [hit["_id"] for hit in run("recall", "ladder", "--json").json] == ["new"]
    assert {hit["_id"] for hit in run("recall", "ladder", "--include-superseded", "--json").json} == {"new", "old"}
    told = run("recall", "ladder", "--why-not", "old").out
    assert "it is superseded by 'new' since 2024-05-05" in told and "--include-superseded" in told
    assert "old is hit" in run("recall", "ladder", "--why-not", "old", "--include-superseded").out


def test_ingest_says_what_it_is_and_a_dry_run_stores_nothing(run: Runner, tmp_path: Path) -> None:
    vault = str(samples.vault(tmp_path))
    shown = run("ingest", vault, "--dry-run").out
    assert "an Obsidian vault; the first 3 memories, nothing is stored" in shown
    assert "The NAS" in shown and "blue vase" not in shown and "(sensitive)" in shown
    assert run("status", "--json").json["memories"] == 0
    assert "an Obsidian vault, 3 memories, 3 of them new" in run("ingest", vault, "--scope", "notes").out
    assert "3 memories, 0 of them new" in run("ingest", vault).out
    assert run("ingest", vault, "--sections", "--dry-run", "--json").json["source"] == "obsidian"


def test_a_field_map_and_a_query(run: Runner, tmp_path: Path) -> None:
    maps = [word for pair in samples.CSV_MAP for word in ("--map", pair)]
    assert "a table, 2 memories" in run("ingest", str(samples.csv(tmp_path)), *maps, "--later").out
    query = "SELECT id AS _id, body AS text FROM notes"
    database = str(samples.sqlite(tmp_path))
    assert "a SQLite file, 2 memories" in run("ingest", database, "--from-sql", query, "--later").out
    assert "--map is for tables" in run("ingest", str(samples.text(tmp_path)), *maps, status=2).refused()
    assert "needs an address or" in run("ingest", str(samples.text(tmp_path)), "--from-sql", "x", status=2).refused()
    assert "--date-order is one of dmy, mdy" in run("ingest", database, "--date-order", "x", status=2).refused()


def test_rules_of_sensitivity_are_kept(run: Runner, corpus: Writer, endpoint: WordEndpoint) -> None:
    first = corpus({"_id": "a", "text": "My PIN: 4711"}, {"_id": "b", "text": "The cat.", "tags": ["diary"]}, name="1")
    run("ingest", first, "--sensitive-match", r"PIN:\s*\d+", "--sensitive-tag", "diary")
    run("ingest", corpus({"_id": "c", "text": "His PIN: 0815"}, {"_id": "d", "text": "The dog."}, name="2.jsonl"))
    lines = [json.loads(line) for line in run("export").out.splitlines()]
    flags = {line["_id"]: line.get("metadata", {}).get("is_sensitive", False) for line in lines}
    assert flags == {"a": True, "b": True, "c": True, "d": False}
    assert not any("PIN" in text or "cat" in text for text in endpoint.texts)
    assert "sensitive by  patterns: PIN" in run("status").out
    assert "not a regular expression" in run("ingest", first, "--sensitive-match", "(", status=2).refused()


def test_keep_unknown(run: Runner, corpus: Writer) -> None:
    path = corpus({"_id": "a", "text": "t", "url": "u"})
    assert "line 1: 'url' is not a field" in run("ingest", path, "--later", status=2).refused()
    run("ingest", path, "--later", "--keep-unknown")
    assert json.loads(run("export").out)["metadata"]["extra"] == {"url": "u"}


def test_watch_follows_what_another_program_writes(kb: KnowledgeBase, dsn: str, endpoint: WordEndpoint) -> None:
    kb.add_sensitivity(SensitivityRules(patterns=("secret",)))
    done = kb.upkeep.watch(wait=20)
    assert next(done).linked == 0
    written = threading.Event()

    def other_program() -> None:
        with psycopg.connect(dsn) as connection:
            connection.execute(
                "INSERT INTO memories (content) VALUES ('Ada Lovelace lives in London.'), ('A secret of Bea.')"
            )
        written.set()

    writer = threading.Thread(target=other_program)
    writer.start()
    first = next(done)
    writer.join()
    assert written.is_set() and (first.embedded, first.linked) == (1, 1)
    done.close()
    assert [edge.target for edge in kb.graph.edges("Ada Lovelace")] == ["London"]
    assert not any("secret" in text for text in endpoint.texts)


def test_a_graph_that_a_model_made_waits_for_it(kb: KnowledgeBase) -> None:
    kb.add(hopgate.Memory("a", "Ada Lovelace lives in London."))
    kb.build()
    with kb.store.transaction() as connection:
        connection.execute("UPDATE extractions SET extractor = 'llama'")
    kb.add(hopgate.Memory("b", "Bea Byron lives in Rome."))
    done = kb.upkeep.catch_up()
    assert (done.linked, done.left) == (0, "llama")
    assert kb.upkeep.catch_up(extractor="phrases").linked == 1


def test_a_build_that_was_broken_off_is_finished_by_the_next_look(kb: KnowledgeBase) -> None:
    kb.add(hopgate.Memory("a", "Ada Lovelace lives in London."))
    kb.extract("phrases")  # as a build leaves it that is killed before names are brought together
    assert kb.graph.edges() == []
    kb.upkeep.catch_up()
    assert [edge.target for edge in kb.graph.edges("Ada Lovelace")] == ["London"]


def test_an_endpoint_that_is_down_ends_soon_with_status_1(run: Runner) -> None:
    run("add", "Ada Lovelace lives in London.", "--later")
    dead = ("--extractor", "openai", "--model", "m", "--url", "http://127.0.0.1:9/v1")
    ran = run("extract", *dead, status=1)
    assert "stopped: http://127.0.0.1:9/v1 cannot be reached" in ran.out and "is the server running" in ran.out
    assert "1 pending" in ran.out
    assert run("build", *dead, "--json", status=1).json["extraction"]["memories"] == 0
    assert "embedded" not in run("watch", "--once").err


def test_curation_says_which_of_two_memories_goes(run: Runner) -> None:
    run("add", "mealie runs on onyx.", "--id", "old", "--at", "2024-01-01")
    run("add", "Moved mealie from onyx to topaz.", "--id", "new", "--at", "2024-05-01")
    run("build")
    line = "DELETE new ↔ old: every fact of the older memory has ended; old {} way\n"
    assert run("curate").out.startswith(line.format("would give"))
    (proposal,) = run("curate", "--json").json["proposals"]
    assert proposal["gives_way"] in (proposal["memory"], proposal["older"])
    assert run("curate", "--apply").out.startswith(line.format("gave"))


def test_a_second_opinion_needs_a_model(run: Runner) -> None:
    assert "only a model has a second opinion" in run("build", "--tie-break", status=2).refused()


def test_a_graph_of_another_extractor_is_made_anew(run: Runner, corpus: Writer) -> None:
    run("add", "Ada Lovelace lives in London.", "--id", "a")
    triples = corpus({"doc_id": "a", "subject": "Ada", "relation": "sails to", "object": "Oslo"}, name="t.jsonl")
    replay = ("build", "--extractor", "replay", "--model", triples, "--json")
    assert run(*replay).json["incremental"] is False
    assert [edge["target"] for edge in run("edges", "Ada", "--json").json] == ["Oslo"]
    assert run(*replay).json["incremental"] is True
    assert run("add", "Bea Byron lives in Rome.").out.endswith("run hopgate build --extractor replay with its model\n")
