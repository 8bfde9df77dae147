"""Dates in a note, as people write them: absolute, without a year, relative to the day of the note."""

from __future__ import annotations

from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from typing import NamedTuple

from hopgate.extract.dates import checked
from hopgate.extract.rules.date_years import AHEAD, RANGE, WAS, year_of
from hopgate.extract.rules.days_by_name import FEASTS, day_by_name
from hopgate.extract.rules.language_tables import LANGUAGES, Language
from hopgate.extract.rules.words import words

_BETWEEN = frozenset(("de", "of", "."))
_ENDS = frozenset(("end", "ende", "fin", "fine", "eind", "final", "finales"))
# In lower case these are no months by themselves, and shorter forms neither.
_MAY_BE_WORDS = frozenset(("may", "march", "mar"))
_SHORT_MONTH = 3
_WHOLE = len("2024-05-03")
_BEFORE_DAYS = words("on since from until till by due of")
_BEFORE_DIGITS = words("am vom zum bis ab seit")
_NO_DATES = words("uhr euro eur € % h")
# What may follow a day of the month: "due on the 14th now", but not "the 2nd day", nor "the 1st of each month".
_AFTER_DAYS = words(", . ; ! ? ) ¶ now instead at and but not right")
_ORDINALS = ("st", "nd", "rd", "th", "er", "º")


class DateSpan(NamedTuple):
    """Tokens ``start`` to ``end`` are a date, in ISO form as precise as it was written."""

    start: int
    end: int
    iso: str


def date_spans(tokens: list[str], lower: list[str], code: str, written: datetime | None) -> list[DateSpan]:
    """Find the dates of a text, left to right.

    Examples
    --------
    >>> tokens = "Moved on 3 May 2024 , not last June , and since March .".split()
    >>> [span.iso for span in date_spans(tokens, [token.lower() for token in tokens], "en", datetime(2024, 9, 1))]
    ['2024-05-03', '2024-06', '2024-03']
    """
    language = LANGUAGES[code]
    day = written.date() if written else None
    found: list[DateSpan] = []
    end = 0
    for at, word in enumerate(lower):
        of_dates = word in language.of_dates or word in language.days or word in FEASTS
        if at < end or not (of_dates or _is_number(word[0])):
            continue
        # "From 3 May to 24 May": of one year.
        ranged = found and end == at - 1 and lower[at - 1] in RANGE and len(found[-1].iso) == _WHOLE
        if span := _date_at(tokens, lower, at, language, date.fromisoformat(found[-1].iso) if ranged else day):
            found.append(span)
            end = span.end
    return found


def _date_at(tokens: list[str], lower: list[str], at: int, language: Language, day: date | None) -> DateSpan | None:
    word = lower[at]
    first = word[0]
    if _is_number(first):
        return _from_number(tokens, lower, at, language, day)
    if word in language.months and _is_month(tokens, lower, at, language.code):
        return _from_month(tokens, lower, at, language, day)
    if day is None:
        return None
    if word in language.shifts:
        return _shifted(at, at + 1, day, language.shifts[word])
    if named := day_by_name(lower, at, language, day):
        return DateSpan(at, *named)
    way = (word in language.next) - (word in language.last)
    return _relative(tokens, lower, at, language, day, way) if way else None


def _is_month(tokens: list[str], lower: list[str], at: int, code: str) -> bool:
    """Whether a word is a month, and not a verb: "since may 30", but not "30 may come"."""
    word = lower[at]
    if tokens[at][0].isupper() or code not in ("en", "de"):
        return True
    if code == "de" or word not in _MAY_BE_WORDS:
        return code == "en" and len(word) > _SHORT_MONTH
    day = lower[at + 1 : at + 2]
    before = lower[at - 1] if at else ""
    return before in _BEFORE_DAYS and bool(day) and _is_number(day[0]) and len(day[0]) <= 2


def _from_number(tokens: list[str], lower: list[str], at: int, language: Language, day: date | None) -> DateSpan | None:  # noqa: PLR0911
    word = lower[at]
    if len(word) in (7, 10) and word[4:5] == "-" and _is_number(word.replace("-", "")):
        iso = checked(*word.split("-"))
        return DateSpan(at, at + 1, iso) if iso else None
    if word.count(".") == 2 and len(word) <= 10 and _is_number(word.replace(".", "")):
        parts = word.split(".")
        if len(parts[2]) == 4:
            iso = checked(parts[2], parts[1].zfill(2), parts[0].zfill(2))
            return DateSpan(at, at + 1, iso) if iso else None
        return None
    if language.code == "de" and word.count(".") == 1 and (span := _in_digits(lower, at, day)):
        return span
    if _is_year(lower, at):
        return DateSpan(at, at + 1, word)
    number = word
    for ending in _ORDINALS:
        number = number.removesuffix(ending)
    if not (len(number) <= 2 and _is_number(number)):
        return None
    after = at + 1
    while after < len(tokens) and after < at + 3 and lower[after] in _BETWEEN:
        after += 1
    if (
        after >= len(tokens)
        or lower[after] not in language.months
        or not _is_month(tokens, lower, after, language.code)
    ):
        return _of_this_month(lower, at, int(number), day) if number != word else None
    month, end, year = language.months[lower[after]], after + 1, ""
    if end < len(tokens) and lower[end] in _BETWEEN | {","} and _is_year(lower, end + 1):
        end += 1
    if _is_year(lower, end):
        year, end = lower[end], end + 1
    return _dated(at, end, year, month, number, day, lower)


