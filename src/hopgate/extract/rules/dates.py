"""Dates in a note, as people write them: absolute, without a year, relative to the day of the note."""

import re
from bisect import bisect_left
from calendar import monthrange
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from hopgate.extract.rules.words import LANGUAGES, MONTHS, Language, table, word_sets

_WORDS = word_sets("dates")
_AHEAD = re.compile(table("dates")["ahead"], re.VERBOSE)
# In lower case these are no months by themselves.
_MAY_BE_WORDS = frozenset(("may", "march", "mar", "mars", "mai"))
# In days: a date lies ahead though it was so long ago; one that is announced; and what has happened may be so near.
_GRACE, _STARTED, _SOON = 14, 60, 31
# A sentence is not looked at any further than this, so that a text of a million dates takes no longer.
_REACH = 60
_SENTENCE_ENDS = frozenset((".", "!", "?", ";", "\n", "¶"))


class DateSpan(NamedTuple):
    """Tokens ``start`` to ``end`` are a date, in ISO form as precise as it was written."""

    start: int
    end: int
    iso: str


class _Place(NamedTuple):
    """Where a date stands: its tokens, those before and after it in its sentence, and the day of the note."""

    before: list[str]
    after: list[str]
    day: date | None
    language: Language


@cache
def _forms(code: str) -> re.Pattern[str]:
    language = LANGUAGES[code]
    names = {
        "MONTH": language.months, "DAY": language.days, "LAST": language.last, "NEXT": language.next,
        "PAST": _WORDS["last"], "SHIFT": language.shifts,
    }  # fmt: skip
    forms = table("dates")["forms"]
    for key, ways in names.items():
        forms = re.sub(rf"\b{key}\b", "|".join(map(re.escape, sorted(ways, key=len, reverse=True))), forms)
    return re.compile(rf"(?<![^ ])(?:{forms})(?![^ ])", re.VERBOSE)


def date_spans(tokens: list[str], lower: list[str], code: str, written: datetime | None) -> list[DateSpan]:
    """Find the dates of a text, left to right."""
    language = LANGUAGES[code]
    if (language.of_dates | language.days.keys()).isdisjoint(lower) and not any(word[0].isdigit() for word in lower):
        return []
    starts = list(accumulate((len(word) + 1 for word in lower), initial=0))
    day = written.date() if written else None
    found: list[DateSpan] = []
    for match in _forms(code).finditer(" ".join(lower)):
        start, end = bisect_left(starts, match.start()), bisect_left(starts, match.end())
        if starts[start] != match.start() or starts[end] != match.end() + 1:
            continue  # inside a link or a piece of code
        before, after = _sentence(lower, start, end)
        # "From 3 May to 24 May": of one year.
        ranged = (
            found and start - found[-1].end == 1 and len(found[-1].iso) == len("2024-05-03") and before[-1:] != [","]
        )
        place = _Place(before, after, date.fromisoformat(found[-1].iso) if ranged else day, language)
        if iso := _read(match, tokens[start:end], place):
            found.append(DateSpan(start, end, iso))
    return found


def _sentence(lower: list[str], start: int, end: int) -> tuple[list[str], list[str]]:
    """What stands before a date and after it in its sentence."""
    least, most = max(0, start - _REACH), min(len(lower), end + _REACH)
    first = next((at + 1 for at in range(start - 1, least - 1, -1) if lower[at] in _SENTENCE_ENDS), least)
    last = next((at for at in range(end, most) if lower[at] in _SENTENCE_ENDS), most)
    return lower[first:start], lower[end:last]


def _read(match: re.Match[str], tokens: list[str], place: _Place) -> str | None:  # noqa: PLR0911 - one form after another
    """The date that a match of the forms means, in ISO form, or nothing."""
    part = match.groupdict()
    if part["iso"]:
        return checked(*part["iso"].split("-"))
    if part["dmy"]:
        number, month, year = part["dmy"].split(".")
        return checked(year, month.zfill(2), number.zfill(2))
    if part["alone"]:
        return part["alone"] if part["alone"] <= "2100" else None
    if name := part["month"] or part["month2"]:
        return _of_month(part, place.language.months[name], tokens, place)
    if place.day is None:
        return None
    if unit := part["unit"] or part["unit2"]:
        return _beside(unit, (part["way"] or part["way2"]) in place.language.next, place)
    if part["ago"]:
        before = date(place.day.year, place.day.month, 1) - timedelta(1) if place.day > date(1, 1, 31) else place.day
        is_since = place.before[-1:] and place.before[-1] in _WORDS["since"]
        period = f"{before:%Y-%m}" if part["period"] in _WORDS["month"] else f"{place.day.year - 1:04}"
        return period if is_since else None
    if part["shift"]:
        return _shifted(place.day, place.language.shifts[part["shift"]])
    return _weekday(part["day"], place)


def _of_month(part: dict[str, str | None], month: int, tokens: list[str], place: _Place) -> str | None:
    number, year = part["number"] or part["number2"], part["year"] or part["year2"]
    name = next(token for token in tokens if token.lower() in place.language.months)
    language, said = place.language, place.before[-1] if place.before else ""
    led = said in language.since | language.until | language.at | language.last | language.next
    if part["number2"] and language.code != "en":
        number = None
    if name.lower() in _MAY_BE_WORDS and not number and not year and not led:
        return None  # "May I", "the march"
    is_vague = language.code == "de" or name in _MAY_BE_WORDS or len(name) <= len("mar")
    if name.islower() and language.code in ("en", "de") and is_vague and not (part["number2"] and led):
        return None
    if not year:
        if place.day is None:
            return None
        year = f"{_year(month, int(number) if number else None, place):04}"
    if not number and not _WORDS["end"].isdisjoint(place.before[-2:]):
        return f"{year}-{month:02}-{monthrange(int(year), month)[1]}"  # "the end of September"
    return checked(year, f"{month:02}", *((number.zfill(2),) if number else ()))


