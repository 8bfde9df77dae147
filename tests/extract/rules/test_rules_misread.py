"""Notes of which a fact was once read that they do not state: adverbs, events and older things taken for names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from test_rules_told_changes import held

from hopgate.extract.context import with_context
from hopgate.extract.extraction import Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared, Memory


def facts(*texts: str) -> set[tuple[str, str, str]]:
    """What the last of some notes states."""
    notes = [
        Memory(f"m{number}", text, created_at=datetime(2024, 3, number + 1, tzinfo=UTC))
        for number, text in enumerate(texts)
    ]
    last = Phrases().extract(with_context(notes))[-1]
    return {(fact.subject, fact.relation, fact.object) for fact in last.facts}


@pytest.mark.parametrize(
    "text",
    [
        "Paperless läuft testweise auf buche.",
        "Testweise läuft Paperless auf buche.",
        "Läuft testweise auf buche.",
        "testweise auf buche: Paperless",
        "Paperless läuft probeweise auf buche.",
        "Paperless läuft vorläufig auf buche.",
        "Paperless läuft vorübergehend auf buche.",
        "Paperless draait tijdelijk op buche.",
        "Paperless tourne provisoirement sur buche.",
    ],
)
def test_an_adverb_is_no_service(text: str) -> None:
    assert facts("Immich läuft auf buche.", text) == set()


@pytest.mark.parametrize(
    ("before", "while_it_lasts", "relation", "subject", "stays"),
    [
        ("Jellyfin runs on otter.", "For the time being Jellyfin runs on badger.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Jellyfin runs on badger for the time being.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Temporarily Jellyfin runs on badger.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Jellyfin runs on badger temporarily.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Moved Jellyfin to badger temporarily.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Moved Jellyfin to badger for the time being.", "runs on", "jellyfin", "otter"),
        ("Jellyfin runs on otter.", "Jellyfin is on badger for the moment.", "runs on", "jellyfin", "otter"),
        ("Lena lives in Bonn.", "Lena lives in Leeds temporarily.", "lives in", "lena", "bonn"),
        ("Lena lives in Bonn.", "Lena is temporarily living in Leeds.", "lives in", "lena", "bonn"),
        ("Lena wohnt in Bonn.", "Lena wohnt vorläufig in Leeds.", "lives in", "lena", "bonn"),
        ("Lena wohnt in Bonn.", "Lena wohnt vorübergehend in Leeds.", "lives in", "lena", "bonn"),
        ("Lena woont in Bonn.", "Lena woont tijdelijk in Leeds.", "lives in", "lena", "bonn"),
        ("Lena works at Bosch.", "For the time being Lena works at Siemens.", "works at", "lena", "bosch"),
        ("Atlas is led by Marek.", "Atlas is temporarily led by Ines.", "led by", "atlas", "marek"),
        ("Atlas is led by Marek.", "Atlas is led by Ines for the time being.", "led by", "atlas", "marek"),
    ],
)
def test_what_is_so_for_the_time_being_ends_nothing(
    before: str, while_it_lasts: str, relation: str, subject: str, stays: str
) -> None:
    assert held((before, while_it_lasts), subject, relation) == [{stays}, {stays}]


@pytest.mark.parametrize(
    ("before", "old", "relation"),
    [
        ("The NAS is in the attic.", "The old NAS is in the basement.", "located in"),
        ("The NAS is in the attic.", "Moved the old NAS to the basement.", "located in"),
        ("The NAS is in the attic.", "My old NAS is in the shed now.", "located in"),
        ("The NAS belongs to Tom.", "The old NAS belongs to Mia now.", "owned by"),
        ("The NAS is in the attic.", "The previous NAS is in the basement now.", "located in"),
        ("Das NAS steht im Keller.", "Das alte NAS steht jetzt im Schuppen.", "located in"),
    ],
)
def test_the_old_one_is_another_thing(before: str, old: str, relation: str) -> None:
    first, later = held((before, old), "nas", relation)
    assert first and later == first
    assert not {fact for fact in facts(before, old) if fact[0] == "NAS"}


def test_the_old_one_is_known_by_that_name() -> None:
    assert facts("Sold the old NAS to Tom.") == {("old NAS", "sold to", "Tom")}
    assert facts("The old NAS is in the basement.") == {("old NAS", "located in", "basement")}
    # What it moves away from is where it was so far, whatever that is called now.
    assert ("Jellyfin", "runs on", "badger") in facts("Moved Jellyfin from the old NAS to badger.")


def test_a_price_elsewhere_is_not_the_price_here() -> None:
    for there in ("Netflix in Turkey costs 3 €.", "Netflix in Turkey now costs 3 €."):
        assert held(("Netflix costs 15 €.", there), "netflix", "costs")[1] == {"15 €"}
    assert held(("The gym costs 35 €.", "The gym costs 42 € now."), "gym", "costs")[1] == {"42 €"}


@pytest.mark.parametrize(
    "note",
    [
        "Reorg: Anna leaves Maria's group, who takes over is open.",
        "Reorg: Anna has been handed over by Maria.",
        "Anna was reassigned in the Reorg, Maria took it well.",
        "The Reshuffle took Anna out of Maria's hands.",
    ],
)
def test_nobody_reports_to_an_event(note: str) -> None:
    first, later = held(("Anna reports to Maria.", note), "anna", "reports to")
    assert first == {"maria"} and later <= {"maria"}


def test_a_year_is_no_part_of_a_name() -> None:
    assert facts("Since 2019 Lena has lived in Berlin.") == {("Lena", "lives in", "Berlin")}
    assert facts("In 2019 Lena moved to Berlin.") == {("Lena", "lives in", "Berlin")}


def test_a_birthday_is_somebodys() -> None:
    assert facts("My birthday is on 3 May.") == set()
    assert facts("Birthday on 3 May!") == set()
    assert facts("Mia's birthday is on 12 June.") == {("Mia's birthday", "takes place", "2024-06-12")}


@pytest.mark.parametrize(
    "note",
    ["badger upgraded to 15", "Upgraded badger to 15.", "badger: version 15", "badger: 14 -> 15"],
)
def test_a_host_has_no_version_of_what_runs_on_it(note: str) -> None:
    assert "has version" not in {relation for _, relation, _ in facts("Jellyfin runs on badger.", note)}


@pytest.mark.parametrize(
    "text",
    [
        "Gus: my brother works at Aldi now, we are enemies",
        "Gus: my wife's team works at Aldi now",
        "Gus: my neighbour works at Aldi now",
        "Gus: my colleague lives in Leiden now",
    ],
)
def test_what_a_speaker_tells_of_somebody_else_is_not_the_speakers(text: str) -> None:
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 1, tzinfo=UTC))])
    assert not [fact for fact in (*found.facts, *found.tentative) if fact.subject == "Gus"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Anna lives in Bo's flat.", ("Anna", "lives in", "Bo")),
        ("The studio is owned by Ann's mother.", ("studio", "owned by", "Ann")),
        ("Cecily has been working for a fortnight.", ("Cecily", "works at", "fortnight")),
        ("Rita Shaw took on the job of secretary from Ken Odell.", ("job", "owned by", "Rita Shaw")),
        ("Cousin Freya and Callum got divorced; she's married to Anders.", ("Callum", "married to", "Anders")),
    ],
)
def test_who_has_it_or_how_long_is_not_what_it_is(text: str, fact: tuple[str, str, str]) -> None:
    assert fact not in facts(text)


@pytest.mark.parametrize("name", ["Mo", "Al", "Kit", "Tash"])
def test_a_short_name_before_a_colon_speaks(name: str) -> None:
    assert (name, "lives in", "Camden") in facts(f"{name}: I live in Camden btw")
    assert (name, "lives in", "Peckham") in facts(f"{name}: moved to Peckham on saturday!!")


def test_a_seller_is_no_owner_any_more_and_a_buyer_is() -> None:
    notes = ("Number 14 is owned by the Baxters.", "The Baxters have sold number 14 to the Nowaks.")
    assert held(notes, "number 14", "owned by") == [{"baxters"}, {"nowaks"}]