def _in_digits(lower: list[str], at: int, day: date | None) -> DateSpan | None:
    """A day and a month in digits, "am 12.05." and "bis 3.6."; "ab 2.4" may be a version."""
    number, _, month = lower[at].partition(".")
    before, after = lower[at - 1] if at else "", lower[at + 1] if at + 1 < len(lower) else ""
    closed = after == "." and at + 2 < len(lower)
    certain = closed or (len(month) == 2 and before not in ("ab", "seit"))
    if before not in _BEFORE_DIGITS or not certain or after in _NO_DATES:
        return None
    if not (_is_number(number) and _is_number(month) and 1 <= int(number) <= 31 and 1 <= int(month) <= 12):
        return None
    span = _dated(at, at + 1 + closed, "", int(month), number, day, lower)
    return None if before == "seit" and span and day and span.iso > day.isoformat() else span


def _of_this_month(lower: list[str], at: int, number: int, day: date | None) -> DateSpan | None:
    """A day of this month or the next, of what lies ahead: "due on the 14th", "by the 3rd"."""
    before, after = lower[max(0, at - 5) : at], lower[at + 1 : at + 2]
    if day is None or before[-1:] != ["the"] or AHEAD.isdisjoint(before[-3:]) or not WAS.isdisjoint(before):
        return None
    if after and after[0] not in _AFTER_DAYS:
        return None
    ahead = day if number >= day.day else day.replace(day=1) + timedelta(days=32)
    iso = checked(f"{ahead.year:04}", f"{ahead.month:02}", f"{number:02}")
    return DateSpan(at, at + 1, iso) if iso else None


def _from_month(tokens: list[str], lower: list[str], at: int, language: Language, day: date | None) -> DateSpan | None:
    month, end, number, year = language.months[lower[at]], at + 1, "", ""
    if end < len(tokens) and lower[end] == "." and _is_year(lower, end + 1):
        end += 1
    following = lower[end].rstrip("stndrh") if end < len(tokens) else ""
    if language.code == "en" and len(following) <= 2 and _is_number(following):
        number, end = following, end + 1
    if end < len(tokens) and lower[end] in (",", "de") and _is_year(lower, end + 1):
        end += 1
    if _is_year(lower, end):
        year, end = lower[end], end + 1
    elif not number and lower[at] in ("may", "mar", "mars", "mai") and not _introduced(lower, at, language):
        return None
    return _dated(at, end, year, month, number, day, lower)


def _introduced(lower: list[str], at: int, language: Language) -> bool:
    before = lower[at - 1] if at else ""
    return before in language.since | language.until | language.at | language.last | language.next


def _is_year(lower: list[str], at: int) -> bool:
    return at < len(lower) and len(lower[at]) == 4 and _is_number(lower[at]) and "1000" <= lower[at] <= "2100"


def _dated(
    start: int, end: int, year: str, month: int, number: str, day: date | None, lower: list[str]
) -> DateSpan | None:
    if not year:
        if day is None:
            return None
        year = f"{year_of(lower, start, end, month, int(number) if number else None, day):04}"
    if not number and start >= 2 and (lower[start - 2] in _ENDS or lower[start - 1] in _ENDS):
        # "the end of September" is its last day.
        return DateSpan(start, end, f"{year}-{month:02}-{monthrange(int(year), month)[1]}")
    iso = checked(year, f"{month:02}", *((number.zfill(2),) if number else ()))
    return DateSpan(start, end, iso) if iso else None


def _is_number(text: str) -> bool:
    """Whether a text is digits that a calendar takes: "²" and "①" are some as well, and other scripts have theirs."""
    return text.isascii() and text.isdigit()


def _shifted(start: int, end: int, day: date, days: int) -> DateSpan | None:
    try:
        return DateSpan(start, end, (day + timedelta(days)).isoformat())
    except OverflowError:  # The day after the last, or before the first.
        return None


def _relative(tokens: list[str], lower: list[str], at: int, language: Language, day: date, way: int) -> DateSpan | None:
    """Read "last May", "next Tuesday"; also "samedi prochain", where the word comes after."""
    beside = lower[at + 1] if at + 1 < len(tokens) else ""
    start, end = at, at + 2
    if beside not in language.days and beside not in language.months and at:
        beside, start, end = lower[at - 1], at - 1, at + 1
    if beside in language.days:
        days = (language.days[beside] - day.weekday()) % 7
        days = (days or 7) if way > 0 else (days or 7) - 7
        return _shifted(start, end, day, days)
    if beside in language.months:
        month = language.months[beside]
        year = day.year + (way if (month - day.month) * way <= 0 else 0) if way > 0 else day.year - (month >= day.month)
        return DateSpan(start, end, f"{year:04}-{month:02}") if MINYEAR <= year <= MAXYEAR else None
    return None
