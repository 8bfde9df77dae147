"""What the rules find in notes: names and what is none, facts and when they hold, dates; and that any text is read."""

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Fact, Source, State, sources
from hopgate.extract.rules.dates import checked, date_spans, iso
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import Survey, with_turns
from hopgate.extract.rules.tokens import analysed, letter, tokenise
from hopgate.memory import Cleared, Memory

CASES = tomllib.loads(Path(__file__).with_name("notes.toml").read_text("utf-8"))


def together(*memories: Memory) -> list[Extraction]:
    """What is found in memories that know of each other."""
    read, survey = with_turns(memories), Survey()
    for source in read:
        survey.add(source)
    return Phrases().extract([replace(source, known=survey.known(source)) for source in read])


# Names.


def extract(text: str, title: str = "", tags: tuple[str, ...] = (), keywords: tuple[str, ...] = ()) -> Extraction:
    memory = Memory("m1", text, title=title, tags=tags, expanded_keywords=keywords)
    return Phrases().extract(list(sources([memory])))[0]


def names(extraction: Extraction) -> dict[str, str]:
    return {mention.name: mention.kind for mention in extraction.mentions}


@pytest.mark.parametrize(("text", "name", "kind"), CASES["names"])
def test_a_name_is_found_with_the_kind_that_its_form_shows(text, name, kind):
    assert names(extract(text))[name] == kind or not kind


@pytest.mark.parametrize(("text", "absent"), CASES["no_names"])
def test_grammar_days_and_ordinary_words_are_no_names(text, absent):
    assert names(extract(text)).keys().isdisjoint(absent)


def test_title_tags_keywords_and_what_another_note_introduces_are_names():
    found = extract("It hums.", title="Mercury (planet)", tags=("home lab",), keywords=("noise",))
    assert names(found) == {"home lab": "tag", "noise": "keyword", "Mercury (planet)": ""}
    _, other = together(Memory("m1", "mealie runs on onyx."), Memory("m2", "Rebooted onyx, twice."))
    assert names(other) == {"onyx": "host"}
    nothing = extract("ok!")
    assert nothing.state is State.EMPTY and nothing.reason


# Words that rules ask about: titles, roles, given names, days, amounts, marks, and German beside English.
WORDS = tokenise(
    "Ada of the NAS 2019 in March, . \" ( ) 's & is a runs on I May it 12 kW The \n X's J. and Sister Herr Frau Dr. "
    "Anna Mila Jonas Soul doctor landlord our my her unser Zahnarzt choir moved from to since last until by now Monday "
    "seit jetzt zieht nach läuft hat wohnt lives works at with for new € 40 April 9:30 - -> : ; / ? ... the Of He they"
)
# So few that any three of them soon stand side by side.
FEW_WORDS = tokenise("Sister Herr Frau Dr. of the Anna Mila Soul It doctor and 14 .\n")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=120) | st.sampled_from([WORDS, FEW_WORDS]).flatmap(
    lambda words: st.lists(st.sampled_from(words), max_size=12).map(" ".join)
))  # fmt: skip
def test_any_text_is_extracted_twice_alike_and_without_an_error_whatever_is_known(text):
    text = "".join(mark for mark in text if mark.isprintable())
    once, again = extract(text), extract(text)
    assert once == again
    assert len(names(once)) == len(once.mentions)
    assert "".join(tokenise(text)).replace(" ", "") == "".join(text.split())
    assert all(len(letter(token)) == 1 for token in tokenise(text))
    known = tuple((word.lower(), "") for word in sorted(set(tokenise(text))) if word.istitle())
    [told] = Phrases().extract([Source("m1", Cleared(text), created_at=datetime(2024, 2, 29, tzinfo=UTC), known=known)])
    assert all(mention.name.strip() for mention in (*once.mentions, *told.mentions))


# Facts: what a note of 10 August 2024 says to hold or to be over, and what it does not say.


