"""The graph's commands, as a user runs them: extract, build, concepts, graph."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import psycopg
import pytest

import hopgate
from hopgate.cli import main
from hopgate.demo import corpus
from hopgate.extract import ExtractorIdentity, Phrases


def run(capsys, *arguments: str):
    """Run a command in this process; give what it printed."""
    try:
        main(list(arguments))
    except SystemExit as ended:
        assert ended.code in (0, None), capsys.readouterr().err
    return capsys.readouterr().out


def told(capsys, *arguments: str):
    return json.loads(run(capsys, *arguments, "--json"))


def refused(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.fixture
def triples(tmp_path) -> Path:
    path = tmp_path / "triples.jsonl"
    path.write_text("\n".join(map(json.dumps, corpus().triples)))
    return path


@pytest.fixture
def built(dsn, triples, capsys) -> str:
    """The synthetic corpus with one graph for its scopes, as `hopgate demo` has it."""
    with hopgate.open(dsn) as kb:
        kb.store_settings.set({"scopes": "shared"})
        kb.add(*corpus().memories)
    singles = [word for relation in corpus().single_valued for word in ("--single-valued", relation)]
    run(capsys, "build", "--dsn", dsn, "--extractor", "replay", "--model", str(triples), *singles)
    return dsn


def test_extract_counts_and_does_nothing_twice(dsn, triples, capsys):
    with hopgate.open(dsn) as kb:
        kb.add(*corpus().memories)
    options = ("extract", "--dsn", dsn, "--extractor", "replay", "--model", str(triples))
    first = told(capsys, *options, "--limit", "100")
    assert first["memories"] + first["skipped"] <= 100 and first["facts"] > 0 and first["states"]["pending"] > 0
    second = told(capsys, *options)
    assert second["skipped"] == first["memories"] and "pending" not in second["states"]
    assert told(capsys, *options)["memories"] == 0
    assert "memories" in run(capsys, *options)


class Asked:
    """The rules in the place of a model."""

    identity = ExtractorIdentity("asked", "a model", prompt="What does it say?")

    def extract(self, sources):
        return Phrases().extract(sources)


@pytest.mark.parametrize(("extractor", "cached"), [(Asked(), True), (Phrases(), False)])
def test_a_second_extraction_of_the_same_texts_comes_from_a_models_cache_and_rules_read_again(kb, extractor, cached):
    kb.add(*corpus().memories[:40])
    first = kb.extract(extractor)
    with kb.store.transaction() as connection:
        connection.execute("DELETE FROM extractions")
    again = kb.extract(extractor)
    assert again.cache_hits == (first.memories if cached else 0)
    assert (again.memories, again.facts) == (first.memories, first.facts) and first.facts > 0


def test_a_replay_of_a_memory_that_is_not_there_is_refused(dsn, tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text('{"doc_id": "nobody", "entity": "Ada"}')
    with hopgate.open(dsn) as kb:
        kb.add(*corpus().memories[:2])
    assert "line 1" in refused(capsys, "build", "--dsn", dsn, "--extractor", "replay", "--model", str(path))


def test_build_says_what_it_made(built, triples, capsys):
    again = told(capsys, "build", "--dsn", built, "--extractor", "replay", "--model", str(triples))
    assert again["incremental"] and again["extraction"]["memories"] == 0
    assert again["graph"]["concepts"] > 100 and again["graph"]["invalidation_rate"] > 0


def test_a_build_with_nothing_to_do_says_so_in_one_sentence(built, triples, capsys):
    lines = run(capsys, "build", "--dsn", built, "--extractor", "replay", "--model", str(triples)).splitlines()
    assert lines[0] == "no memory waits to be linked: the graph is up to date" and len(lines) == 2


@pytest.mark.parametrize("command", [["recall", "x"], ["edges", "Immich"], ["concepts", "show", "Immich"]])
def test_what_is_no_date_is_refused_with_one_that_would_do(command, capsys):
    with pytest.raises(SystemExit):
        main([*command, "--as-of", "gestern"])
    assert "'gestern' is no date: write one like 2024-05-01" in " ".join(capsys.readouterr().err.split())


def test_concepts_are_listed_shown_merged_and_split(built, capsys):
    listed = told(capsys, "concepts", "list", "--dsn", built, "--limit", "5")
    assert len(listed) == 5 and listed[0]["memory_count"] >= listed[4]["memory_count"]
    early = told(capsys, "concepts", "list", "--dsn", built, "--limit", "500", "--known-at", "2024-02-01")
    assert len(early) < len(told(capsys, "concepts", "list", "--dsn", built, "--limit", "500"))
    shown = told(capsys, "concepts", "show", "immich", "--dsn", built)
    assert shown["name"] == "Immich" and shown["memories"] and shown["edges"][0]["evidence"]
    assert "Immich" in run(capsys, "concepts", "show", "Immich", "--dsn", built, "--as-of", "2025-01-01")

    dry = told(capsys, "concepts", "merge", "Immich", "Jellyfin", "--dry-run", "--dsn", built)
    assert dry["dry_run"] and dry["changes"][0]["memories"] > 0
    assert told(capsys, "concepts", "show", "immich", "--dsn", built) == shown
    run(capsys, "concepts", "merge", "Immich", "Jellyfin", "--dsn", built)
    merged = told(capsys, "concepts", "show", "jellyfin", "--dsn", built)
    assert set(merged["aliases"]) == {"Immich", "Jellyfin"} and merged["merges"][0]["method"] == "by hand"
    (change,) = told(capsys, "concepts", "split", "Immich", "--dsn", built)["changes"]
    # What the merge brought over is what goes again.
    assert change["memories"] == dry["changes"][0]["memories"] < merged["memory_count"]
    assert told(capsys, "concepts", "show", "immich", "--dsn", built) == shown


def test_unknown_concepts_are_refused(built, capsys):
    assert "there is no concept 'Nobody'" in refused(capsys, "concepts", "show", "Nobody", "--dsn", built)
    assert "itself" in refused(capsys, "concepts", "merge", "Immich", "immich", "--dsn", built)


def test_undecided_names_are_listed(built, capsys):
    assert told(capsys, "concepts", "--ambiguous", "--dsn", built) == []
    with psycopg.connect(built) as connection:
        connection.execute(
            "UPDATE concept_names SET ambiguous_score = 0.4, ambiguous_with = "
            "(SELECT id FROM concept_names WHERE normal_name = 'immich') WHERE normal_name = 'jellyfin'"
        )
    (one,) = told(capsys, "concepts", "--ambiguous", "--dsn", built)
    assert (one["name"], one["near"]) == ("Jellyfin", "Immich")
    assert "may be 'Immich'" in run(capsys, "concepts", "--ambiguous", "--dsn", built)


def test_stats_add_up(built, capsys):
    found = told(capsys, "graph", "stats", "--dsn", built)
    assert found["memories"] == sum(not memory.is_sensitive for memory in corpus().memories)
    assert found["retired"] > 0 and 0 < found["invalidation_rate"] < 1
    assert found["relations"] <= found["raw_relations"] and found["single_valued"] > 0
    assert 0 < found["largest_component"] <= 1 and found["components"] >= 1
    assert 0 <= found["degree"]["between_queries"] <= 1
    assert "degree" in run(capsys, "graph", "stats", "--dsn", built)


def test_stats_of_an_empty_graph(dsn, capsys):
    assert told(capsys, "graph", "stats", "--dsn", dsn)["concepts"] == 0


def test_export_is_read_by_networkx(built, tmp_path, capsys):
    run(capsys, "graph", "export", "--dsn", built, "--out", str(tmp_path / "g.graphml"), "--memories")
    run(capsys, "graph", "export", "--dsn", built, "--out", str(tmp_path / "g.json"))
    xml = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    plain = nx.node_link_graph(json.loads((tmp_path / "g.json").read_text()), edges="links")
    with hopgate.open(built) as kb:
        graph = kb.graph.to_networkx()
        whole = kb.graph.to_networkx(memories=True)
    assert (xml.number_of_nodes(), xml.number_of_edges()) == (whole.number_of_nodes(), whole.number_of_edges())
    assert nx.utils.graphs_equal(plain, graph)
    text = (tmp_path / "g.graphml").read_text() + (tmp_path / "g.json").read_text()
    assert not any(word in text for words in corpus().canaries.values() for word in words)
    assert not any(f'"m:{key}"' in text for key in corpus().canaries)
    assert "format" in refused(capsys, "graph", "export", "--dsn", built, "--out", str(tmp_path / "g.txt"))


def test_concepts_clusters_and_recall_within_one(built, capsys):
    shown = run(capsys, "concepts", "clusters", "--dsn", built)
    assert "modularity" in shown
    found = told(capsys, "concepts", "clusters", "--dsn", built)
    largest = found["clusters"][0]
    assert f"{largest['id']}" in shown and largest["label"] in shown
    members = told(capsys, "concepts", "clusters", "--members", str(largest["id"]), "--dsn", built)["members"]
    assert len(members) == largest["size"]
    listed = run(capsys, "concepts", "clusters", "--members", str(largest["id"]), "--dsn", built)
    assert members[0]["name"] in listed
    name = members[0]["name"]
    own = {row["_id"] for row in told(capsys, "recall", name, "--cluster", str(largest["id"]), "--dsn", built)}
    with hopgate.open(built) as kb:
        linked = kb.graph.mentions()
    names = {member["name"] for member in members}
    assert own and all(names & set(linked[one]) for one in own)
    assert len(told(capsys, "concepts", "clusters", "--resolution", "3", "--dsn", built)["clusters"]) > len(
        found["clusters"]
    )
    assert "no cluster 9999" in refused(capsys, "recall", name, "--cluster", "9999", "--dsn", built)


def test_an_sqlite_database_has_its_words_alone(tmp_path, capsys):
    asked = ("recall", "x", "--sqlite", str(tmp_path / "none.db"))
    assert "leave --cluster out" in refused(capsys, *asked, "--cluster", "1")
    assert "leave --include-superseded out" in refused(capsys, *asked, "--include-superseded")
    assert "leave --lexical out" in refused(capsys, *asked, "--lexical", "0")
    assert "leave --as-of, --dense out" in refused(capsys, *asked, "--as-of", "2024-05-01", "--dense", "2")
