"""Days without a date, by that of their note: "since Saturday", "started on Monday", "until Christmas"."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, date, timedelta

from hopgate.extract.rules.date_years import SINCE, UNTIL, WAS, has_happened, sentence_of
from hopgate.extract.rules.language_tables import Language
from hopgate.extract.rules.words import words

_ON = words("on am")
_LAST = words("last past letztem letzten letzter vorigem vorigen")
_MONTH, _YEAR = words("month monat"), words("year jahr")
# Not that day alone: "on Monday evenings", "on Monday and Friday", "moved the lesson on Monday to Friday".
_MORE = words("and or to und oder auf mornings afternoons evenings nights morgens abends nachts each every")
_WHICH = words("ago vor of after nach week weeks woche wochen fortnight")
_NEAR = 5

_CHRISTMAS = words("christmas xmas weihnachten noël navidad natale kerst kerstmis natal")
_EASTER, _PENTECOST = words("easter ostern pâques pascua pasqua pasen páscoa"), words("pentecost whitsun pfingsten")
_YEAR_ENDS = words("silvester")
FEASTS = _CHRISTMAS | _EASTER | _PENTECOST | _YEAR_ENDS
# "Until the Christmas party" is another day; in German that is one word.
_WAS_SO = WAS | words("lived worked wohnte arbeitete lief leitete kostete gehörte lebte")
_YEAR_DIGITS = 4
_CLOSES = words("and but when while because then so as , . ; : ! ? ) ( - – ¶")


def day_by_name(lower: list[str], at: int, language: Language, day: date) -> tuple[int, str] | None:
    """What the words from `at` on mean in a note of a day: where they end, and a date in ISO form.

    Examples
    --------
    >>> from hopgate.extract.rules.language_tables import LANGUAGES
    >>> for said in ("since monday", "since last month", "until christmas", "until easter"):
    ...     print(day_by_name(said.split(), 1, LANGUAGES["en"], date(2024, 9, 18)))
    (2, '2024-09-16')
    (3, '2024-08')
    (2, '2024-12-25')
    (2, '2025-04-20')
    """
    word = lower[at]
    if word in language.days:
        behind = weekday_behind(lower, at, language, day)
        return (at + 1, behind.isoformat()) if behind else None
    if word in FEASTS:
        feast = _feast(lower, at, language, day)
        return (at + 1, feast.isoformat()) if feast else None
    before = since_last(lower, at, day)
    return (at + 2, before) if before else None


def _feast(lower: list[str], at: int, language: Language, day: date) -> date | None:
    """The next feast of a name that something is so until, or the last one that it has been so since."""
    before, follows = lower[at - 1] if at else "", lower[at + 1] if at + 1 < len(lower) else ""
    if language.code == "en" and follows.strip() and follows not in _CLOSES:
        return None
    if any(map(_is_year, lower[at + 1 : at + 4])):
        return None  # "since Christmas (2019)"
    is_over = not _WAS_SO.isdisjoint(sentence_of(lower, at, at + 1)[0])
    if before in UNTIL and not is_over and day.year < MAXYEAR:
        return min(one for year in (day.year, day.year + 1) if (one := _of_year(lower[at], year)) >= day)
    if (before in SINCE or (before in UNTIL and is_over)) and day.year > MINYEAR:
        return max(one for year in (day.year - 1, day.year) if (one := _of_year(lower[at], year)) < day)
    return None


def _is_year(word: str) -> bool:
    return len(word) == _YEAR_DIGITS and word.isdigit()


def _of_year(feast: str, year: int) -> date:
    if feast in _CHRISTMAS:
        return date(year, 12, 25)
    if feast in _YEAR_ENDS:
        return date(year, 12, 31)
    return _easter(year) + timedelta(49 if feast in _PENTECOST else 0)


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * week) // 451
    month, number = divmod(moon + week - 7 * late + 114, 31)
    return date(year, month, number + 1)


def weekday_behind(lower: list[str], at: int, language: Language, day: date) -> date | None:
    """The day that a weekday means of which something is so since then, or was done then; what lies ahead has none.

    Examples
    --------
    >>> from hopgate.extract.rules.language_tables import LANGUAGES
    >>> wednesday = date(2024, 9, 18)
    >>> for said in ("leif started at skagen on monday", "he works there since monday", "he starts there on monday"):
    ...     print(weekday_behind(said.split(), len(said.split()) - 1, LANGUAGES["en"], wednesday))
    2024-09-16
    2024-09-16
    None
    """
    before = lower[at - 1] if at else ""
    follows = lower[at + 1] if at + 1 < len(lower) else ""
    if before not in _ON and before not in SINCE:
        return None
    # "on Monday next week", "depuis samedi dernier": the word beside it says which.
    if follows in _MORE or follows in language.next or follows in language.last:
        return None
    said, rest = sentence_of(lower, at, at + 1)
    # "On Monday, 2 September", "on Monday two weeks ago": what follows says which.
    if any(word[:1].isdigit() or word in language.months or word in _WHICH for word in rest[:_NEAR]):
        return None
    if before in _ON and not has_happened(said, rest):
        return None
    days = (day.weekday() - language.days[lower[at]]) % 7 or 7
    return day - timedelta(days) if day.toordinal() > days else None


def since_last(lower: list[str], at: int, day: date) -> str:
    """The month or the year before that of a note, in ISO form: "since last month", "seit letztem Jahr"."""
    if not at or lower[at - 1] not in SINCE or lower[at] not in _LAST or at + 1 == len(lower):
        return ""
    year, month = (day.year - 1, 12) if day.month == 1 else (day.year, day.month - 1)
    if lower[at + 1] in _MONTH and year >= MINYEAR:
        return f"{year:04}-{month:02}"
    return f"{day.year - 1:04}" if lower[at + 1] in _YEAR and day.year > MINYEAR else ""
