"""Notes over time, through the rules: what ends what, whatever the order in which they come."""

from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


def on(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def noted(kb: KnowledgeBase, stories: Iterable[dict[str, str]], *, one_by_one: bool = False, **options) -> None:
    """Add each story's notes, by the day on which they are written, in a scope of its own, and build."""
    made = [
        Memory(f"s{story}m{number}", text, scope=f"s{story}", created_at=on(day))
        for story, notes in enumerate(stories)
        for number, (day, text) in enumerate(notes.items())
    ]
    for batch in [[note] for note in made] if one_by_one else [made]:
        kb.add(*batch)
        kb.build(**options)


def holds(kb: KnowledgeBase, name: str, relation: str, as_of: str, story: int = 0) -> list[str]:
    edges = kb.graph.edges(as_of=on(as_of), scope=f"s{story}")
    return sorted(edge.target for edge in edges if (edge.source, edge.relation) == (name, relation))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_move_supersedes_whether_notes_come_together_or_one_by_one(kb, one_by_one):
    moved = {"2024-01-01": "mealie runs on onyx.", "2024-05-04": "Moved mealie from onyx to topaz on 3 May 2024."}
    noted(kb, [moved], one_by_one=one_by_one)
    assert holds(kb, "mealie", "runs on", "2024-03-01") == ["onyx"]
    assert holds(kb, "mealie", "runs on", "2024-06-01") == ["topaz"]
    hits = kb.recall("which host does mealie run on", k=2)
    assert {hit.external_id for hit in hits} == {"s0m0", "s0m1"}


def test_what_is_no_move_ends_nothing(kb):
    said = [
        "mealie would feel snappier on topaz.",
        "Is mealie on topaz now?",
        "A copy of mealie is on topaz now.",
        "Tried mealie on topaz, went back to onyx.",
        "mealie's database is on topaz now.",
        "mealie now backs up to topaz.",
    ]
    before = {"2024-01-01": "mealie runs on onyx.", "2024-02-01": "topaz runs jellyfin."}
    noted(kb, [{**before, "2024-05-01": text} for text in said])
    for story, text in enumerate(said):
        assert holds(kb, "mealie", "runs on", "2024-06-01", story) == ["onyx"], text


def test_a_relation_can_be_declared_to_have_several_values(kb):
    lived = {"2024-01-01": "Rosa lives in Porto.", "2024-02-01": "Rosa lives in Braga."}
    noted(kb, [lived], several_valued=["lives in"])
    assert holds(kb, "Rosa", "lives in", "2024-06-01") == ["Braga", "Porto"]


def test_a_name_that_becomes_known_later_is_linked_to_earlier_memories(kb):
    kb.add(Memory("m1", "The fan of topaz is loud.", created_at=on("2024-01-01")))
    kb.build()
    assert "topaz" not in {concept.name for concept in kb.graph.concepts()}
    kb.add(Memory("m2", "mealie runs on topaz.", created_at=on("2024-02-01")))
    kb.build()
    [topaz] = [concept for concept in kb.graph.concepts() if concept.name == "topaz"]
    assert topaz.memory_count == 2


CHANGES = [
    ("Jellyfin", "runs on", "badger", "Moved Jellyfin to badger."),
    ("Jellyfin", "runs on", "badger", "Jellyfin has been moved from otter to badger."),
    ("Jellyfin", "runs on", "badger", "Jellyfin: otter -> badger"),
    ("Jellyfin", "runs on", "badger", "Jellyfin now runs on badger."),
    ("Lena", "works at", "Bosch", "Lena joined Bosch."),
    ("Lena", "lives in", "Berlin", "Lena moved to Berlin."),
    ("Lena", "lives in", "Berlin", "Lena wohnt jetzt in Berlin."),
    ("Priya", "reports to", "Maribel", "Priya now reports to Maribel."),
    ("Atlas", "led by", "Anna", "Anna took over Atlas from Marek."),
    ("gym", "costs", "42 euros", "The gym costs 42 euros now."),
]


def test_a_change_without_a_date_is_of_the_day_it_is_told(kb):
    later = {"2024-06-03": "Jellyfin runs on badger."}
    noted(kb, [{"2024-05-10T11:30": text, **(later if name == "Jellyfin" else {})} for name, _, _, text in CHANGES])
    for story, (name, relation, new, text) in enumerate(CHANGES):
        assert new not in holds(kb, name, relation, "2020-01-01", story), text
        assert holds(kb, name, relation, "2024-05-11", story) == [new], text


def test_what_was_over_before_it_was_noted_gives_way_and_the_past_takes_nobodys_place(kb):
    stories = [
        {"2024-03-01": "Lena works at Siemens.", "2024-03-02": "Since February Lena works at Bosch."},
        {"2024-05-10T09:00": "Jellyfin runs on otter.", "2024-05-10T11:00": "Moved Jellyfin to badger."},
        {"2024-03-01": "Lena works at Siemens.", "2024-03-02": "Lena joined BMW in 2019."},
    ]
    noted(kb, stories)
    assert [(one.memory, one.gives_way) for one in kb.graph.curate() if one.gives_way] == [
        ("s0m1", "s0m0"),
        ("s1m1", "s1m0"),
    ]
