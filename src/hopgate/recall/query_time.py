"""The time that a query asks about, where it says one: "in May 2024", "before the move". Pure.

It becomes an as-of only where that changes something, and leaves something: of the facts about what the query names,
some held then and some did not. In any other case a date is a word like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hopgate.extract.rules.dates import checked
from hopgate.extract.rules.words import LANGUAGES

Interval = tuple[datetime | None, datetime | None]

_MONTHS = {name: number for language in LANGUAGES.values() for name, number in language.months.items()}
_MONTH = "|".join(map(re.escape, sorted(_MONTHS, key=len, reverse=True)))
_DATE = (
    rf"(?:\d{{4}}-\d\d(?:-\d\d)?|(?:\d{{1,2}}(?:st|nd|rd|th|\.)? )?(?:{_MONTH})\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)?"
    r" \d{4}|(?:19|20)\d\d)(?![\w-])"
)
_DATES = re.compile(rf"(?<![\w-]){_DATE}", re.IGNORECASE)
_AT = re.compile(rf"\b(as of|during|in|on|im|am|en|before|vor|avant) (?:the year |dem )?({_DATE})", re.IGNORECASE)
_BEFORE = frozenset(("before", "vor", "avant"))
_EVENT = re.compile(
    r"\bbefore (?:(?:the|our|my|her|his|their|its) )?(?:move|moving|migration|migrating|switch|switching|relocation"
    r"|(?:it|she|he|they|we|i) (?:moved|migrated|switched|changed|was replaced))\b",
    re.IGNORECASE,
)
# These ask for a time, or for more than one moment.
_OTHER = re.compile(
    r"^\W*(?:when|since when|until when|how long|wann|seit wann|quand|cuándo)\b"
    r"|\b(?:since|after|from|between|until|till|by|seit|nach|ab|bis|depuis|après|desde|después)\b",
    re.IGNORECASE,
)
_MOMENT = timedelta(seconds=1)


class AskedTime(NamedTuple):
    """What the query says, and the moment it means; none where it means one before a change."""

    words: str
    moment: datetime | None


def asked_time(query: str) -> AskedTime | None:
    """Read the one time that a query asks about; None where it says none, or more than one, or asks for it.

    Examples
    --------
    >>> asked_time("Where did Gitea run in May 2024?")
    AskedTime(words='in May 2024', moment=datetime.datetime(2024, 5, 16, 0, 0, tzinfo=datetime.timezone.utc))
    >>> asked_time("who owned the wiki before 2023").moment.isoformat()
    '2022-12-31T23:59:59+00:00'
    >>> asked_time("where was the NAS before the move?")
    AskedTime(words='before the move', moment=None)
    >>> asked_time("When did we move in May 2024?") is asked_time("since 2019") is asked_time("tax 2023") is None
    True
    """
    text = " ".join(query.split())
    if _OTHER.search(text):
        return None
    dates = _DATES.findall(text)
    asked, event = _AT.search(text), _EVENT.search(text)
    if event is not None and not dates:
        return AskedTime(event[0], None)
    if asked is None or len(dates) != 1 or event is not None:
        return None
    date = _iso(asked[2])
    return AskedTime(asked[0], _moment(date, before=asked[1].lower() in _BEFORE)) if date else None


def as_of(asked: AskedTime, held: Sequence[Interval]) -> datetime | None:
    """Give the moment that facts should hold at, which held in these intervals; None where the time says nothing.

    Examples
    --------
    >>> first, second = datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    >>> moved = [(first, second), (second, None)]
    >>> as_of(AskedTime("before the move", None), moved).isoformat()
    '2023-12-31T23:59:59+00:00'
    >>> as_of(AskedTime("in 2023", first), moved) == first
    True
    >>> as_of(AskedTime("in 2023", first), [(second, None)]) is None
    True
    """
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


def _moment(date: str, *, before: bool) -> datetime:
    """The middle of a year or a month and the end of a day; or the last moment before it."""
    numbers = [int(part) for part in date.split("-")]
    year, month, day = (*numbers, 1, 1)[:3] if len(numbers) < 3 else numbers
    begin = datetime(year, month, day, tzinfo=UTC)
    if before:
        return begin - _MOMENT
    if len(numbers) == 1:
        return begin.replace(month=7)
    return begin.replace(day=16) if len(numbers) == 2 else begin + timedelta(days=1) - _MOMENT
