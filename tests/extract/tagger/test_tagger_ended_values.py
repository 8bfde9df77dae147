"""What the tagger sees in two notes together."""

from __future__ import annotations

import pytest

from hopgate.extract.extraction import Source
from hopgate.extract.tagger.change_tagger import FORMER, compared
from hopgate.extract.tagger.ended_values import ended_by
from hopgate.extract.tagger.same_words import found_in
from hopgate.extract.tagger.tagged_spans import TaggedSpan
from hopgate.memory import Cleared


def ended(earlier: str, later: str) -> tuple[str, str, str] | None:
    made = ended_by(*(Source(text, Cleared(text)) for text in (earlier, later)))
    return made and (made.thing, made.former, made.value)


@pytest.mark.parametrize(
    ("earlier", "later", "thing", "former", "value"),
    [
        ("The ferry desk is part of Pier 4.", "Split done, the ferry desk is now part of Pier 9.",
         "ferry desk", "Pier 4", "Pier 9"),
        ("Violin lessons are with Mr Osei.", "Mr Osei has retired, so violin lessons are with Frau Kern from now on.",
         "Violin lessons", "Mr Osei", "Frau Kern"),
        ("Our internet is with Plusnet.", "Dropped Plusnet, our internet is with Zen from today on.",
         "internet", "Plusnet", "Zen"),
        ("Unser Hausarzt ist Dr. Lohse.", "Dr. Lohse hat aufgehört, unser Hausarzt ist jetzt Dr. Berg.",
         "Hausarzt", "Dr. Lohse", "Dr. Berg"),
        ("Dean is head baker.", "Dean left us on Friday. Magda is head baker now.", "head baker", "Dean", "Magda"),
        ("We buy our toner from Inkwell Supplies.",
         "Switched toner supplier from Inkwell Supplies to Brightprint, they're cheaper by a third.",
         "toner", "Inkwell Supplies", "Brightprint"),
        ("Kate's cello is stored at Grandpa's.", "Kate's cello came home from Grandpa's and stays in her bedroom now.",
         "Kate's cello", "Grandpa's", "bedroom"),
        ("Der Router ist eine Fritzbox 7490.", "Fritzbox 7490 ersetzt durch eine Fritzbox 7590 AX.",
         "Router", "Fritzbox 7490", "Fritzbox 7590 AX"),
    ],
)  # fmt: skip
def test_a_later_note_ends_what_the_earlier_says(earlier: str, later: str, thing: str, former: str, value: str) -> None:
    assert ended(earlier, later) == (thing, former, value)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The ferry desk is part of Pier 4.", "The ferry desk might become part of Pier 9 next year."),
        ("The ferry desk is part of Pier 4.", "Moved Grafana to port 3300."),
        ("Violin lessons are with Mr Osei.", "Mr Osei is ill this week, Frau Kern stands in for him."),
        ("Grafana answers on port 3000.", "Grafana is so slow today."),
        ("Dad's phone is a Pixel 6.", "Mum replaced her Pixel 6 with a Fairphone 5."),
        ("Dr Haines is Mrs Tully's consultant.", "Mrs Tully's care taken over by Dr Rahman, Dr Haines has retired."),
        ("Mum's will is in the safe.", "A photocopy of Mum's will is now at the notary's office."),
    ],
)  # fmt: skip
def test_what_ends_nothing(earlier: str, later: str) -> None:
    assert ended(earlier, later) is None


def test_days_and_amounts_are_as_the_rules_write_them() -> None:
    made = ended_by(*(Source(text, Cleared(text)) for text in ("Rent is 900 euros.", "Rent has gone up to 990 euros.")))
    assert made
    assert (made.former, made.former_relation, made.value, made.relation) == (
        "900 euros", "amounts to", "990 euros", "amounts to"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("earlier", "later", "sort"),
    [
        ("Sofia: my desk is in office 3.17", "Sofia: they put me in a different office, my desk is in 2.05 now", "is"),
        ("We open at 7 on weekdays.", "New opening time: 6:30 on weekdays instead of 7.", "scheduled for"),
        ("The finance team sits in room 3.12.", "Finance team has moved to room 5.04.", "is"),
        ("Unser Standup ist um 9:15.", "Ab heute ist das Standup um 10 Uhr, 9:15 war zu früh.", "scheduled for"),
    ],
)
def test_two_values_are_of_one_sort(earlier: str, later: str, sort: str) -> None:
    made = ended_by(*(Source(text, Cleared(text)) for text in (earlier, later)))
    assert made
    assert {made.former_relation, made.relation} == {sort}


def test_who_speaks_is_no_value() -> None:
    made = ended("Ola: the spare key is with Mrs Abara", "Ola: the spare key is in the lockbox now, not with Mrs Abara")
    assert made
    assert made[1:] == ("Mrs Abara", "lockbox")


@pytest.mark.parametrize("text", ["", " ", "🦊", "word " * 2000, "一二三"])
def test_any_two_texts_are_read(text: str) -> None:
    assert 0 <= compared(text, "The ladder is in the basement now.").end <= 1
    assert 0 <= compared("The ladder is in the attic.", text).end <= 1


def test_what_is_over_is_found_where_letters_before_it_grow_when_folded() -> None:
    spans = found_in("Straße und Spaß: Frau Vogt gibt Klavier.", [TaggedSpan(FORMER, "frau vogt", 0, 0.9)])
    assert [(span.text, span.start) for span in spans] == [("Frau Vogt", 17)]
