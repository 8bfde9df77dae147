"""Clusters of a store: ids that stay, names without secrets, walls between scopes, and recall within one."""

from __future__ import annotations

import pytest

from hopgate import HopgateError, Memory
from hopgate.kb import KnowledgeBase
from hopgate.store.frozen import FrozenStore
from hopgate.store.graph import cluster_rows

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


def test_clusters_are_a_partition_with_names_and_figures(two: KnowledgeBase) -> None:
    found = two.graph.clusters()
    every = [concept.id for cluster in found for concept in cluster.members]
    assert sorted(every) == sorted(concept.id for concept in two.graph.concepts(limit=100))
    assert len(every) == len(set(every)) == len(found.assignment)
    house, garden = found.of("gitea"), found.of("Rhubarb")
    assert house.id != garden.id
    assert set(HOUSE) <= {concept.name for concept in found.members(house.id)}
    assert "backup" in house.words and "harvest" in garden.words
    assert house.memories == 6
    assert house.label.split(" · ")[0].split(", ")[0] in HOUSE
    assert 0 < found.modularity <= 1 and found.stability == 1 and found.kept is None
    assert f"{house.id}" in str(found) and "modularity" in str(found) and "stability" in str(found)
    with pytest.raises(HopgateError, match="no cluster 99"):
        found.members(99)
    with pytest.raises(HopgateError, match="no concept 'Nobody'"):
        found.of("Nobody")


def test_ids_stay_while_nothing_changes_and_when_something_grows(two: KnowledgeBase) -> None:
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
    assert later.kept is not None and later.kept == pytest.approx(1.0)


def test_an_id_is_not_given_again(two: KnowledgeBase) -> None:
    garden = two.graph.clusters().of("Tomato").id
    two.delete([f"harvest{at}" for at in range(6)])
    assert garden not in {cluster.id for cluster in two.graph.clusters()}
    two.add(*told(("Sextant", "Compass", "Tiller"), "voyage"))
    two.build()
    assert two.graph.clusters().of("Tiller").id > garden