def facts(*texts: str, thread: str = "") -> list[list[str]]:
    """The facts of notes that were written one after the other, as rows have them."""
    notes = [
        Memory(f"m{hour}", text, created_at=datetime(2024, 8, 10, hour), thread=thread)
        for hour, text in enumerate(texts, start=9)
    ]
    return [list(map(in_a_row, extraction.facts)) for extraction in together(*notes)]


def in_a_row(fact: Fact) -> str:
    """A fact as a row has it: "since –", "– until", or no dates; the day of the note is now."""
    dates = f" | {fact.valid_from or ''} – {fact.valid_to or ''}" if fact.valid_from or fact.valid_to else ""
    row = f"{fact.subject} | {fact.relation} | {fact.object}{dates}"
    return row.replace("|  –", "| –").replace("2024-08-10", "now").rstrip()


@pytest.mark.parametrize(("text", "expected"), CASES["facts"])
def test_a_note_gives_its_facts_with_their_dates(text, expected):
    [found] = facts(text)
    assert "; ".join(found) == expected


@pytest.mark.parametrize("text", CASES["no_facts"])
def test_plans_visits_doubts_and_other_words_are_no_facts(text):
    assert facts(text) == [[]]


def test_what_other_notes_and_the_turns_before_say_is_known():
    _, moved, went = facts("Ingrid works at Kitron.", "Ingrid moved from Kitron Ltd to Simrad.", "Ingrid went to Oslo.")
    assert moved[0] == "Ingrid | works at | Simrad | now –" and went == []
    turns = facts("Kit: I live in Leeds", "Rosa: Henrik called", "Kit: he works at Nordlys", thread="t")
    assert turns == [["Kit | lives in | Leeds"], [], ["Henrik | works at | Nordlys"]]
    _, answer = facts("Ana: which box has authelia?", "Luis: it's on jade", thread="t")
    assert answer == ["authelia | runs on | jade"]
    assert facts("She works at Nordlys.") == [[]]


# Dates, with and without a year; dates that no calendar has, and days next to the first and the last.

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def dates(text: str, written: datetime | None) -> list[str]:
    tokens, lower, _, code = analysed(text)
    return [span.iso for span in date_spans(tokens, lower, code, written)]


@pytest.mark.parametrize("written", [None, FIRST, LAST, datetime(2024, 2, 29, tzinfo=UTC)])
@pytest.mark.parametrize("text", CASES["odd_dates"])
def test_every_note_is_read(text, written):
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=written)])
    for fact in found.facts:
        for day in (fact.valid_from, fact.valid_to):
            assert day is None or (iso(day) == day and len(day) in (4, 7, 10))


def test_a_day_that_is_no_number_is_no_date():
    assert iso("² May 2024") is iso("May ² 2024") is iso("٣ May 2024") is iso("٢٠٢٤") is None
    assert checked("0000") is checked("0000", "05", "03") is None


@pytest.mark.parametrize(
    ("text", "written", "found"),
    [
        ("the end of February", datetime(2024, 1, 5), ["2024-02-29"]),
        ("the end of December 2023", None, ["2023-12-31"]),
        ("on 3 May", LAST, ["9999-05-03"]),
        ("on 3 May", FIRST, ["0001-05-03"]),
        ("yesterday", FIRST, []),
        ("tomorrow", LAST, []),
    ],
)
def test_dates_at_the_ends_of_the_calendar(text, written, found):
    assert dates(text, written) == found


@pytest.mark.parametrize(("day", "text", "found"), CASES["dates"])
def test_what_has_happened_lies_behind_and_what_is_due_ahead(day, text, found):
    assert dates(text, datetime.fromisoformat(f"{day}T12:00Z")) == found


@pytest.mark.parametrize(("day", "text", "fact"), CASES["dated_facts"])
def test_a_fact_begins_when_its_note_says(day, text, fact):
    [found] = together(Memory("m1", text, created_at=datetime.fromisoformat(f"{day}T12:00Z")))
    assert fact in {f"{one.relation}|{one.object}|{one.valid_from}" for one in found.facts}
