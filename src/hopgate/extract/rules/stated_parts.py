"""Parts of a sentence in any words: what it is about, and the value that it says of it, each from a place on."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES, table
from hopgate.extract.rules.words import words

_TABLE: dict[str, str] = table("stated")
ARTICLES, MINE, BE, VERBS, PLACES, OTHERS, STOP, DAYS, WHOSE, DOUBT, NOW, LATELY, MOVED = (
    words(_TABLE[name])
    for name in (
        "articles", "mine", "be", "verbs", "places", "others", "stop", "days", "whose", "doubt", "now", "lately",
        "moved",
    )
)  # fmt: skip
PREPOSITIONS = PLACES | OTHERS
_ENGLISH_DAYS = DAYS
DAYS |= frozenset(day for code, language in LANGUAGES.items() if code != "en" for day in language.days)
_NOT_IN_NAMES = STOP | BE | VERBS | PREPOSITIONS | ARTICLES | MINE | WHOSE | DAYS
_NOUNS_IN_LY = words(
    """
    weekly monthly daily yearly nightly hourly quarterly fortnightly family supply assembly butterfly fly reply jelly
    july italy
    """
)
_WORD = compiled(r"[^\W\d_][\w'’&-]*")
_IS = frozenset(("is", "are", "was", "were"))
_PRONOUNS = words("i we he she they it")
_GOES_ON = frozenset(("'s", "or", "and", "if"))
_BREAKS = frozenset((",", ";", "(", ":", "-", "–"))
_NUMBER = compiled(r"\d{1,6}(?:[.,]\d{1,2})?(?:%|k|kg|h|gb|tb)?")
_UNITS = words(
    "mg ml g kg km cm m l litres liters hours minutes days weeks months years percent euros pounds dollars francs gb "
    "tb mbit people kw kwh"
)
_CLOCK = compiled(r"\d{1,2}[:.]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_HOURS = words(
    """
    one two three four five six seven eight nine ten eleven twelve noon half zwei drei vier fünf sechs sieben acht neun
    zehn deux trois quatre cinq sept huit neuf dix dos tres cuatro cinco seis siete ocho nueve diez due tre quattro
    cinque sei sette otto nove dieci drie vijf zes zeven negen tien
    """
)
# "wird von Frau Wendt geleitet"
_DONE = compiled(r"ge[^\W\d_]{3,}(?:t|en)|(?:über|unter|ver|be)[^\W\d_]{4,}(?:nommen|rieben|treut|sorgt|waltet|legt)")
# "ist aus Leipzig weg", "with Mrs Oduya downstairs"
_WHERE = words("weg fort raus zurück zuhause daheim downstairs upstairs nearby away again abroad")
_NUMBERED = compiled(r"\d[\d.]*")
_ENTRY = compiled(r"\d{1,4}[a-z]?|\d{1,2}\.\d{1,3}")
# Which are no part of the name that follows.
_TITLES = words(
    """
    doctor dokter docteur doktor doctora dottor dottore dottoressa frau herr herrn mevrouw meneer madame monsieur señor
    señora signor signora coach uncle aunt tante onkel oom tía tío
    """
)
MOST_WORDS = 4
AT, WHEN, AMOUNT, BY = "kept at", "scheduled for", "amounts to", "currently"
# One of the first and the last, where it is not known which.
ANY = "is"
# Of a change to nothing: its value is what was.
OVER = "is over"


class Part(NamedTuple):
    """A text, the place after it, and what it is: "name", "noun", "when" or "amount"."""

    text: str
    end: int
    kind: str = "noun"


def is_name(token: str) -> bool:
    """Whether a token of an encoded sentence is a name."""
    return token[0] == "⟨"


@cache
def is_noun(word: str) -> bool:
    """Whether a word may be part of what somebody calls a thing."""
    return (
        word not in _NOT_IN_NAMES
        and bool(_WORD.fullmatch(word))
        and not (word.endswith("n't") or (word.endswith("ly") and word not in _NOUNS_IN_LY))
    )


def spelt(tokens: list[str]) -> str:
    """A run of tokens as a person would write it; names, dates and amounts are filled in later."""
    return " ".join(tokens).replace(" 's", "'s")


def thing_at(said: list[str], at: int) -> Part | None:
    """What stands at a place that a sentence may be about: "our shared folder", "Dad's sensor", "rent of the flat"."""
    first = at
    while at < len(said) and (said[at] in ARTICLES or said[at] in MINE):
        at += 1
    # "Our books" are no verb, nor is the "book group".
    is_noun_here = (
        at < len(said) and said[at] in VERBS and (at > first or (at + 1 < len(said) and _is_compound(said, at)))
    )
    end = _run(said, at + is_noun_here)
    if end == at or end - at > MOST_WORDS + ("'s" in said[at:end]):
        return None
    if end + 1 < len(said) and _NUMBERED.fullmatch(said[end]) and said[end + 1] in BE:
        return Part(spelt(said[at : end + 1]), end + 1)  # "release 4.2 is due on Thursday"
    kind = (
        "name" if all(is_name(word) or word in _TITLES for word in said[at:end]) and is_name(said[end - 1]) else "noun"
    )
    if end + 1 < len(said) and said[end] in ("of", "for"):
        start = end + 1
        while start < len(said) and (said[start] in ARTICLES or said[start] in MINE):
            start += 1
        more = _run(said, start)
        if start < more <= start + 2 and said[start] not in ("whole", "entire", "everything"):
            return Part(spelt(said[at:more]), more)
    return Part(spelt(said[at:end]), end, kind)


def _is_compound(said: list[str], at: int) -> bool:
    """Whether a word that may be a verb stands before a noun of which something is said: "book group meets"."""
    after = said[at + 2 : at + 3]
    return is_noun(said[at + 1]) and bool(after) and (after[0] in BE or (after[0] in VERBS and after[0][-1] == "s"))


def _run(said: list[str], at: int) -> int:
    """Where a run of names and nouns ends; a possessive may stand within."""
    end = at
    while end < len(said) and (
        is_name(said[end]) or is_noun(said[end]) or (said[end] == "'s" and end > at and end + 1 < len(said))
    ):
        end += 1
    return end - (end > at and said[end - 1] == "'s")


def value_at(said: list[str], at: int) -> Part | None:  # noqa: PLR0911
    """The value that stands at a place: a name with a noun after it, a noun, a day, a time, an amount."""
    while at < len(said) and (said[at] in ARTICLES or said[at] in MINE):
        at += 1
    if at >= len(said):
        return None
    token = said[at]
    if token[0] in "⟦⟪":
        return Part(spelt([token]), at + 1, "when" if token[0] == "⟦" else "amount")
    if token in DAYS:
        return Part(token.removesuffix("s") if token in _ENGLISH_DAYS else token, at + 1, "when")
    if _CLOCK.fullmatch(token):
        return Part(token, at + 1, "when")
    if _NUMBER.fullmatch(token):
        end = at + 1 + (at + 1 < len(said) and said[at + 1] in _UNITS)
        return Part(spelt(said[at:end]), end, "amount")
    if is_name(token) or (token in _TITLES and at + 1 < len(said) and is_name(said[at + 1])):
        end = at + 1 + (token in _TITLES)
        while (
            end < len(said)
            and end - at < MOST_WORDS
            and (
                is_name(said[end])
                or said[end] == "'s"
                or (
                    is_noun(said[end])
                    and (said[end - 1] == "'s" or _ends(said, end + 1))
                    and said[end] not in _WHERE
                    and not _DONE.fullmatch(said[end])
                )
            )
        ):
            end += 1
        end -= said[end - 1] == "'s" and end < len(said)  # "our baker is Hartmann's"
        end += end < len(said) and bool(_ENTRY.fullmatch(said[end])) and _ends(said, end + 1)  # "an iPhone 12"
        return Part(spelt(said[at:end]), end, "name")
    end = _run(said, at)
    if end == at or end - at > MOST_WORDS:
        return None
    if end < len(said) and _ENTRY.fullmatch(said[end]):
        end += 1  # "shelf 4"
    elif end + 2 < len(said) and said[end] in ("under", "of", "by", "behind", "above") and said[end + 1] in ARTICLES:
        more = _run(said, end + 2)
        end = more if end + 2 < more <= end + 4 else end  # "the cupboard under the stairs"
    return Part(spelt(said[at:end]), end)


def _ends(said: list[str], at: int) -> bool:
    return at >= len(said) or said[at] in (",", "(", ";", "-", "–", ".")


def _is_hour(token: str) -> bool:
    return bool(_CLOCK.fullmatch(token) or _ENTRY.fullmatch(token)) or token in _HOURS


def closes(said: list[str], value: Part) -> bool:
    """Whether nothing follows a value that would make it another: the end, a comma, how often or since when.

    An amount or a time may be one somewhere, or on some days: "parking costs 5 an hour at the station".
    """
    at = value.end
    if said[at : at + 1] == ["and"] and said[at + 1 : at + 2] and said[at + 1] in _PRONOUNS:
        return True  # "is our lab tech and she had every bottle relabelled"
    if at < len(said) and (is_name(said[at]) or is_noun(said[at]) or said[at] in _GOES_ON or said[at] in _IS):
        return False
    if value.kind == "when" and said[at : at + 1] == ["at"] and said[at + 1 : at + 2] and _is_hour(said[at + 1]):
        at += 2  # "on Tuesdays at eight"
    if value.kind in ("when", "amount"):
        for word in said[at:]:
            if word in _BREAKS:
                break
            if word in PREPOSITIONS or word in DAYS:
                return False
    return True
