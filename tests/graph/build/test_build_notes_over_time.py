"""Plain notes over time: moves supersede, contradictions are seen, and names that become known later are linked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import hopgate
from hopgate.memory import Memory


def day(month: int, number: int = 1) -> datetime:
    return datetime(2024, month, number, tzinfo=UTC)


def targets(kb: hopgate.KnowledgeBase, name: str, as_of: datetime) -> list[str]:
    edges = [edge for edge in kb.graph.edges(name, as_of=as_of) if edge.source == name]
    return [edge.target for edge in edges if edge.relation != "stored in"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_move_supersedes_whether_notes_come_together_or_one_by_one(kb: hopgate.KnowledgeBase, at_once: bool) -> None:
    notes = [
        Memory("m1", "mealie runs on onyx.", created_at=day(1)),
        Memory("m2", "Moved mealie from onyx to topaz on 3 May 2024.", created_at=day(5, 4)),
    ]
    for batch in [notes] if at_once else [notes[:1], notes[1:]]:
        kb.add(*batch)
        kb.build()
    assert targets(kb, "mealie", day(3)) == ["onyx"]
    assert targets(kb, "mealie", day(6)) == ["topaz"]
    hits = kb.recall("which host does mealie run on", k=2)
    assert {hit.external_id for hit in hits} == {"m1", "m2"}


def test_what_words_merely_allow_curates_only_what_it_ended(kb: hopgate.KnowledgeBase) -> None:
    kb.add(
        Memory("boss", "Ottoline reports to Mr Haverkamp.", created_at=day(1)),
        Memory("lead", "Project Sandpiper is now led by Ruben, Ottoline went to the Lisbon office.", created_at=day(2)),
        Memory("old", "mealie runs on onyx.", created_at=day(3)),
        Memory("host", "topaz runs jellyfin.", created_at=day(4)),
        Memory("new", "mealie feels so much snappier on topaz now!", created_at=day(5)),
    )
    kb.build()
    assert "Mr Haverkamp" in targets(kb, "Ottoline", day(6))
    given_way = {one.memory: one.gives_way for one in kb.graph.curate() if one.gives_way}
    assert given_way == {"new": "old"}


@pytest.mark.parametrize("at_once", [True, False])
def test_what_no_pattern_states_is_a_move_where_the_graph_knows_better(
    kb: hopgate.KnowledgeBase, at_once: bool
) -> None:
    notes = [
        Memory("m1", "mealie runs on onyx.", created_at=day(1)),
        Memory("m2", "topaz runs jellyfin.", created_at=day(2)),
        Memory("m3", "mealie feels so much snappier on topaz now!", created_at=day(5)),
    ]
    for batch in [notes] if at_once else [[note] for note in notes]:
        kb.add(*batch)
        kb.build()
    assert targets(kb, "mealie", day(3)) == ["onyx"]
    assert targets(kb, "mealie", day(6)) == ["topaz"]
    # Without the first note it says nothing.
    kb.delete(["m1"])
    assert kb.graph.memory("m3").facts == ()
    assert targets(kb, "mealie", day(6)) == []
    kb.add(notes[0])
    kb.build()
    assert targets(kb, "mealie", day(6)) == ["topaz"]


@pytest.mark.parametrize(
    "said",
    [
        "mealie would feel snappier on topaz.",
        "Is mealie on topaz now?",
        "A copy of mealie is on topaz now.",
        "Tried mealie on topaz, went back to onyx.",
        "mealie's database is on topaz now.",
        "mealie now backs up to topaz.",
    ],
)
def test_what_is_no_move_ends_nothing(kb: hopgate.KnowledgeBase, said: str) -> None:
    kb.add(
        Memory("m1", "mealie runs on onyx.", created_at=day(1)),
        Memory("m2", "topaz runs jellyfin.", created_at=day(2)),
        Memory("m3", said, created_at=day(5)),
    )
    kb.build()
    assert targets(kb, "mealie", day(6)) == ["onyx"]


def test_plain_contradictions_are_not_all_additions(kb: hopgate.KnowledgeBase) -> None:
    texts = [
        "Rosa lives in Porto.",
        "The piano lesson costs £30.",
        "Rosa lives in Braga.",
        "The piano lesson costs £35.",
    ]
    kb.add(*(Memory(f"m{n}", text, created_at=day(n)) for n, text in enumerate(texts, start=1)))
    kb.build()
    actions = {one.memory: (one.action.value, one.older) for one in kb.graph.curate()}
    assert actions == {"m1": ("ADD", None), "m2": ("ADD", None), "m3": ("DELETE", "m1"), "m4": ("DELETE", "m2")}


def test_a_relation_can_be_declared_to_have_several_values(kb: hopgate.KnowledgeBase) -> None:
    kb.add(
        Memory("m1", "Rosa lives in Porto.", created_at=day(1)),
        Memory("m2", "Rosa lives in Braga.", created_at=day(2)),
    )
    kb.build(several_valued=["lives in"])
    assert sorted(targets(kb, "Rosa", day(6))) == ["Braga", "Porto"]


def test_a_name_that_becomes_known_later_is_linked_to_earlier_memories(kb: hopgate.KnowledgeBase) -> None:
    kb.add(Memory("m1", "The fan of topaz is loud.", created_at=day(1)))
    kb.build()
    assert "topaz" not in {concept.name for concept in kb.graph.concepts()}
    kb.add(Memory("m2", "mealie runs on topaz.", created_at=day(2)))
    kb.build()
    [topaz] = [concept for concept in kb.graph.concepts() if concept.name == "topaz"]
    assert topaz.memory_count == 2


def test_a_name_in_a_query_needs_no_capital(kb: hopgate.KnowledgeBase) -> None:
    kb.add(Memory("m1", "Since March 2024 Gitea runs on birch.", created_at=day(4)))
    kb.build()
    [edge] = [edge for edge in kb.graph.edges("gitea") if edge.relation == "runs on"]
    assert (edge.source, edge.target, edge.valid_from) == ("Gitea", "birch", day(3))
    assert [hit.external_id for hit in kb.recall("which host does gitea run on", legs=("graph",), k=1)] == ["m1"]
