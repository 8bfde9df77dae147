"""Merges are rows, explained and reversible; resolution by two thresholds; rulings outlive a rebuild."""

import pytest
from graph_content import Scripted, content, of_triples, share_scopes

from hopgate.demo import corpus
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found, sources
from hopgate.extract.runner import Run
from hopgate.graph.build.merge import merge
from hopgate.graph.build.resolve import NameResolver
from hopgate.graph.build.sink import GraphSink
from hopgate.graph.canonicalise import Canonicaliser
from hopgate.memory import Memory
from hopgate.store import journal
from hopgate.store.graph import concept_rows


@pytest.fixture
def world(kb):
    share_scopes(kb)
    made = corpus()
    kb.add(*made.memories)
    kb.build(of_triples(made.triples), single_valued=made.single_valued)
    return made


def concept(kb, name: str) -> int:
    with kb.store.transaction() as connection:
        return connection.execute("SELECT concept_id FROM concept_names WHERE normal_name = %s", (name,)).fetchone()[0]


def test_what_cannot_be_done_is_refused(kb, world):
    with kb.store.transaction() as connection, pytest.raises(HopgateError, match="with itself"):
        merge(connection, concept(kb, "birch"), concept(kb, "birch"))
    with pytest.raises(HopgateError, match="nothing was merged"):
        kb.graph.split("birch")


def test_what_people_decided_outlives_a_rebuild(kb, world):
    extractor = of_triples(world.triples)
    with kb.store.transaction() as connection:
        merge(connection, concept(kb, "immich"), concept(kb, "jellyfin"))
        merge(connection, concept(kb, "birch"), concept(kb, "alder"))
    before = content(kb)
    kb.build(extractor, rebuild=True)
    assert content(kb) == before
    kb.graph.split("birch")
    kb.build(extractor, rebuild=True)
    assert concept(kb, "birch") != concept(kb, "alder")
    assert concept(kb, "immich") == concept(kb, "jellyfin")


def test_an_automatic_merge_that_was_split_stays_split(kb):
    kb.add(Memory("a", "x"), Memory("b", "y"))
    said = {"a": found([Mention("Marilyn Monroe")], []), "b": found([Mention("Monroe")], [])}
    kb.build(Scripted(said))
    assert concept(kb, "monroe") == concept(kb, "marilyn monroe")
    kb.graph.split("monroe")
    apart = content(kb)
    kb.build(Scripted(said), rebuild=True)
    assert content(kb) == apart and concept(kb, "monroe") != concept(kb, "marilyn monroe")


def grow(kb, resolution, said):
    """Build with the first memory, then add the others one at a time through a resolution."""
    first, *others = said
    kb.add(*(Memory(key, "x") for key in said))
    kb.build(Scripted({first: said[first]}), only=[first])
    for key in others:
        Run().over(sources([kb.get(key)]), Scripted(said), GraphSink(kb.store, resolution))


def test_the_middle_band_stays_apart_and_is_listed(kb):
    said = {"a": found([Mention("Marilyn Monroe"), Mention("James Monroe")], []), "b": found([Mention("Monroe")], [])}
    grow(kb, NameResolver(canonicaliser=Canonicaliser(threshold=0.99, ask=0.2)), said)
    with kb.store.transaction() as connection:
        (listed,) = concept_rows.ambiguous(connection)
    assert listed.name == "Monroe" and listed.near in ("Marilyn Monroe", "James Monroe")
    assert len(content(kb)["concepts"]) == 3


def test_a_new_name_joins_the_concept_it_means_before_its_facts_are_derived(kb):
    said = {
        "a": found([Mention("Marilyn Monroe")], [Fact("Marilyn Monroe", "starred in", "Niagara")]),
        "b": found([Mention("Monroe")], [Fact("Monroe", "starred in", "Niagara")]),
    }
    resolution = NameResolver()
    grow(kb, resolution, said)
    assert resolution.tally.merged == 1
    (edge,) = content(kb)["edges"]
    assert '"Marilyn Monroe", "starred in", "Niagara", 2.0' in edge
    with kb.store.transaction() as connection:
        (made,) = journal.merges_into(connection, concept(kb, "monroe"))
        assert made.method == "incremental" and made.score is not None
    kb.graph.split("monroe")
    assert sum("starred in" in row for row in content(kb)["edges"]) == 2


@pytest.mark.parametrize("together", [True, False])
def test_what_front_matter_lists_are_names_of_what_the_title_names(kb, tmp_path, together):
    (tmp_path / "Tilda.md").write_text("---\naliases: [Tilda, sis]\n---\n# Tilda Brenner\nPlays the cello.\n")
    kb.add(Memory("call", "Called Tilda about Dublin."))
    if not together:
        kb.build()
    kb.ingest(tmp_path)
    kb.build()
    aliases = {frozenset(each.aliases) for each in kb.graph.concepts() if "Tilda" in each.aliases}
    assert aliases == {frozenset(("Tilda", "Tilda Brenner", "sis"))}
