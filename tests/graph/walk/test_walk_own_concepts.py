"""What a scope's own memories bring together: by their names alone, and as people decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hopgate.extract.replay import Replay
from hopgate.graph.walk.cache import MatrixCache
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.own_concepts import own_meaning
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.graph import scope_rows
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.merge_rows import NameRuling
from hopgate.store.graph.scope_rows import OwnName, OwnRelation

DAY = datetime(2024, 1, 1, tzinfo=UTC)


def named(*names: str, concept: int | None = None) -> list[OwnName]:
    return [
        OwnName(concept or 10 + key, name.lower(), name, None, 1, key, key) for key, name in enumerate(names, start=1)
    ]


def test_what_the_store_took_for_one_may_be_several_here() -> None:
    found = own_meaning(named("Ada Byron", "Leeds", "Ada", concept=5), [], {}).concepts
    assert found == {1: -1, 2: -2, 3: -1}


def test_people_decide() -> None:
    names = named("Bea", "Paris", "Bea Smith")
    assert own_meaning(names, [], {}).concepts == {1: -1, 2: -2, 3: -1}
    rulings = [NameRuling((1,), (3,), False), NameRuling((2, 99), (1, 98), True)]
    assert own_meaning(names, [], {}, rulings).concepts == {1: -1, 2: -1, 3: -3}
    # Of names that are nobody's here nothing follows.
    assert own_meaning(names, [], {}, [NameRuling((98,), (99,), True)]).concepts == {1: -1, 2: -2, 3: -1}


def test_what_was_taken_apart_stays_apart_whichever_partner_it_would_be_with() -> None:
    names = named("Paris", "Bea", "Bea Smith")
    assert own_meaning(names, [], {}, [NameRuling((3,), (1, 2), False)]).concepts == {1: -1, 2: -2, 3: -3}


def test_of_equal_partners_the_one_is_chosen_that_is_named_first_whatever_their_ids() -> None:
    chosen = []
    for ids in ((1, 2, 3), (2, 1, 3)):
        names = [name._replace(id=key) for name, key in zip(named("Paris", "Leeds", "Bea"), ids, strict=True)]
        found = own_meaning(names, [], {}, [NameRuling((3,), (1, 2), True)]).concepts
        chosen.append([found[name.id] == found[3] for name in names])
    assert chosen == [[True, False, True]] * 2


def test_wordings_that_mean_the_same_are_one_relation_with_one_object_where_one_of_them_was_declared() -> None:
    names = named("Immich", "cedar", "alder")
    known = {
        raw: OwnRelation(raw, raw == "was born in", raw == "was born in", False)
        for raw in ("born in", "was born in", "likes")
    }
    found = own_meaning(names, [], known)
    assert found.relations == {"born in": "born in", "was born in": "born in", "likes": "likes"}
    assert found.single_valued == {"born in"}
    # What another scope's wording made single-valued is not so here.
    assert not own_meaning(names, [], {"born in": OwnRelation("was born in", True, False, False)}).single_valued


def test_a_scope_sees_what_was_merged_by_hand_and_recalls_facts_that_the_store_has_as_one(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    kb.add(*(Memory(f"{scope}{at}", "x", scope=scope, created_at=DAY) for scope in "ab" for at in range(3)))
    facts = [
        ("b0", "Grace Hopper", "works at", "Atlas"),
        ("b1", "Amazing Grace", "works at", "Atlas"),
        ("b2", "Radia Perlman", "likes", "trees"),
        ("a0", "Grace Hopper", "works at", "Atlas"),
    ]
    rows = [dict(zip(("doc_id", "subject", "relation", "object"), fact, strict=True)) for fact in facts]
    (tmp_path / "triples.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    kb.build(Replay(str(tmp_path / "triples.jsonl")))
    assert {one.name for one in kb.graph.concepts(scope="b")} >= {"Grace Hopper", "Amazing Grace"}
    kb.graph.merge("Grace Hopper", "Amazing Grace")
    (grace,) = (one for one in kb.graph.concepts(scope="b") if "Grace Hopper" in one.aliases)
    assert (grace.aliases, grace.memory_count) == (("Amazing Grace", "Grace Hopper"), 2)
    assert [one.aliases for one in kb.graph.concepts(scope="a") if "Grace" in one.name] == [("Grace Hopper",)]
    (works,) = (edge for edge in kb.graph.edges(scope="b") if edge.relation == "works at")
    assert works.evidence == ("b0", "b1")
    kb.graph.split("Grace Hopper")
    assert {one.name for one in kb.graph.concepts(scope="b")} >= {"Grace Hopper", "Amazing Grace"}


# Another's longer name makes one concept of two that are b's.
JOINED = (
    ("b0", "Monroe", "works at", "Atlas"),
    ("b1", "Marilyn", "likes", "Zephyr"),
    ("a0", "Marilyn Monroe", "works at", "Atlas"),
    ("a1", "Marilyn Monroe", "likes", "Zephyr"),
)


def replay(folder: Path, facts: Sequence[tuple[str, str, str, str]]) -> Replay:
    rows = [dict(zip(("doc_id", "subject", "relation", "object"), fact, strict=True)) for fact in facts]
    (folder / "triples.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return Replay(str(folder / "triples.jsonl"))


def of_scope(scope: str) -> list[Memory]:
    """The first memory is the newest one."""
    dates = [DAY + timedelta(days=9 - at) for at in range(2)]
    return [Memory(f"{scope}{at}", f"{scope} met quartz", scope=scope, created_at=day) for at, day in enumerate(dates)]


def test_a_concept_is_shown_as_of_a_time_with_its_own_edges(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(*of_scope("b"), *of_scope("a"))
    kb.build(replay(tmp_path, JOINED))
    assert kb.graph.concept("Monroe").concept.aliases == ("Marilyn Monroe", "Marilyn", "Monroe")
    monroe = kb.graph.concept("Monroe", scope="b")
    assert [edge.relation for edge in monroe.edges] == ["works at"]
    # Then only Marilyn was known.
    then = DAY + timedelta(days=8)
    assert kb.graph.concept("Monroe", scope="b", known_at=then).edges == ()
    (marilyn,) = (one for one in kb.graph.concepts(scope="b", known_at=then) if one.name == "Marilyn")
    assert kb.graph.concept(marilyn.id, scope="b").concept.name == "Marilyn"
    # Without a scope an id of a scope's is that of the store's concept with the name.
    assert kb.graph.concept(marilyn.id).concept == kb.graph.concept("Monroe").concept
    assert kb.graph.neighbourhood(marilyn.id).concepts[0].name == "Marilyn Monroe"
    assert kb.graph.concept(kb.graph.concept("Atlas").concept.id, scope="b").concept.name == "Atlas"


def test_another_scopes_merge_leaves_ids_and_clusters_as_they_are(kb: KnowledgeBase, tmp_path: Path) -> None:
    told = replay(tmp_path, JOINED)
    kb.add(*of_scope("b"))
    kb.build(told)
    before = kb.graph.clusters(scope="b")
    cluster = before.of("Marilyn").id
    assert [hit.external_id for hit in kb.recall("quartz", scope="b", cluster=cluster)] == ["b1"]
    kb.add(*of_scope("a"))
    kb.build(told, rebuild=True)
    assert kb.graph.concept("Monroe").concept.aliases == ("Marilyn Monroe", "Marilyn", "Monroe")
    assert [hit.external_id for hit in kb.recall("quartz", scope="b", cluster=cluster)] == ["b1"]
    after = kb.graph.clusters(scope="b")
    assert [one.to_dict() for one in after] == [one.to_dict() for one in before]
    # Once scopes are shared concepts are the store's.
    kb.store_settings.set({"scopes": "shared"})
    assert {one.id for one in kb.graph.concepts(scope="b")} == {*kb.graph.clusters(scope="b").assignment}


def test_a_walk_is_shown_by_the_names_that_it_walked(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(*of_scope("b"), *of_scope("a"))
    kb.build(replay(tmp_path, JOINED))
    kb.add(replace(of_scope("b")[0], superseded_by="b1", superseded_at=DAY + timedelta(days=20)))
    assert "Marilyn" in kb.graph.walk("Marilyn met quartz", scope="b").nodes


def test_a_memory_that_is_linked_meanwhile_is_no_error(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add(*of_scope("b"))
    kb.build(replay(tmp_path, JOINED[:1]))
    names = scope_rows.names

    def read(*arguments: Any) -> list[OwnName]:
        found = names(*arguments)
        kb.build(replay(tmp_path, JOINED[:2]))
        return found

    monkeypatch.setattr(scope_rows, "names", read)
    kb.graph.concepts(scope="b")


def test_what_is_declared_of_a_wording_is_seen_by_a_process_that_holds_the_matrix(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    facts = [(f"{scope}{at}", "Radia", raw, place) for scope, raw in (("b", "has lived in"), ("a", "lived in"))
             for at, place in enumerate(("Norwich", "Leeds"))]  # fmt: skip
    told = replay(tmp_path, facts)
    kb.add(*of_scope("b"), *of_scope("a"))
    kb.build(told, single_valued={"lived in"})
    matrices = MatrixCache(kb.store)
    before = with_edges(kb, matrices)
    assert len(before) == 2 and not kb.graph.conflicts(scope="b")
    kb.build(told, single_valued={"lived in", "has lived in"})
    assert kb.graph.conflicts(scope="b")
    assert with_edges(kb, matrices) == with_edges(kb, MatrixCache(kb.store)) != before


def test_what_was_split_stays_apart_when_its_partner_becomes_part_of_another(kb: KnowledgeBase, tmp_path: Path) -> None:
    facts = [("b0", "Bea", "works at", "Atlas"), ("b1", "Bea Smith", "likes", "Zephyr")]
    kb.add(*of_scope("b"))
    kb.build(replay(tmp_path, facts))
    kb.graph.split("Bea")
    kb.graph.merge("Atlas", "Bea")
    assert sorted(one.aliases for one in kb.graph.concepts(scope="b")) == [
        ("Atlas", "Bea"),
        ("Bea Smith",),
        ("Zephyr",),
    ]


def with_edges(kb: KnowledgeBase, matrices: MatrixCache) -> list[EdgeRow]:
    with kb.store.transaction() as connection:
        own = matrices.get(connection, ["b"], MatrixConfig()).own
    assert own is not None
    return [edge.row for edge in own.edges]
