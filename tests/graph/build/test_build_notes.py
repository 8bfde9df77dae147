"""Notes over time, through the rules: what ends what, whatever the order in which they come."""

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


def test_a_relation_can_be_declared_to_have_several_values(kb: hopgate.KnowledgeBase) -> None:
    kb.add(
        Memory("m1", "Rosa lives in Porto.", created_at=day(1)), Memory("m2", "Rosa lives in Braga.", created_at=day(2))
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


# Since when a fact holds, by how it is told: a state, a change without a date, a date before another note's.


def on_day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def noted(kb: hopgate.KnowledgeBase, notes: dict[str, str], one_by_one: bool = False) -> None:
    """Add notes by the day on which they are written, and build."""
    made = [Memory(f"m{number}", text, created_at=on_day(when)) for number, (when, text) in enumerate(notes.items())]
    for batch in [[note] for note in made] if one_by_one else [made]:
        kb.add(*batch)
        kb.build()


def holds(kb: hopgate.KnowledgeBase, name: str, relation: str, as_of: str) -> list[str]:
    edges = kb.graph.edges(name, as_of=on_day(as_of))
    return [edge.target for edge in edges if (edge.source, edge.relation) == (name, relation)]


@pytest.mark.parametrize(
    "told",
    [
        "Moved Jellyfin to badger.",
        "Migrated Jellyfin to badger.",
        "Switched Jellyfin to badger.",
        "Jellyfin moved to badger.",
        "Jellyfin has been moved from otter to badger.",
        "Jellyfin: otter -> badger",
        "Jellyfin now runs on badger.",
        "Jellyfin runs on badger now.",
    ],
)
def test_a_change_without_a_date_is_of_the_day_it_is_told(kb: hopgate.KnowledgeBase, told: str) -> None:
    noted(kb, {"2024-05-10T11:30": told, "2024-06-03": "Jellyfin runs on badger."})
    assert "badger" not in holds(kb, "Jellyfin", "runs on", "2020-01-01")
    assert holds(kb, "Jellyfin", "runs on", "2024-05-11") == ["badger"]


@pytest.mark.parametrize(
    ("told", "name", "relation", "new"),
    [
        ("Lena now works at Bosch.", "Lena", "works at", "Bosch"),
        ("Lena joined Bosch.", "Lena", "works at", "Bosch"),
        ("Lena moved to Berlin.", "Lena", "lives in", "Berlin"),
        ("Lena lives in Berlin now.", "Lena", "lives in", "Berlin"),
        ("Priya now reports to Maribel.", "Priya", "reports to", "Maribel"),
        ("Anna took over Atlas from Marek.", "Atlas", "led by", "Anna"),
        ("The gym costs 42 euros now.", "gym", "costs", "42 euros"),
        ("Lena wohnt jetzt in Berlin.", "Lena", "lives in", "Berlin"),
    ],
)
def test_nothing_told_as_a_change_was_so_for_ever(
    kb: hopgate.KnowledgeBase, told: str, name: str, relation: str, new: str
) -> None:
    noted(kb, {"2024-05-10T11:30": told})
    assert new not in holds(kb, name, relation, "2020-01-01")
    assert holds(kb, name, relation, "2024-05-11") == [new]


@pytest.mark.parametrize(
    "notes",
    [
        {"2024-03-01": "Lena works at Siemens.", "2024-03-02": "Since February Lena works at Bosch."},
        {"2024-05-10T09:00": "Jellyfin runs on otter.", "2024-05-10T11:00": "Moved Jellyfin to badger."},
    ],
)
def test_what_was_over_before_it_was_noted_gives_way(kb: hopgate.KnowledgeBase, notes: dict[str, str]) -> None:
    noted(kb, notes)
    assert [(one.memory, one.gives_way) for one in kb.graph.curate() if one.gives_way] == [("m1", "m0")]


def test_what_is_told_of_the_past_takes_nobodys_place(kb: hopgate.KnowledgeBase) -> None:
    noted(kb, {"2024-03-01": "Lena works at Siemens.", "2024-03-02": "Lena joined BMW in 2019."})
    assert not [one for one in kb.graph.curate() if one.gives_way]
