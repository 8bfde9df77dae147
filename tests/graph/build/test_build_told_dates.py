"""Since when a fact holds, by how it is told: a state, a change without a date, a date before another note's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import hopgate
from hopgate.memory import Memory


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def noted(kb: hopgate.KnowledgeBase, notes: dict[str, str], one_by_one: bool = False) -> None:
    """Add notes by the day on which they are written, and build."""
    made = [Memory(f"m{number}", text, created_at=day(when)) for number, (when, text) in enumerate(notes.items())]
    for batch in [[note] for note in made] if one_by_one else [made]:
        kb.add(*batch)
        kb.build()


def holds(kb: hopgate.KnowledgeBase, name: str, relation: str, as_of: str) -> list[str]:
    edges = kb.graph.edges(name, as_of=day(as_of))
    return [edge.target for edge in edges if (edge.source, edge.relation) == (name, relation)]


@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize(
    "later",
    [
        "Since February Lena works at Bosch.",
        "Lena has worked at Bosch since February.",
        "Lena works at Bosch as of 1 February.",
    ],
)
def test_since_february_is_not_ended_by_an_undated_note_of_march(
    kb: hopgate.KnowledgeBase, later: str, one_by_one: bool
) -> None:
    noted(kb, {"2024-03-01": "Lena works at Siemens.", "2024-03-02": later}, one_by_one)
    assert [holds(kb, "Lena", "works at", when) for when in ("2024-01-15", "2024-02-15", "2024-06-01")] == [
        ["Siemens"],
        ["Bosch"],
        ["Bosch"],
    ]
    assert {(edge.target, edge.valid_to) for edge in kb.graph.edges("Lena")} >= {("Bosch", None)}
    # It is one fact of its memory's, and not two.
    assert len(kb.graph.memory("m1").facts) == 1


@pytest.mark.parametrize(
    "past",
    [
        "Lena worked at BMW in 2020.",
        "In 2020 Lena worked at BMW.",
        "Lena moved from BMW to Audi in 2019.",
        "Lena joined BMW in 2019.",
    ],
)
def test_a_note_about_the_past_does_not_end_what_is_so(kb: hopgate.KnowledgeBase, past: str) -> None:
    noted(kb, {"2024-03-01": "Lena works at Siemens.", "2024-03-02": past})
    assert holds(kb, "Lena", "works at", "2024-06-01") == ["Siemens"]


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


def test_a_state_without_a_date_was_so_before(kb: hopgate.KnowledgeBase) -> None:
    noted(kb, {"2024-05-10": "Jellyfin runs on badger."})
    assert holds(kb, "Jellyfin", "runs on", "2020-01-01") == ["badger"]


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_state_and_a_change_of_one_day_are_told_in_their_order(kb: hopgate.KnowledgeBase, one_by_one: bool) -> None:
    noted(
        kb,
        {
            "2024-05-10T09:00": "Jellyfin runs on otter.",
            "2024-05-10T11:00": "Moved Jellyfin to badger.",
            "2024-05-10T11:05": "The NAS is in the attic.",
            "2024-05-10T12:00": "Moved the NAS to the basement.",
        },
        one_by_one,
    )
    assert holds(kb, "Jellyfin", "runs on", "2024-05-09") == ["otter"]
    assert holds(kb, "Jellyfin", "runs on", "2024-05-11") == ["badger"]
    assert holds(kb, "NAS", "located in", "2024-05-11") == ["basement"]


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
