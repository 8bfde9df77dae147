"""Clusters: connected communities that were planted, ids that stay, labels without secrets, walls between scopes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hopgate import HopgateError, Memory
from hopgate.graph.clusters import keep_ids, leiden
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import concept_rows
from hopgate.store.store import FrozenStore

HOUSE = ("Gitea", "Birch", "Nextcloud", "Restic")
GARDEN = ("Tomato", "Compost", "Greenhouse", "Rhubarb")


def told(names: tuple[str, ...], word: str, scope: str | None = None, mark: str = "") -> list[Memory]:
    """A memory for each pair of names: they are one cluster, and the word is what they are about."""
    pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
    return [
        Memory(f"{mark}{word}{at}", f"Today {one} met {other} over the {word}.", tags=(one, other), scope=scope)
        for at, (one, other) in enumerate(pairs)
    ]


@pytest.fixture
def two(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(*told(HOUSE, "backup"), *told(GARDEN, "harvest"))
    kb.build()
    return kb


def test_clusters_are_a_partition_with_names_and_figures(two):
    found = two.graph.clusters()
    every = [concept.id for cluster in found for concept in cluster.members]
    assert sorted(every) == sorted(concept.id for concept in two.graph.concepts(limit=100))
    assert len(every) == len(set(every))
    house, garden = found.of("gitea"), found.of("Rhubarb")
    assert house.id != garden.id
    assert set(HOUSE) <= {concept.name for concept in house.members}
    assert "backup" in house.words and "harvest" in garden.words
    assert house.memories == 6
    assert house.label.split(" · ")[0].split(", ")[0] in HOUSE
    assert 0 < found.modularity <= 1
    assert f"{house.id}" in str(found) and "modularity" in str(found)
    with pytest.raises(HopgateError, match="no cluster 99"):
        found[99]
    with pytest.raises(HopgateError, match="no concept 'Nobody'"):
        found.of("Nobody")
    with pytest.raises(HopgateError, match="resolution"):
        two.graph.clusters(resolution=0)


def test_ids_stay_when_something_grows_and_none_is_given_again(two):
    first = two.graph.clusters()
    again = two.graph.clusters()
    assert first.to_dict(None) == again.to_dict(None)
    house, garden = first.of("Gitea").id, first.of("Tomato").id
    two.add(Memory("new", "Gitea met Forgejo over the backup.", tags=("Gitea", "Forgejo")))
    two.build()
    later = two.graph.clusters()
    assert later.version > first.version
    assert later.of("Forgejo").id == later.of("Gitea").id == house
    assert later.of("Tomato").id == garden
    two.delete([f"harvest{at}" for at in range(6)])
    assert garden not in {cluster.id for cluster in two.graph.clusters()}
    two.add(*told(("Sextant", "Compass", "Tiller"), "voyage"))
    two.build()
    assert two.graph.clusters().of("Tiller").id > garden


def test_a_kept_partition_is_read_and_another_resolution_is_its_own(two, monkeypatch):
    from hopgate.graph import clusters

    with KnowledgeBase(FrozenStore(two.store)) as reader:
        assert len(reader.graph.clusters()) == 2
    with two.store.transaction() as connection:
        assert concept_rows.read_clusters(connection, (), 1.0) == [], "who may only read keeps nothing"
    whole = two.graph.clusters()
    fine = two.graph.clusters(resolution=20)
    assert len(fine) > len(whole)
    assert not {one.id for one in fine} & {one.id for one in whole}
    monkeypatch.setattr(clusters, "leiden", None)
    assert two.graph.clusters().to_dict() == whole.to_dict()
    monkeypatch.undo()
    monkeypatch.setattr(concept_rows, "MOST_KEPT", 2)
    two.graph.clusters(resolution=5)
    with two.store.transaction() as connection:
        kept = [bool(concept_rows.read_clusters(connection, (), resolution)) for resolution in (1, 20, 5)]
    assert kept == [True, False, True]


def test_a_text_that_turns_sensitive_leaves_the_names(two):
    two.add(*told(("Canary", "Parakeet", "Budgie"), "quartzcanary"))
    two.build()
    assert "quartzcanary" in str(two.graph.clusters())
    two.mark_sensitive([f"quartzcanary{at}" for at in range(3)])
    shown = f"{two.graph.clusters()} {two.graph.clusters().to_dict(None)}"
    assert "quartzcanary" not in shown and "Budgie" not in shown


def test_scopes_have_clusters_of_their_own_alone(kb):
    kb.add(*told(HOUSE, "backup", scope="ada", mark="a"))
    kb.build()
    before = kb.graph.clusters(scope="ada").clusters
    kb.graph.clusters()
    kb.add(
        *told(GARDEN, "harvest", scope="bob", mark="b"),
        *told((*HOUSE[:2], "Submarine"), "torpedo", scope="bob", mark="c"),
    )
    kb.build()
    kb.graph.clusters(scope="bob")
    after = kb.graph.clusters(scope="ada").clusters
    assert after == before
    assert "Submarine" not in str(after) and "torpedo" not in str(after)
    assert "Tomato" in str(kb.graph.clusters(scope=["bob", "ada"]))


def test_recall_within_a_cluster_finds_its_memories_alone(two):
    two.embed()
    found = two.graph.clusters()
    query = "what met over the harvest or the backup"
    everything = {hit.external_id for hit in two.recall(query, k=20)}
    assert {"backup0", "harvest0"} <= everything
    for name, word in (("Gitea", "backup"), ("Tomato", "harvest")):
        for legs in (None, ("lexical",), ("dense",), ("dense", "graph")):
            hits = two.recall(query, cluster=found.of(name).id, legs=legs, k=20, explain=True)
            assert hits and all(hit.external_id.startswith(word) for hit in hits), (name, legs)
    explained = two.explain("harvest", "harvest0", cluster=found.of("Gitea").id, legs=["lexical"])
    assert not explained.present and explained.removed_by[0].startswith("cluster: ")
    assert two.explain("harvest", "harvest0", cluster=found.of("Tomato").id, legs=["lexical"]).present


@st.composite
def graphs(draw: st.DrawFn) -> csr_array:
    count = draw(st.integers(1, 14))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.sampled_from([0.25, 1.0, 1.0, 3.0])),
            max_size=40,
        )
    )
    found = np.zeros((count, count))
    for one, other, weight in pairs:
        if one != other:
            found[one, other] = found[other, one] = weight
    return csr_array(found)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.sampled_from([0.3, 1.0, 2.5]))
def test_every_node_is_in_one_connected_community(weights, resolution):
    labels, _ = leiden(weights, resolution=resolution)
    assert labels.shape == (weights.shape[0],)
    assert (labels == leiden(weights, resolution=resolution)[0]).all()
    sizes = np.bincount(labels)
    assert (sizes > 0).all() and (np.diff(sizes) <= 0).all()
    for community in range(len(sizes)):
        members = np.flatnonzero(labels == community)
        assert connected_components(weights[members][:, members], directed=False)[0] == 1


def test_a_split_keeps_the_id_in_its_larger_half_and_strangers_get_none():
    before = {1: {1, 2, 3, 4, 5}, 2: {6, 7}}
    assert keep_ids(before, [{1, 2}, {3, 4, 5}, {6, 7, 8}, {9}]) == [None, 1, 2, None]
    assert keep_ids(before, [{1, 6, *range(20, 40)}]) == [None]
