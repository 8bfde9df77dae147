"""The time that a query asks about, where it says one: "in May 2024", "before the move". Pure.

It is evidence for the memories that were made then, or nearly. It becomes an as-of only where that changes something,
and leaves something: of the facts about what the query names, some held then and some did not.
"""

import math
import re
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from hopgate.extract.rules.dates import checked
from hopgate.extract.rules.words import LANGUAGES

Interval = tuple[datetime | None, datetime | None]

_WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _any(role: str) -> str:
    """A pattern of any of a role's words, a longer one before what it begins with."""
    words = sorted((word.strip() for word in _WORDS[role].split(",")), key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\.", r"\w*").replace(r"\ ", r"\s+") for word in words)


_MONTHS = {name: number for language in LANGUAGES.values() for name, number in language.months.items()}
_MONTH = "|".join(map(re.escape, sorted(_MONTHS, key=len, reverse=True)))
_DATE = (
    rf"(?:\d{{4}}-\d\d(?:-\d\d)?|(?:\d{{1,2}}(?:st|nd|rd|th|\.)? )?(?:{_MONTH})\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)?"
    r" \d{4}|(?:19|20)\d\d)(?![\w-])"
)
_DATES = re.compile(rf"(?<![\w-]){_DATE}", re.IGNORECASE)
_AT = re.compile(rf"\b({_any('at')}|{_any('before')}) (?:the year |dem )?({_DATE})", re.IGNORECASE)
_BEFORE = re.compile(_any("before"), re.IGNORECASE)
_EVENT = re.compile(
    rf"\bbefore (?:(?:(?:the|our|my|her|his|their|its) )?(?:{_any('changes')})"
    rf"|(?:it|she|he|they|we|i) (?:{_any('changed')}))\b",
    re.IGNORECASE,
)
_OTHER = re.compile(rf"^\W*(?:{_any('when')})\b|\b(?:{_any('spans')})\b", re.IGNORECASE)
_NOW = re.compile(rf"\b(?:{_any('now')})\b", re.IGNORECASE)
_PAST = re.compile(rf"\b(?:{_any('past')})\b", re.IGNORECASE)
_MOMENT, _DAY = timedelta(seconds=1), timedelta(days=1)
# What happened is told within days: so much after or before the time asked about, a memory's date counts a third.
_NEAR = timedelta(days=7)


class AskedTime(NamedTuple):
    """What the query says, and when it means: from `begin` to `end`; open where it means before, or before a change."""

    words: str
    begin: datetime | None = None
    end: datetime | None = None

    @property
    def moment(self) -> datetime | None:
        """The last moment of a day or before a time, the middle of a month or a year; none where no time is said."""
        if self.begin is None or self.end is None or self.end - self.begin == _DAY:
            return self.end and self.end - _MOMENT
        return self.begin + (self.end - self.begin) / 2

    def nearness(self, time: datetime) -> float:
        """Give 1 for a time within, less the further away one is, and 0 where the query means all that was before."""
        if self.begin is None or self.end is None:
            return 0.0
        return math.exp(-(max(self.begin - time, time - self.end, timedelta(0)) / _NEAR))


def asked_time(query: str, now: datetime | None = None) -> AskedTime | None:
    """Read the one time that a query asks about; None where it says none, or more than one, or asks for it.

    "Today" and the like mean what is so `now`, by default by the clock.
    """
    text = " ".join(query.split())
    if _OTHER.search(text):
        return None
    dates = _DATES.findall(text)
    asked, event = _AT.search(text), _EVENT.search(text)
    if not dates and (present := _NOW.search(text)):
        return AskedTime(present[0], None, now or datetime.now(UTC))
    if event is not None and not dates:
        return AskedTime(event[0])
    if asked is None or len(dates) != 1 or event is not None:
        return None
    date = _iso(asked[2])
    if date is None:
        return None
    begin, end = _span(date)
    return AskedTime(asked[0], None, begin) if _BEFORE.fullmatch(asked[1]) else AskedTime(asked[0], begin, end)


def asks_for_past(query: str) -> bool:
    """Say whether a query asks for what was and names no time: then what is over is as good an answer."""
    return bool(_PAST.search(query)) and not _NOW.search(query)


def as_of(asked: AskedTime, held: Sequence[Interval]) -> datetime | None:
    """Give the moment that facts should hold at, which held in these intervals; None where the time says nothing."""
    ends = {end for _, end in held if end is not None}
    moment = asked.moment
    if moment is None:
        moment = min(ends) - _MOMENT if len(ends) == 1 else None
    if moment is None:
        return None
    holding = [(begin is None or begin <= moment) and (end is None or end > moment) for begin, end in held]
    return moment if any(holding) and not all(holding) else None


def _iso(date: str) -> str | None:
    """A date as the pattern has it, in ISO form; None where there is no such day."""
    if "-" in date:
        return checked(*date.split("-"))
    *numbers, year = re.findall(r"\d+", date)
    month = next((number for word in date.lower().split() if (number := _MONTHS.get(word.rstrip(".,")))), 0)
    return checked(year, *([f"{month:02d}"] if month else []), *(number.zfill(2) for number in numbers[:1]))


def _span(date: str) -> tuple[datetime, datetime]:
    """Where a year, a month or a day begins and ends."""
    year, month, day = [*map(int, date.split("-")), 0, 0][:3]
    begin = datetime(year, month or 1, day or 1, tzinfo=UTC)
    if day:
        return begin, begin + _DAY
    return begin, begin.replace(year=year + (month in (0, 12)), month=month % 12 + 1 if month else 1)
