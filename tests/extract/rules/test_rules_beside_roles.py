"""Roles told in passing ("our landlord Mr Petrakis called"), and what else three notebooks showed of single notes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.extraction import DOUBTED, Extraction, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared


def read(text: str) -> Extraction:
    """What the rules find in one note."""
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    return found


def told(text: str) -> set[str]:
    """The facts of a note that are not tentative, as lines."""
    return {f"{fact.subject} | {fact.relation} | {fact.object}" for fact in read(text).facts}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Our landlord Mr Petrakis has raised the rent.", "I | has landlord | Mr Petrakis"),
        ("Our landlord, Mr Petrakis, came by.", "I | has landlord | Mr Petrakis"),
        ("Asked my accountant Wendy Frost about VAT.", "I | has accountant | Wendy Frost"),
        ("Anna's piano teacher Mr Okafor came.", "Anna | has piano teacher | Mr Okafor"),
        ("Unsere Rektorin Frau Dombrowski hat die Konferenz gelegt.", "I | has head teacher | Frau Dombrowski"),
        ("Gestern bei unserer Zahnärztin Dr. Merle gewesen.", "I | has dentist | Dr. Merle"),
    ],
)
def test_a_role_beside_a_name_counts_where_nothing_else_is_known(text: str, fact: str) -> None:
    assert told(text) == {fact}
    assert [one.confidence for one in read(text).facts] == [DOUBTED]


@pytest.mark.parametrize(
    "text",
    [
        "My dentist Dr Kaya has retired.",
        "My sister's dentist Dr Kaya is nice.",
        "My dentist Dr Kaya's sister lives next door.",
        "Our old landlord Mr Bell waved.",
        "Is our landlord Mr Bell coming?",
        "Our teachers Mrs Bell and Mr Orr waved.",
    ],
)
def test_a_role_of_another_or_one_that_is_over_is_none(text: str) -> None:
    assert not {fact for fact in told(text) if " | has " in fact}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Isla has violin with Mr Pascoe on Wednesdays.", {"Isla | has violin teacher | Mr Pascoe"}),
        ("Isla's new violin teacher is Ms Adeyemi.", {"Isla | has violin teacher | Ms Adeyemi"}),
        ("Emils neue Lehrerin ist Frau Baum.", {"Emil | has teacher | Frau Baum"}),
        ("Emil hat jetzt eine neue Lehrerin, Frau Baum.", {"Emil | has teacher | Frau Baum"}),
        ("Herr Kessler ist jetzt unser Rektor.", {"I | has head teacher | Herr Kessler"}),
        ("Gus manages Mile High Makers.", {"Mile High Makers | led by | Gus"}),
        ("Gus manages Petra and Tom.", {"Petra | reports to | Gus", "Tom | reports to | Gus"}),
        ("Cobalt Health is in the old Gates building.", set()),
        ("Steffi zahlt für den Hort von ihrer Mia jetzt 165 Euro im Monat.", set()),
        ("Steffi zahlt für den Hort ihrer Mia jetzt 165 Euro.", set()),
        ("Emils Hort kostet jetzt 140 Euro.", {"Emils Hort | costs | 140 Euro"}),
    ],
)
def test_facts(text: str, facts: set[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Quiz night at the Ring o' Bells.", {"Ring o' Bells"}),
        ("Den ganzen Nachmittag Äste geschnitten.", set()),
        ("Drei Abende hat das gedauert.", set()),
        ("He says no. Leave it.", set()),
        ("We meet at No. 5 Elm Street.", {"No. 5 Elm Street"}),
    ],
)
def test_names(text: str, names: set[str]) -> None:
    assert {mention.name for mention in read(text).mentions} == names


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "Martin has moved the family photos off the old laptop onto the NAS in the loft.",
            {("family photos", "NAS", "old laptop")},
        ),
        ("Crash trolley out of the sluice and into the alcove.", {("crash trolley", "alcove", "sluice")}),
        ("Emil hat einen neuen Trainer.", set()),
    ],
)
def test_what_is_told_of_things(text: str, stated: set[tuple[str, str, str]]) -> None:
    assert {(one.thing, one.value, one.former) for one in read(text).stated} == stated