def _beside(unit: str, is_next: bool, place: _Place) -> str | None:
    """The weekday or the month after or before the note: "next Tuesday", "last May"."""
    day, language = place.day, place.language
    assert day is not None  # `_read` asks only then
    if unit in language.days:
        ahead = (language.days[unit] - day.weekday()) % 7 or 7
        return _shifted(day, ahead if is_next else ahead - 7 or -7)
    month = language.months[unit]
    year = day.year + (month <= day.month) if is_next else day.year - (month >= day.month)
    return f"{year:04}-{month:02}" if MINYEAR <= year <= MAXYEAR else None


def _shifted(day: date, days: int) -> str | None:
    try:
        return (day + timedelta(days)).isoformat()
    except OverflowError:  # the day after the last, or before the first
        return None


def _weekday(name: str, place: _Place) -> str | None:
    """The day since which something is so, or on which it was done; what lies ahead, and a habit, has none."""
    before, after, day = place.before, place.after, place.day
    if day is None or not before or before[-1] not in ("on", "am", *_WORDS["since"]):
        return None
    which = _WORDS["habit"] | place.language.next | place.language.last
    if which.intersection(after[:2]) or any(word[0].isdigit() or word in place.language.months for word in after[:5]):
        return None
    if before[-1] in ("on", "am") and not _has_happened(before, after):
        return None
    return _shifted(day, -((day.weekday() - place.language.days[name]) % 7 or 7))


def _year(month: int, number: int | None, place: _Place) -> int:
    """The year of a date without one: ahead for what is to come, behind for what has happened, else the nearest."""
    before, after, day = place.before, place.after, place.day
    assert day is not None  # nothing is asked of a note without a day
    is_ahead = _AHEAD.search(" ".join(before))
    behind = max(MINYEAR, day.year - ((month, number or 1) > (day.month, day.day)))
    if is_ahead or _is_announced(before, after):
        return _nearest(month, number, day, _GRACE if is_ahead else _STARTED)
    if before and before[-1] in _WORDS["since"]:
        return behind
    nearest = _nearest(month, number, day, None)
    # "We moved to Zwolle on 1 September", in August, is said ahead of it.
    is_soon = (date(nearest, month, min(number or 1, 28)) - day).days in range(_SOON)
    return behind if _has_happened(before, after) and not is_soon else nearest


def _is_announced(before: list[str], after: list[str]) -> bool:
    """Whether the sentence of a date tells of what starts then, and not of what was: "starts at Bosch on 1 May"."""
    said = {*before, *after}
    is_past = not _WORDS["was"].isdisjoint(said) or any(word.endswith("ed") and len(word) > 4 for word in said)
    if is_past or (after and after[0] in ("to", "until", "till", "through", "bis", "tot", "-", "–")):
        return False
    if before[-1:] == ["from"]:
        return len(before) == 1 or not _WORDS["present"].isdisjoint(before)  # "the photos from May" begin nothing
    starts = {"starts", "begins", "startet", "beginnt"}
    return bool(before) and (before[-1] in _WORDS["announced"] or not starts.isdisjoint(before))


def _has_happened(before: list[str], after: list[str]) -> bool:
    """Whether what was done then stands beside a date: "moved to the cellar in March", "in March we moved"."""
    if not before or before[-1] not in _WORDS["on"]:
        return False
    begins = next((at + 1 for at in range(len(before) - 1, -1, -1) if before[at] in _WORDS["parts"]), 0)
    ends = next((at for at, word in enumerate(after) if word in _WORDS["parts"]), len(after))
    said = before[begins:-1] if len(before) - begins > 1 else after[:ends]
    is_ahead = not (_WORDS["may_be_ahead"] | _WORDS["present"]).isdisjoint(said) and "sind" not in said
    return not is_ahead and not _WORDS["done"].isdisjoint(said)


def _nearest(month: int, number: int | None, day: date, grace: int | None) -> int:
    """The year in which a date lies nearest to a day; with `grace`, after it or at most so many days before."""

    def away(year: int) -> int:
        days = (date(year, month, max(1, min(number or 15, 28))) - day).days
        return days if grace is None or days >= -grace else 10_000

    years = range(max(MINYEAR, day.year - 1), min(MAXYEAR, day.year + 1) + 1)
    return min(years, key=lambda year: abs(away(year)))


# A date by itself, as models and files write them.

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_PART = re.compile(r"\d+|[^\W\d_]+")


@lru_cache(maxsize=16384)
def iso(text: str) -> str | None:
    """Return a date in ISO form: a day, a month or a year; None where the text is no such thing."""
    if _ISO.fullmatch(text):
        return checked(*text.split("-"))
    parts = [part for part in _PART.findall(text.lower()) if part not in ("st", "nd", "rd", "th", "of")]
    months = [MONTHS[part] for part in parts if part in MONTHS]
    # "²" and "①" are digits as well, and no numbers.
    numbers = [part for part in parts if part.isascii() and part.isdigit()]
    years, days = ([number for number in numbers if len(number) in sizes] for sizes in ((4,), (1, 2)))
    if len(parts) != len(months) + len(numbers) or not months or len(years) != 1 or len(days) > 1:
        return None
    return checked(years[0], f"{months[0]:02}", *(f"{int(day):02}" for day in days))


def checked(year: str, month: str = "", day: str = "") -> str | None:
    """Join the parts if the calendar has such a date; 29 February passes in leap years only, and no year is 0."""
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join(filter(None, (year, month, day)))