def test_a_kept_partition_is_read_and_another_resolution_is_its_own(
    two: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hopgate.graph.communities import find

    whole = two.graph.clusters()
    fine = two.graph.clusters(resolution=20)
    assert len(fine) > len(whole)
    assert not {one.id for one in fine} & {one.id for one in whole}
    monkeypatch.setattr(find, "find_levels", None)
    assert two.graph.clusters().to_dict() == whole.to_dict()
    monkeypatch.undo()
    for resolution in (2, 3, 4, 5):
        two.graph.clusters(resolution=resolution)
    with two.store.transaction() as connection:
        assert cluster_rows.read(connection, (), 1.0) == ([], [])
        assert cluster_rows.read(connection, (), 5.0)[0]


@pytest.mark.parametrize(("options", "sentence"), [({"resolution": 0}, "resolution"), ({"level": 7}, "level 7")])
def test_what_makes_no_sense_is_refused(two: KnowledgeBase, options: dict[str, float], sentence: str) -> None:
    with pytest.raises(HopgateError, match=sentence):
        two.graph.clusters(**options)  # type: ignore[arg-type]


def test_an_empty_store_has_no_cluster(kb: KnowledgeBase) -> None:
    assert len(kb.graph.clusters()) == 0
    assert "0 clusters" in str(kb.graph.clusters())


def test_a_text_that_turns_sensitive_leaves_the_names(two: KnowledgeBase) -> None:
    two.add(*told(("Canary", "Parakeet", "Budgie"), "quartzcanary"))
    two.build()
    assert "quartzcanary" in str(two.graph.clusters())
    two.mark_sensitive([f"quartzcanary{at}" for at in range(3)])
    shown = f"{two.graph.clusters()} {two.graph.clusters().to_dict(None)}"
    assert "quartzcanary" not in shown and "Budgie" not in shown


def test_scopes_have_clusters_of_their_own_alone(kb: KnowledgeBase) -> None:
    kb.add(*told(HOUSE, "backup", scope="ada", mark="a"))
    kb.build()
    before = kb.graph.clusters(scope="ada").to_dict(None)
    kb.graph.clusters()
    kb.add(
        *told(GARDEN, "harvest", scope="bob", mark="b"),
        *told((*HOUSE[:2], "Submarine"), "torpedo", scope="bob", mark="c"),
    )
    kb.build()
    kb.graph.clusters(scope="bob")
    after = kb.graph.clusters(scope="ada").to_dict(None)
    assert _apart_from_version(after) == _apart_from_version(before)
    assert "Submarine" not in str(after) and "torpedo" not in str(after)
    assert "Tomato" in str(kb.graph.clusters(scope=["bob", "ada"]))


def _apart_from_version(found: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in found.items() if name not in ("version", "kept")}


def test_recall_within_a_cluster_finds_its_memories_alone(two: KnowledgeBase) -> None:
    two.embed()
    found = two.graph.clusters()
    query = "what met over the harvest or the backup"
    everything = {hit.external_id for hit in two.recall(query, k=20)}
    assert {"backup0", "harvest0"} <= everything
    for name, word in (("Gitea", "backup"), ("Tomato", "harvest")):
        for legs in (None, ("lexical",), ("dense",), ("graph",)):
            hits = two.recall(query, cluster=found.of(name).id, legs=legs, k=20, explain=True)
            assert hits and all(hit.external_id.startswith(word) for hit in hits), (name, legs)


def test_an_explanation_says_that_the_cluster_left_it_out(two: KnowledgeBase) -> None:
    found = two.graph.clusters()
    explained = two.explain("harvest", "harvest0", cluster=found.of("Gitea").id, legs=["lexical"])
    assert not explained.present and explained.removed_by[0].startswith("cluster: ")
    assert two.explain("harvest", "harvest0", cluster=found.of("Tomato").id, legs=["lexical"]).present


def test_recall_refuses_a_cluster_of_other_scopes(kb: KnowledgeBase) -> None:
    kb.add(*told(HOUSE, "backup", scope="ada", mark="a"), *told(GARDEN, "harvest", scope="bob", mark="b"))
    kb.build()
    ada, whole = kb.graph.clusters(scope="ada"), kb.graph.clusters()
    own = ada.of("Gitea").id
    assert {hit.external_id[:7] for hit in kb.recall("backup", scope="ada", cluster=own, legs=["lexical"])} == {
        "abackup"
    }
    foreign = max(cluster.id for cluster in whole)
    assert foreign > max(cluster.id for cluster in ada)
    with pytest.raises(HopgateError, match="concepts clusters --scope ada"):
        kb.recall("backup", scope="ada", cluster=foreign)
    with pytest.raises(HopgateError, match="no cluster 1: "):
        kb.recall("harvest", scope="bob", cluster=1)


def test_the_two_views_side_by_side(two: KnowledgeBase) -> None:
    found = two.graph.clusters()
    agreement = found.agreement
    assert agreement.compared == len(found.assignment)
    assert -1 <= agreement.rand <= 1 and 0 <= agreement.mutual <= 1
    for placed in agreement.apart:
        assert found.of(placed.name).id == placed.cluster != placed.named_like
    assert agreement.to_dict()["compared"] == agreement.compared


def test_who_may_only_read_sees_them_and_keeps_nothing(two: KnowledgeBase) -> None:
    with KnowledgeBase(FrozenStore(two.store)) as reader:
        found = reader.graph.clusters()
        assert found.of("Gitea").id != found.of("Tomato").id
    with two.store.transaction() as connection:
        assert cluster_rows.read(connection, (), 1.0) == ([], [])


def _kept(kb: KnowledgeBase) -> dict[str, int]:
    tables = ("cluster_partitions", "concept_clusters", "cluster_numbers")
    with kb.store.transaction() as connection:
        found = {name: connection.execute(f"SELECT count(DISTINCT scopes) FROM {name}").fetchone() for name in tables}
    return {name: row[0] for name, row in found.items() if row}


def test_who_asks_for_many_scopes_fills_no_table(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader names whatever scopes it likes: of those that nobody has nothing is kept, nor of more than so many."""
    monkeypatch.setattr(cluster_rows, "MOST_SCOPES", 2)
    kb.add(*(Memory(f"m{at}", f"Ada Byron met Bea Ng in Rome {at}.", scope=f"s{at}") for at in range(4)))
    kb.build()
    for scope in ("nobody", ["nobody", "else"], ["x" * 1000, "y" * 1000, "z" * 1000]):
        assert len(kb.graph.clusters(scope=scope)) == 0
    assert set(_kept(kb).values()) == {0}
    # More than an index holds is looked at, and not kept.
    assert len(kb.graph.clusters(scope=["s0", *(f"{at}" * 1000 for at in range(9))])) > 0
    first, *_ = [{one.id for one in kb.graph.clusters(scope=f"s{at}")} for at in range(4)]
    assert _kept(kb) == {"cluster_partitions": 2, "concept_clusters": 2, "cluster_numbers": 4}
    # What was forgotten is found again, under other numbers.
    assert first.isdisjoint(one.id for one in kb.graph.clusters(scope="s0"))
