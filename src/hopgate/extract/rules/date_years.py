"""Which year a date without one is of: the nearest, one ahead for what is to come, one behind for what has happened."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, date
from itertools import pairwise

from hopgate.extract.rules.language_tables import LANGUAGES
from hopgate.extract.rules.places import is_event
from hopgate.extract.rules.words import words

# After these a date without a year lies ahead, give or take some days.
AHEAD = words(
    """
    due until till by deadline booked scheduled extended postponed pushed rescheduled deferred verlängert verschoben
    bis fällig zum expires renews renewal ends abgabe endet avant hasta fino tot voor antes jusqu'au jusqu'en
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
# "By Dagny in April": who did it, and not until when.
UNTIL = words("until till by bis zum avant hasta fino tot voor antes jusqu'au jusqu'en")
_SMALL = words(
    """
    the end of early late mid middle start beginning about around in on at least latest den dem der ende anfang mitte
    spätestens mindestens im am le la el al fin finales de eind begin het ,
    """
) | {day for language in LANGUAGES.values() for day in language.days}
_HOURS = words("noon midday midnight lunch lunchtime evening morning close eod eob")
_NEW_DATE_REACH = 8  # "new date for the security audit is …"
_IS_ON = frozenset((("is", "on"), ("are", "on"), ("ist", "am"), ("sind", "am"), ("est", "le"), ("is", "op")))
# "The contract is up in September"
_RUNS_OUT = frozenset((("is", "up"), ("runs", "out"), ("comes", "up"), ("goes", "up"), ("läuft", "aus")))
# A sentence is not looked at any further than this, so that a memory of a million dates takes no longer.
_REACH = 60
_SOON = 31
SINCE = words("since seit depuis desde sinds")
"""Before a date from which on something has been so."""
_IN = words("in on im am")
# What was done, and no state that may lie ahead: "closed in March".
_DONE = words(
    """
    moved swapped switched changed replaced joined left started began migrated upgraded installed relocated handed
    took became bought sold married quit retired resigned graduated transferred went was were ran lived worked had
    zog zogen wechselte wurde kam ging begann verließ gezogen umgezogen eingezogen ausgezogen getauscht gewechselt
    gekauft verkauft ersetzt angefangen begonnen übernommen geheiratet gekündigt
    """
)
_PARTS = frozenset((",", ":", "(", ")", "-", "–", "and", "but", "so", "und", "aber"))
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
    if _says_ahead(lower[max(0, start - 3) : start]) or _is_to_come(lower, start, whole=bool(number)):
        return _nearest(month, number, day, _GRACE)
    before, after = sentence_of(lower, start, end)
    runs_out = any(pair in _RUNS_OUT for pair in pairwise(before[-4:]))
    if runs_out or _is_announced(before, after):
        return _nearest(month, number, day, _GRACE if runs_out else _STARTED)
    if before and before[-1] in SINCE:
        return max(MINYEAR, day.year - ((month, number or 1) > (day.month, day.day)))
    nearest = _nearest(month, number, day, None)
    if not has_happened(before, after):
        return nearest
    # "We moved to Zwolle on 1 September", in August, is said ahead of it.
    if (date(nearest, month, min(number or 1, 28)) - day).days in range(_SOON):
        return nearest
    return max(MINYEAR, day.year - ((month, number or 1) > (day.month, day.day)))


def _says_ahead(before: list[str]) -> bool:
    """Whether the words before a date say that it lies ahead; "by" may also name who did what."""
    return any(
        word in AHEAD and not (word == "by" and _is_somebody(before[at + 1 :])) for at, word in enumerate(before)
    )


def _is_somebody(between: list[str]) -> bool:
    """Whether what stands between "by" and a date is a name: "by Dagny in April", and not "by noon on 3 March"."""
    named = [word for word in between if word not in _SMALL]
    return len(named) in (1, 2) and all(word.isalpha() and word not in _HOURS for word in named) and between[-1] in _IN


def sentence_of(lower: list[str], start: int, end: int) -> tuple[list[str], list[str]]:
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


def has_happened(before: list[str], after: list[str]) -> bool:
    """Whether what was done then stands beside a date: "moved to the cellar in March", "in March we moved"."""
    if not before or before[-1] not in _IN:
        return False
    begins = next((at + 1 for at in range(len(before) - 1, -1, -1) if before[at] in _PARTS), 0)
    ends = next((at for at, word in enumerate(after) if word in _PARTS), len(after))
    # "My flight on 4 March was cancelled": what follows a date is done then where the date comes first.
    said = before[begins:-1] if len(before) - begins > 1 else after[:ends]
    if not _MAY_BE_AHEAD.isdisjoint(said) or not _PRESENT.isdisjoint(said) or not _STARTS.isdisjoint(said):
        return False
    if len(before) > 1 and is_event(before[-2]):
        return False  # "moved on after the concert in March"
    return not _DONE.isdisjoint(said)


def _is_past_form(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4


def _nearest(month: int, number: int | None, day: date, grace: int | None) -> int:
    """The year in which a date lies nearest to a day; with `grace`, after it or at most so many days before."""

    def away(year: int) -> int:
        days = (date(year, month, max(1, min(number or 15, 28))) - day).days
        return days if grace is None or days >= -grace else 10_000

    years = range(max(MINYEAR, day.year - 1), min(MAXYEAR, day.year + 1) + 1)
    return min(years, key=lambda year: abs(away(year)))
