"""Later notes that name only what holds now ("Fatima takes over Hall 2"), as three notebooks told them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared


def read(text: str) -> Extraction:
    """What the rules find in one note."""
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    return found


def told(text: str) -> set[str]:
    """The facts of one note, as lines."""
    return {f"{fact.subject} | {fact.relation} | {fact.object}" for fact in read(text).facts}


def stated(text: str) -> set[str]:
    """What one note states of a thing, as lines."""
    return {f"{one.thing} | {one.relation} | {one.value}" for one in read(text).stated}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Nadia's first day at Brightwell Labs today.", "Nadia | works at | Brightwell Labs"),
        ("Ines has bought a house in Tavira and moved in.", "Ines | lives in | Tavira"),
        ("Die Miete liegt jetzt bei 780 Euro.", "miete | costs | 780 Euro"),
        ("Choir goes to Thursdays from March.", "choir | takes place | thursday"),
        ("Mutters Hausarzt ist Dr. Brandt.", "Mutter | has doctor | Dr. Brandt"),
    ],
)
def test_a_fact_is_told_without_what_was(text: str, fact: str) -> None:
    assert told(text) == {fact}


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Jonas has the loan of the tile cutter.", "tile cutter | lent to | Jonas"),
        ("Jonas has the tile cutter on loan.", "tile cutter | lent to | Jonas"),
        ("I have a new bridge partner, Jim Coakley.", "bridge partner | currently | Jim Coakley"),
        ("Fatima takes over Hall 2 as of today.", "Hall 2 | currently | Fatima"),
        ("Der Trog gehört jetzt Murat.", "trog | owned by | Murat"),
    ],
)
def test_a_change_is_stated_without_what_was(text: str, statement: str) -> None:
    assert stated(text) == {statement}
    assert all(one.is_change for one in read(text).stated)


@pytest.mark.parametrize(
    "text",
    [
        "Nadia's first day at school was awful.",
        "Ines has bought a house in Tavira as an investment.",
        "Die Wahrheit liegt irgendwo bei 50 Prozent.",
        "Jonas wants the loan of the tile cutter.",
        "I wish I had a new bridge partner, Jim Coakley is hopeless.",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert not told(text)
    assert not {one for one in read(text).stated if one.is_change}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The servers are in racks A to F. Marco Ricci has the keys.", "Marco Ricci"),
        ("The keys hang in room B. Tom has the others.", "Tom"),
        ("Der Flügel steht in Saal B. Hanna stimmt ihn.", "Hanna"),
        ("Asked P. James about it.", "P. James"),
    ],
)
def test_a_letter_that_ends_its_sentence_is_no_initial(text: str, name: str) -> None:
    assert name in {mention.name for mention in read(text).mentions}
