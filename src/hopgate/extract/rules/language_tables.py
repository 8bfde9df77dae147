"""The languages whose notes are read: their small words, months, days and titles; the tables are `tables/*.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from hopgate.extract.rules.word_list import word_list
from hopgate.extract.rules.words import words

CODES = ("en", "de", "nl", "fr", "es", "it", "pt")
_TABLES = resources.files("hopgate.extract.rules").joinpath("tables")


@dataclass(frozen=True, slots=True)
class Language:
    """One language's words, by what they do in a note.

    Examples
    --------
    >>> LANGUAGES["de"].months["märz"], LANGUAGES["en"].days["tuesday"], "oma" in LANGUAGES["de"].kin
    (3, 1, True)
    """

    code: str
    function: frozenset[str]
    kin: frozenset[str]
    months: dict[str, int]
    days: dict[str, int]
    shifts: dict[str, int]
    last: frozenset[str]
    next: frozenset[str]
    since: frozenset[str]
    until: frozenset[str]
    at: frozenset[str]
    openers: frozenset[str]
    hypothetical: frozenset[str]
    negated: frozenset[str]
    of_dates: frozenset[str]


def table(name: str) -> dict[str, Any]:
    """Read one of the tables."""
    return tomllib.loads(_TABLES.joinpath(f"{name}.toml").read_text("utf-8"))


def _language(code: str) -> Language:
    row = table(code)
    shifts = {
        word: days for key, days in (("today", 0), ("yesterday", -1), ("tomorrow", 1)) for word in row[key].split()
    }
    sets = {key: frozenset(row[key].replace("_", " ").split()) for key in ("function", "kin", "last", "next", "since")}
    months = {name: number for number, names in enumerate(row["months"], start=1) for name in names.split()}
    return Language(
        code,
        months=months,
        of_dates=frozenset(months) | frozenset(shifts) | sets["last"] | sets["next"],
        days={name: number for number, name in enumerate(row["days"].split())},
        shifts=shifts,
        **sets,
        **{key: frozenset(row[key].split()) for key in ("until", "at", "openers", "hypothetical", "negated")},
    )


LANGUAGES = {code: _language(code) for code in CODES}
KIN = frozenset(word for language in LANGUAGES.values() for word in language.kin)
GIVEN_NAMES = frozenset(table("given_names")["names"].split())
# The small words of each, and its days: "Kinderarzt angerufen, Termin Montag" has no other.
_GERMAN = words(  # "Schrank verkauft"
    "angerufen gekauft verkauft bestellt gekündigt umgezogen gewechselt verlegt bezahlt überwiesen geliehen verliehen "
    "abgeholt"
)
_OPENS_GERMAN = frozenset(("neue", "neuer", "neues"))  # "Neue Chorleiterin: Annika Lindqvist"
_TELLING = {
    code: one.function | frozenset(one.days) | (_GERMAN if code == "de" else frozenset())
    for code, one in LANGUAGES.items()
}
# A word that several languages have counts for each of them less.
_SHARES = {
    word: [(code, 1 / sum(word in other for other in _TELLING.values())) for code in CODES if word in _TELLING[code]]
    for word in frozenset().union(*_TELLING.values())
}


def language_of(tokens: Iterable[str]) -> str:
    """Tell the language of a note by its small words; English where they do not tell.

    Examples
    --------
    >>> texts = ("der Server steht im Keller", "elle est à Lyon depuis mai", "ok thanks")
    >>> [language_of(text.split()) for text in texts]
    ['de', 'fr', 'en']
    """
    scores = dict.fromkeys(CODES, 0.0)
    said = list(tokens)
    first = said[0] if said else ""
    for shares in filter(None, map(_SHARES.get, said)):
        for code, share in shares:
            scores[code] += share
    if first in _OPENS_GERMAN:
        scores["de"] += 0.45
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] > scores["en"] + 0.4 else "en"


@lru_cache(maxsize=65536)
def zipf(word: str, code: str) -> float:
    """Say how frequent a word is in a language: 7 for "the", 3 once in a million words, 0 where it is not known.

    Examples
    --------
    >>> zipf("the", "en") > 7, zipf("vaultwarden", "en")
    (True, 0.0)
    """
    return word_list(code).zipf(word)


@lru_cache(maxsize=16384)
def is_common_anywhere(word: str) -> bool:
    """Whether any of the languages has a word among its thirty thousand most frequent."""
    return word in word_list("common")


# "theorg" is a programme: two short words are seldom a noun, unless the second is frequent.
_LETTERS, _SHORT = 6, 4.0


@lru_cache(maxsize=16384)
def is_compound(word: str) -> bool:
    """Whether a German or Dutch word is two known ones written together, as common nouns are and names are not.

    Examples
    --------
    >>> is_compound("sommerausflug"), is_compound("fußballtraining"), is_compound("aumund")
    (True, True, False)
    """
    word = word.replace("ß", "ss")  # as wordfreq keeps them; a name alone ("Strauß") stays one
    for at in range(3, len(word) - 2):
        if zipf(word[at:], "de") < (_SHORT if len(word) <= _LETTERS else 3):
            continue
        left = word[:at]
        if any(
            zipf(left.removesuffix(link), "de") >= 3 for link in ("", "s", "n", "en", "es") if len(left) - len(link) > 2
        ):
            return True
    return False
