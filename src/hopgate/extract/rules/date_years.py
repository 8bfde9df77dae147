"""Which year a date without one is of: the nearest, one ahead for what is to come, one behind for what has happened."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, date
from itertools import pairwise

from hopgate.extract.rules.places import is_event
from hopgate.extract.rules.words import words

# After these a date without a year lies ahead, give or take some days.
AHEAD = words(
    """
    due until till by deadline booked scheduled extended postponed pushed rescheduled deferred verlängert verschoben
    bis fällig zum expires abgabe avant hasta fino tot voor antes jusqu'au jusqu'en
    """
)
_GRACE = 14
# So does a start that is announced, unless it was in the last two months: "from September Lena works at Bosch".
_STARTED = 60
_FROM = words("from starting ab vanaf dès")
_STARTS = words("starts begins startet beginnt")
_PRESENT = words("works work lives live leads runs costs joins reports arbeitet wohnt leitet")
WAS = words("was were had been ran left went since war waren hatte wurde")
RANGE = words("to until till through bis tot - –")
_SENTENCE_ENDS = frozenset((".", "!", "?", ";", "\n", "¶"))
_NEW_DATE_REACH = 8  # "new date for the security audit is …"
_IS_ON = frozenset((("is", "on"), ("are", "on"), ("ist", "am"), ("sind", "am"), ("est", "le"), ("is", "op")))
# A sentence is not looked at any further than this, so that a memory of a million dates takes no longer.
_REACH = 60
_SOON = 31
_SINCE = words("since seit depuis desde sinds")
_IN = words("in on im am")
_HAPPENED = words(
    """
    was were ran left went took got became began bought sold met gave came built quit brought sent
    war waren zog zogen wechselte wurde wurden kam ging begann verließ bekam
    """
)
_HAS = words("hat haben habe hatte hatten ist sind bin wurde wurden")
_PARTICIPLE = re.compile(r"\w{0,6}ge\w{2,}(?:t|en)")
_NO_PARTICIPLES = words("gegen gegend gestern gehen geben gesagt gefragt geplant gebucht")
# Said of what is to come as well: "confirmed: Ada starts in March", "decided to move in March".
_MAY_BE_AHEAD = words(
    """
    is are will would shall should 'll won't going plan plans planned planning hope hopes hoped supposed expected
    booked scheduled confirmed decided agreed announced asked invited offered promised accepted signed hired ordered
    reserved registered enrolled applied wanted needed told said fixed set wird werden soll sollen will wollen möchte
    geplant gebucht angekündigt vereinbart bestellt
    """
)


def year_of(lower: list[str], start: int, end: int, month: int, number: int | None, day: date) -> int:
    """The year of the date that tokens `start` to `end` give without one, in a note of `day`.

    Examples
    --------
    >>> day = date(2026, 11, 17)
    >>> year_of("the nas moved to the cellar in march".split(), 7, 8, 3, None, day)
    2026
    >>> year_of("the wedding is in march".split(), 4, 5, 3, None, day)
    2027
    """
    if not AHEAD.isdisjoint(lower[max(0, start - 3) : start]) or _is_to_come(lower, start, whole=bool(number)):
        return _nearest(month, number, day, _GRACE)
    before, after = _sentence(lower, start, end)
    if _is_announced(before, after):
        return _nearest(month, number, day, _STARTED)
    nearest = _nearest(month, number, day, None)
    if not _has_happened(before, after):
        return nearest
    # "We moved to Zwolle on 1 September", in August, is said ahead of it.
    soon = number and (date(nearest, month, min(number, 28)) - day).days in range(_SOON)
    return nearest if soon else max(MINYEAR, day.year - ((month, number or 1) > (day.month, day.day)))


def _sentence(lower: list[str], start: int, end: int) -> tuple[list[str], list[str]]:
    """What stands before a date and after it in its sentence."""
    least, most = max(0, start - _REACH), min(len(lower), end + _REACH)
    first = next((at + 1 for at in range(start - 1, least - 1, -1) if lower[at] in _SENTENCE_ENDS), least)
    last = next((at for at in range(end, most) if lower[at] in _SENTENCE_ENDS), most)
    return lower[first:start], lower[end:last]


def _is_to_come(lower: list[str], start: int, *, whole: bool) -> bool:
    """Whether something is on a whole date, or gets it as its new one: "the audit is on 15 November"."""
    before = lower[max(0, start - _NEW_DATE_REACH) : start]
    return ("new", "date") in pairwise(before) or (whole and tuple(before[-2:]) in _IS_ON)


def _is_announced(before: list[str], after: list[str]) -> bool:
    """Whether the sentence of a date tells of what starts then, and not of what was: "starts at Bosch on 1 May"."""
    said = {*before, *after}
    ranged = after[:1] != [] and after[0] in RANGE
    if ranged or not WAS.isdisjoint(said) or any(map(_is_past_form, said)):
        return False
    if not _STARTS.isdisjoint(before):
        return True
    # "the photos from May" begin nothing.
    return (
        before[-1:] != []
        and before[-1] in _FROM
        and (before[-1] != "from" or len(before) == 1 or not _PRESENT.isdisjoint(before))
    )


def _has_happened(before: list[str], after: list[str]) -> bool:
    """Whether the sentence of a date tells of what was done then: "moved to the cellar in March", "since March"."""
    if before[-1:] == [] or (before[-1] not in _IN and before[-1] not in _SINCE):
        return False
    if before[-1] in _SINCE:
        return True
    said = {*before, *after}
    if not _MAY_BE_AHEAD.isdisjoint(said) or not _PRESENT.isdisjoint(said) or not _STARTS.isdisjoint(said):
        return False
    if len(before) > 1 and is_event(before[-2]):
        return False  # "bought tickets for the concert in March"
    done = not _HAS.isdisjoint(said) and any(
        _PARTICIPLE.fullmatch(word) and word not in _NO_PARTICIPLES for word in said
    )
    return done or not _HAPPENED.isdisjoint(said) or any(map(_is_past_form, said))


def _is_past_form(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4


def _nearest(month: int, number: int | None, day: date, grace: int | None) -> int:
    """The year in which a date lies nearest to a day; with `grace`, after it or at most so many days before."""

    def away(year: int) -> int:
        days = (date(year, month, max(1, min(number or 15, 28))) - day).days
        return days if grace is None or days >= -grace else 10_000

    years = range(max(MINYEAR, day.year - 1), min(MAXYEAR, day.year + 1) + 1)
    return min(years, key=lambda year: abs(away(year)))
