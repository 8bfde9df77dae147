"""Dates that no calendar has, digits that are no numbers, and days next to the first and the last."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.extraction import Source
from hopgate.extract.rules.dates import checked, date_spans, iso
from hopgate.extract.rules.names import read
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import with_context
from hopgate.memory import Cleared, Memory

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


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
    tokens = text.split()
    assert [span.iso for span in date_spans(tokens, [token.lower() for token in tokens], "en", written)] == found


def test_a_long_number_before_letters_is_read_at_once() -> None:
    """Each digit more had doubled the time."""
    (found,) = Phrases().extract([Source("m", Cleared("9" * 60 + "T2oh/cte came up."))])
    assert not found.facts


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("From September Lena works at Bosch.", "works at|Bosch|2024-09"),
        ("Lena starts at Bosch on 1 September.", "works at|Bosch|2024-09-01"),
        ("Ab September arbeitet Lena bei Bosch.", "works at|Bosch|2024-09"),
        # What began lately, or is over, does not lie ahead.
        ("From January Lena works at Bosch.", "works at|Bosch|2024-01"),
        ("Lena worked at Bosch from September to December.", "works at|Bosch|2023-09"),
    ],
)
def test_a_start_that_is_announced_lies_ahead(text: str, fact: str) -> None:
    note = Memory("m1", text, created_at=datetime(2024, 3, 2, tzinfo=UTC))
    [found] = Phrases().extract(with_context([note]))
    told = {f"{one.relation}|{one.object}|{one.valid_from}" for one in found.facts}
    assert fact in told


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The audit is on 15 November.", ["2024-11-15"]),
        ("The photo is from 15 November.", ["2023-11-15"]),
        ("Beta pushed from 3 December to 24 December.", ["2024-12-03", "2024-12-24"]),
    ],
)
def test_what_is_on_a_day_lies_ahead_and_a_range_in_one_year(text: str, days: list[str]) -> None:
    reading = read(Source("m1", Cleared(text), created_at=datetime(2024, 5, 4, tzinfo=UTC)))
    assert [span.name for span in reading.spans if span.form == "date"] == days


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The NAS moved to the cellar in March.", "2026-03"),
        ("In February Ada left Acme and went to Bosch.", "2026-02"),
        ("Gitea runs on birch since March.", "2026-03"),
        ("Since 4 March Gitea runs on birch.", "2026-03-04"),
        ("On 4 March we moved the NAS to the cellar.", "2026-03-04"),
        ("The NAS moved to the cellar in November.", "2026-11"),
        ("Seit März läuft Gitea auf birke.", "2026-03"),
        ("Im März sind wir nach Lübeck gezogen.", "2026-03"),
        # What is agreed upon may lie ahead, and what moved to a date does.
        ("We booked the house in Brittany for two weeks in March.", "2027-03"),
        ("The dentist moved my appointment to 4 March.", "2027-03-04"),
        ("Ada decided to move to Leeds in March.", "2027-03"),
        ("Am 4. Januar ist der Termin beim Amtsgericht.", "2027-01-04"),
        ("Ben left, Ada takes over on 1 March.", "2027-03-01"),
        ("My flight on 4 March was cancelled.", "2027-03-04"),
        ("The contract is up in July.", "2027-07"),
    ],
)
def test_what_has_happened_lies_behind(text: str, day: str) -> None:
    reading = read(Source("m", Cleared(text), created_at=datetime(2026, 11, 17, tzinfo=UTC)))
    assert [span.iso for span in date_spans(reading.tokens, reading.lower, reading.code, datetime(2026, 11, 17))] == [
        day
    ]


@pytest.mark.parametrize(
    ("day", "text", "fact"),
    [
        ("2024-09-18", "Cousin Leif started at Skagen Shipping on Monday.", "works at|Skagen Shipping|2024-09-16"),
        ("2024-10-14", "Immich runs on nas-2 since Saturday.", "runs on|nas-2|2024-10-12"),
        ("2024-10-14", "Immich runs on nas-2 since Monday.", "runs on|nas-2|2024-10-07"),
        ("2024-10-14", "Seit Samstag läuft Immich auf nas-2.", "runs on|nas-2|2024-10-12"),
        ("2024-05-20", "Duncan left Barclays and works at Monzo since last month.", "works at|Monzo|2024-04"),
        ("2024-01-20", "Since last month Immich runs on cedar.", "runs on|cedar|2023-12"),
        (
            "2024-06-20",
            "Mosquitto was migrated to pico by Dagny in April; before that it ran on tamarack.",
            "runs on|pico|2024-04",
        ),
        # What is to come has no day of those that are behind.
        ("2024-09-18", "Jo works at Acme from Monday.", "works at|Acme|None"),
    ],
)
def test_days_and_months_behind_have_no_date_of_their_own(day: str, text: str, fact: str) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime.fromisoformat(f"{day}T12:00Z"))]))
    assert fact in {f"{one.relation}|{one.object}|{one.valid_from}" for one in found.facts}


@pytest.mark.parametrize(
    "text",
    [
        "On Monday Ada starts at Acme.",
        "Rosa moved her lesson on Monday to Friday.",
        "Ada left early on Monday evenings.",
        "Montag ist Ada umgezogen.",
    ],
)
def test_weekdays_ahead_and_habits_are_no_dates(text: str) -> None:
    reading = read(Source("m", Cleared(text), created_at=datetime(2024, 9, 18, tzinfo=UTC)))
    assert not [span.name for span in reading.spans if span.form == "date"]


# What a cold review of weekdays and moves told in the same breath had found wrong.
@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Gitea moved to pine on Monday (2024-09-02).", "Gitea|runs on|pine|2024-09-02|None"),
        ("Ann started at Siemens on Monday (2 September).", "Ann|works at|Siemens|2024-09-02|None"),
        ("Ann started at Siemens on Monday in March.", "Ann|works at|Siemens|2024-03|None"),
        ("Dev leads Kestrel now, he joined in March.", "Kestrel|led by|Dev|2024-09-18|None"),
        ("Winnie lives in Tralee now, I moved from Cork in 2010.", "Winnie|lives in|Tralee|2024-09-18|None"),
    ],
)
def test_dates_that_stand_beside_weekdays_and_others_moves(text: str, fact: str) -> None:
    [found] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime(2024, 9, 18, tzinfo=UTC))]))
    said = {"|".join(map(str, (f.subject, f.relation, f.object, f.valid_from, f.valid_to))) for f in found.facts}
    assert fact in said


@pytest.mark.parametrize("text", ["The audit is due by noon on 3 March.", "Die Abgabe ist fällig bis etwa 3. März."])
def test_a_deadline_stays_ahead(text: str) -> None:
    reading = read(Source("m", Cleared(text), created_at=datetime(2024, 5, 10, tzinfo=UTC)))
    assert [span.name for span in reading.spans if span.form == "date"] == ["2025-03-03"]
