"""Dates as people write them, to ISO dates of the same precision: a day, a month or a year."""

from __future__ import annotations

import re
from calendar import monthrange
from functools import lru_cache

from hopgate.extract.rules.words import MONTHS

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_WORD = re.compile(r"\d+|[^\W\d_]+")


@lru_cache(maxsize=16384)
def iso(text: str) -> str | None:
    """Return a date in ISO form: a day, a month or a year; None where the text is no such thing.

    Examples
    --------
    >>> iso("8 March 1874"), iso("March 8th, 1874"), iso("Sept. 1982"), iso("2019"), iso("2024-02-30")
    ('1874-03-08', '1874-03-08', '1982-09', '2019', None)
    >>> iso("the 1990s") is iso("5 May") is None
    True
    """
    parts = _WORD.findall(text.lower())
    if _ISO.fullmatch(text):
        return checked(*text.split("-"))
    month = next((MONTHS[part] for part in parts if part in MONTHS), 0)
    # "²" and "①" are digits as well, and no numbers.
    numbers = [part for part in parts if part.isascii() and part.isdigit()]
    years = [number for number in numbers if len(number) == 4]
    days = [number for number in numbers if len(number) <= 2]
    words = [part for part in parts if part not in numbers and part not in MONTHS and part not in _ORDINALS]
    if not month or len(years) != 1 or len(days) > 1 or words:
        return None
    return checked(years[0], f"{month:02}", *(f"{int(day):02}" for day in days))


_ORDINALS = frozenset(("st", "nd", "rd", "th", "of"))


def checked(year: str, month: str = "", day: str = "") -> str | None:
    """Join the parts if the calendar has such a date; 29 February passes in leap years only, and no year is 0."""
    if not int(year):
        return None
    if not month:
        return year
    if not 1 <= int(month) <= 12:
        return None
    if not day:
        return f"{year}-{month}"
    _, longest = monthrange(int(year), int(month))
    return f"{year}-{month}-{day}" if 1 <= int(day) <= longest else None
