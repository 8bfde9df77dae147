"""`hopgate extract`, `build`, `concepts`, `graph`, `curate`, `log` and `undo`, most of them on the synthetic corpus."""

import json

import networkx as nx
import pytest
from cli_run import Runner

import hopgate
from hopgate.demo import corpus
from hopgate.memory import Memory


@pytest.fixture(scope="module")
def triples(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("graph") / "triples.jsonl"
    path.write_text("\n".join(map(json.dumps, corpus().triples)))
    return str(path)


@pytest.fixture(scope="module")
def built_dsn(module_dsn: str) -> str:
    """The synthetic corpus, with one graph for its scopes as `hopgate demo` has it."""
    with hopgate.open(module_dsn) as kb:
        kb.store_settings.set({"scopes": "shared"})
        kb.add(*corpus().memories)
    return module_dsn


@pytest.fixture
def built(capsys, built_dsn: str, triples: str) -> Runner:
    """Commands on it; what a test changes it takes back."""
    run = Runner(capsys, "--dsn", built_dsn)
    singles = [word for relation in corpus().single_valued for word in ("--single-valued", relation)]
    run("build", "--extractor", "replay", "--model", triples, *singles)
    return run


def test_extract_counts_and_does_nothing_twice(run, kb, triples, tmp_path):
    kb.add(*corpus().memories)
    options = ("extract", "--extractor", "replay", "--model", triples, "--json")
    first = run(*options, "--limit", "100").json
    assert 0 < first["memories"] <= 100 and first["states"]["pending"] > 0
    second = run(*options).json
    assert second["skipped"] == first["memories"] and "pending" not in second["states"]
    nobody = tmp_path / "nobody.jsonl"
    nobody.write_text('{"doc_id": "nobody", "entity": "Ada"}')
    assert "line 1" in run("build", "--extractor", "replay", "--model", str(nobody), status=2).refused()


def test_build_and_stats_say_what_was_made(built, triples):
    again = ("build", "--extractor", "replay", "--model", triples)
    made = built(*again, "--json").json
    assert made["incremental"] and made["extraction"]["memories"] == 0 and made["graph"]["concepts"] > 100
    lines = built(*again).out.splitlines()
    assert lines[0] == "no memory waits to be linked: the graph is up to date" and len(lines) == 2
    stats = built("graph", "stats", "--json").json
    assert stats["memories"] == sum(not memory.is_sensitive for memory in corpus().memories)
    assert stats["retired"] > 0 and 0 < stats["invalidation_rate"] < 1
    assert stats["relations"] <= stats["raw_relations"] and 0 <= stats["degree"]["between_queries"] <= 1


def test_concepts_are_listed_shown_merged_and_split(built):
    listed = built("concepts", "list", "--limit", "5", "--json").json
    assert len(listed) == 5 and listed[0]["memory_count"] >= listed[4]["memory_count"]
    early = built("concepts", "list", "--limit", "500", "--known-at", "2024-02-01", "--json").json
    assert len(early) < len(built("concepts", "list", "--limit", "500", "--json").json)
    shown = built("concepts", "show", "immich", "--json").json
    assert shown["concept"]["name"] == "Immich" and shown["memories"] and shown["edges"][0]["evidence"]
    assert built("concepts", "merge", "Immich", "Jellyfin", "--dry-run", "--json").json["dry_run"]
    assert built("concepts", "show", "immich", "--json").json == shown
    assert "'Jellyfin' joined 'Immich'" in built("concepts", "merge", "Immich", "Jellyfin").out
    assert "merged: 'Jellyfin' (by hand, 20" in built("concepts", "show", "jellyfin").out
    assert "'Jellyfin' left" in built("concepts", "split", "Immich").out
    assert built("concepts", "show", "immich", "--json").json == shown
    assert "itself" in built("concepts", "merge", "Immich", "immich", status=2).refused()


def test_export_is_read_by_networkx_and_holds_nothing_sensitive(built, built_dsn, tmp_path):
    built("graph", "export", "--out", str(tmp_path / "g.graphml"), "--memories")
    xml = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    printed = built("graph", "export", "--format", "json").out
    plain = nx.node_link_graph(json.loads(printed), edges="links")
    with hopgate.open(built_dsn) as kb:
        graph, whole = kb.graph.to_networkx(), kb.graph.to_networkx(memories=True)
    assert (xml.number_of_nodes(), xml.number_of_edges()) == (whole.number_of_nodes(), whole.number_of_edges())
    assert nx.utils.graphs_equal(plain, graph)
    text = (tmp_path / "g.graphml").read_text() + printed
    assert not any(word in text for words in corpus().canaries.values() for word in words)
    assert not any(f'"m:{key}"' in text for key in corpus().canaries)
    assert "format" in built("graph", "export", "--out", str(tmp_path / "g.txt"), status=2).refused()


def test_clusters_and_recall_within_one(built):
    largest = built("concepts", "clusters", "--json").json["clusters"][0]
    key, first = str(largest["id"]), largest["members"][0]["name"]
    assert largest["label"] in built("concepts", "clusters").out
    assert first in built("concepts", "clusters", "--members", key).out
    assert built("recall", first, "--cluster", key, "--json").json
    assert "no cluster 9999" in built("recall", "x", "--cluster", "9999", status=2).refused()


def test_what_was_changed_by_hand_is_listed_and_taken_back(run, kb):
    assert "nothing was changed by hand" in run("log").out
    kb.add(
        Memory("m1", "Ada Lovelace lives in London."),
        Memory("m2", "Augusta King met Charles Babbage in Paris."),
        Memory("m3", "The printer is in the attic."),
    )
    kb.build()
    kb.graph.merge("Ada Lovelace", "Augusta King")
    kb.mark_sensitive(["m1"])
    kb.delete(["m3"])
    gone, mark, merge = kb.upkeep.log()
    lines = run("log").out.splitlines()
    assert lines[0].split()[0] == str(gone.id) and lines[0].endswith("1 memory was deleted")
    assert f"1 memory was marked as sensitive (m1) · hopgate undo {mark.id}" in lines[1]
    assert "cannot be undone" in run("undo", str(gone.id), status=2).refused()
    # What it would show is said first.
    assert "add --yes" in run("undo", str(mark.id), status=2).refused()
    assert run("undo", str(mark.id), "--yes", "--json").json["undone_at"]
    assert "taken back: 'Augusta King' became part of" in run("undo", str(merge.id)).out
    assert "· undone 20" in run("log").out


def test_curation_says_which_of_two_memories_goes(run):
    run("add", "mealie runs on onyx.", "--id", "old", "--at", "2024-01-01")
    run("add", "Moved mealie from onyx to topaz.", "--id", "new", "--at", "2024-05-01")
    run("build")
    line = "DELETE new ↔ old: every fact of the older memory has ended; old {} way\n"
    assert run("curate").out.startswith(line.format("would give"))
    (proposal,) = run("curate", "--json").json["proposals"]
    assert proposal["gives_way"] == "old"
    assert run("curate", "--apply").out.startswith(line.format("gave"))
