"""Facts as people note them: what a note of 10 August 2024 says to hold or to be over, and what it does not say."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path

import pytest

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import with_context
from hopgate.memory import Memory

CASES = tomllib.loads(Path(__file__).with_name("notes.toml").read_text("utf-8"))


def facts(*texts: str, thread: str = "") -> list[tuple[Fact, ...]]:
    """The facts of notes that were written one after the other."""
    notes = [
        Memory(f"m{hour}", text, created_at=datetime(2024, 8, 10, hour), thread=thread)
        for hour, text in enumerate(texts, start=9)
    ]
    return [extraction.facts for extraction in Phrases().extract(with_context(notes))]


def told(fact: Fact) -> str:
    """A fact as a row has it: "since –", "– until", or no dates; the day of the note is now."""
    dates = f" | {fact.valid_from or ''} – {fact.valid_to or ''}" if fact.valid_from or fact.valid_to else ""
    row = f"{fact.subject} | {fact.relation} | {fact.object}{dates}"
    return row.replace("|  –", "| –").replace("2024-08-10", "now").rstrip()


@pytest.mark.parametrize(("text", "expected"), CASES["facts"])
def test_a_note_gives_its_facts_with_their_dates(text: str, expected: str) -> None:
    [found] = facts(text)
    assert "; ".join(map(told, found)) == expected


@pytest.mark.parametrize("text", CASES["no_facts"])
def test_plans_visits_doubts_and_other_words_are_no_facts(text: str) -> None:
    assert facts(text) == [()]


def test_where_somebody_works_tells_what_a_move_is() -> None:
    _, moved, went = facts("Ingrid works at Kitron.", "Ingrid moved from Kitron Ltd to Simrad.", "Ingrid went to Oslo.")
    assert [(fact.relation, fact.object) for fact in moved][:1] == [("works at", "Simrad")]
    assert went == ()


def test_a_pronoun_is_somebody_or_something_of_the_turns_before() -> None:
    turns = facts("Kit: I live in Leeds", "Rosa: Henrik called", "Kit: he works at Nordlys", thread="t")
    assert ["; ".join(map(told, found)) for found in turns] == [
        "Kit | lives in | Leeds",
        "",
        "Henrik | works at | Nordlys",
    ]
    _, answer = facts("Ana: which box has authelia?", "Luis: it's on jade", thread="t")
    assert list(map(told, answer)) == ["authelia | runs on | jade"]
    assert facts("She works at Nordlys.") == [()]
