"""Names, identifiers and marks that a note has, by form and place, and what is none; and that any text can be read."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Source, State, sources
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import with_context
from hopgate.extract.rules.tokens import letter, tokenise
from hopgate.memory import Cleared, Memory

CASES = tomllib.loads(Path(__file__).with_name("notes.toml").read_text("utf-8"))


def extract(text: str, title: str = "", tags: tuple[str, ...] = (), keywords: tuple[str, ...] = ()) -> Extraction:
    memory = Memory("m1", text, title=title, tags=tags, expanded_keywords=keywords)
    return Phrases().extract(list(sources([memory])))[0]


def names(text: str) -> dict[str, str]:
    return {mention.name: mention.kind for mention in extract(text).mentions}


@pytest.mark.parametrize(("text", "name", "kind"), CASES["names"])
def test_a_name_is_found_with_the_kind_that_its_form_shows(text: str, name: str, kind: str) -> None:
    found = names(text)
    assert name in found
    assert not kind or found[name] == kind


@pytest.mark.parametrize(("text", "absent"), CASES["no_names"])
def test_grammar_days_and_ordinary_words_are_no_names(text: str, absent: list[str]) -> None:
    assert names(text).keys().isdisjoint(absent)


def test_title_tags_and_keywords_are_mentions() -> None:
    found = extract("It hums.", title="Mercury (planet)", tags=("home lab",), keywords=("noise",)).mentions
    assert [(mention.name, mention.kind) for mention in found][:3] == [
        ("home lab", "tag"),
        ("noise", "keyword"),
        ("Mercury (planet)", ""),
    ]


def test_a_name_that_one_note_introduces_is_found_in_another() -> None:
    notes = [Memory("m1", "mealie runs on onyx."), Memory("m2", "Rebooted onyx, twice.")]
    other = Phrases().extract(with_context(notes))[1]
    assert [(mention.name, mention.kind) for mention in other.mentions] == [("onyx", "host")]


def test_a_text_that_says_nothing_is_empty_and_says_why() -> None:
    extraction = extract("ok!")
    assert extraction.state is State.EMPTY and extraction.reason


def test_settings_are_the_identity() -> None:
    assert Phrases().identity.hash == Phrases().identity.hash
    assert Phrases().identity.hash != Phrases(changes=True).identity.hash


# Words that rules ask about: titles, roles, given names, days, amounts, marks, and German beside English.
WORDS = tokenise(
    "Ada of the NAS 2019 in March, . \" ( ) 's & is a runs on I May it 12 kW The \n X's J. and Sister Herr Frau Dr. "
    "Anna Mila Jonas Soul doctor landlord our my her unser Zahnarzt choir moved from to since last until by now Monday "
    "seit jetzt zieht nach läuft hat wohnt lives works at with for new € 40 April 9:30 - -> : ; / ? ... the Of He they"
)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=120)
    | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
    # So few that any three of them soon stand side by side.
    | st.lists(st.sampled_from(tokenise("Sister Herr Frau Dr. of the Anna Mila Soul It doctor and 14 .\n"))).map(
        " ".join
    )
)
def test_any_text_is_extracted_twice_alike_and_without_an_error_whatever_is_known(text: str) -> None:
    text = "".join(mark for mark in text if mark.isprintable())
    once, again = extract(text), extract(text)
    assert once == again
    assert len({mention.name for mention in once.mentions}) == len(once.mentions)
    assert "".join(tokenise(text)).replace(" ", "") == "".join(text.split())
    assert all(len(letter(token)) == 1 for token in tokenise(text))
    known = tuple((word.lower(), "") for word in sorted(set(tokenise(text))) if word.istitle())
    [told] = Phrases().extract([Source("m1", Cleared(text), created_at=datetime(2024, 2, 29, tzinfo=UTC), known=known)])
    assert all(mention.name.strip() for mention in (*once.mentions, *told.mentions))
