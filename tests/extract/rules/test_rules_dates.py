"""Dates in notes, with and without a year; dates that no calendar has, and days next to the first and the last."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hopgate.extract.extraction import Source
from hopgate.extract.rules.dates import checked, date_spans, iso
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import with_context
from hopgate.extract.rules.tokens import analysed
from hopgate.memory import Cleared, Memory

CASES = tomllib.loads(Path(__file__).with_name("notes.toml").read_text("utf-8"))
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def dates(text: str, written: datetime | None) -> list[str]:
    tokens, lower, _, code = analysed(text)
    return [span.iso for span in date_spans(tokens, lower, code, written)]


@pytest.mark.parametrize("written", [None, FIRST, LAST, datetime(2024, 2, 29, tzinfo=UTC)])
@pytest.mark.parametrize(
    "text",
    [
        "March 0 was fun.",
        "Since May 0th Gitea runs on birch.",
        "Ada moved to Leeds on ² May.",
        "①9 May 2024 Ada met Bea.",
        "Ada lives in Leeds since 2024-²-01.",
        "Ada moved to Leeds yesterday.",
        "See you next Tuesday in Leeds.",
        "Ada moved to Leeds last December.",
        "Bob starts at Acme next January.",
        "Rent due on 3 May.",
        "Ada lives in Leeds until the end of December.",
        # Each digit more had doubled the time.
        "9" * 60 + "T2oh/cte came up.",
    ],
)
def test_every_note_is_read(text: str, written: datetime | None) -> None:
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=written)])
    for fact in found.facts:
        for day in (fact.valid_from, fact.valid_to):
            assert day is None or (iso(day) == day and len(day) in (4, 7, 10))


def test_a_day_that_is_no_number_is_no_date() -> None:
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
def test_dates_at_the_ends_of_the_calendar(text: str, written: datetime | None, found: list[str]) -> None:
    assert dates(text, written) == found


@pytest.mark.parametrize(("day", "text", "found"), CASES["dates"])
def test_what_has_happened_lies_behind_and_what_is_due_ahead(day: str, text: str, found: list[str]) -> None:
    assert dates(text, datetime.fromisoformat(f"{day}T12:00Z")) == found


@pytest.mark.parametrize(("day", "text", "fact"), CASES["dated_facts"])
def test_a_fact_begins_when_its_note_says(day: str, text: str, fact: str) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime.fromisoformat(f"{day}T12:00Z"))]))
    assert fact in {f"{one.relation}|{one.object}|{one.valid_from}" for one in found.facts}
