"""The words that the rules know: by language and by what they do in `tables/*.toml`, by frequency in `word_lists`.

`tools/word_lists.py` makes these lists of wordfreq's (Robyn Speer, CC BY-SA 4.0), which weighs 58 MB.
"""

import re
import tomllib
import unicodedata
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import numpy as np

CODES = ("en", "de", "nl", "fr", "es", "it", "pt")
_TABLES, _LISTS = map(resources.files("hopgate.extract.rules").joinpath, ("tables", "word_lists"))


def words(text: str) -> frozenset[str]:
    """Return the words of a list that is written as running text."""
    return frozenset(text.split())


def table(name: str) -> dict[str, Any]:
    """Read one of the tables."""
    return tomllib.loads(_TABLES.joinpath(f"{name}.toml").read_text("utf-8"))


def word_sets(name: str) -> dict[str, frozenset[str]]:
    """The lists of words of a table, by what they do."""
    return {key: words(text) for key, text in table(name).items() if isinstance(text, str)}


ENGLISH = word_sets("words")
_ROOM_ENDINGS = ("zimmer", "keller", "küche", "schrank", "regal", "schuppen", "kammer", "kamer")


@dataclass(frozen=True, slots=True)
class Language:
    """One language's words, by what they do in a note."""

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


def _language(code: str) -> Language:
    row = table(code)
    shifts = {
        word: days for key, days in (("today", 0), ("yesterday", -1), ("tomorrow", 1)) for word in row[key].split()
    }
    keys = ("function", "kin", "last", "next", "since", "until", "at", "openers", "hypothetical", "negated")
    sets = {key: words(row[key]) for key in keys}
    months = {name: number for number, names in enumerate(row["months"], start=1) for name in names.split()}
    return Language(
        code,
        months=months,
        of_dates=frozenset(months) | frozenset(shifts) | sets["last"] | sets["next"],
        days={name: number for number, name in enumerate(row["days"].split())},
        shifts=shifts,
        **sets,
    )


LANGUAGES = {code: _language(code) for code in CODES}
MONTHS = LANGUAGES["en"].months
KIN = frozenset(word for language in LANGUAGES.values() for word in language.kin)
GIVEN_NAMES = words(table("given_names")["names"])
SMALL = frozenset().union(*(one.function | one.openers | one.hypothetical for one in LANGUAGES.values()))
"""Words of every language that are never a name by themselves."""
_TELLING = {code: one.function | frozenset(one.days) for code, one in LANGUAGES.items()}
_CODES_OF = {word: [code for code in CODES if word in _TELLING[code]] for word in frozenset().union(*_TELLING.values())}


def language_of(tokens: Iterable[str]) -> str:
    """Tell the language of a note by its small words; English where they do not tell."""
    scores = dict.fromkeys(CODES, 0.0)
    for codes in filter(None, map(_CODES_OF.get, tokens)):
        for code in codes:  # a word that several languages have counts for each of them less
            scores[code] += 1 / len(codes)
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] > scores["en"] + 0.4 else "en"


class WordList:
    """Words in the order of their bytes, as `tools/word_lists.py` packs them, and how frequent they are."""

    def __init__(self, packed: bytes) -> None:
        data = zlib.decompress(packed)
        count = int.from_bytes(data[:4], "little")
        lengths = np.frombuffer(data, np.uint8, count, 4)
        self._starts = array("I", np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32).tobytes())
        # How many hundredths of a decade below 9 the zipf of each is.
        self._below = np.frombuffer(data, "<u2", count, 4 + count)
        self._words = data[4 + 3 * count :]

    def zipf(self, word: str) -> float:
        """How frequent a word is: 7 for "the", 3 once in a million words, 0 where it is not in the list."""
        wanted = word.encode(errors="replace")
        at = bisect_left(range(len(self._below)), wanted, key=self._word)
        is_there = at < len(self._below) and self._word(at) == wanted
        return 9 - int(self._below[at]) / 100 if is_there else 0.0

    def _word(self, at: int) -> bytes:
        return self._words[self._starts[at] : self._starts[at + 1]]


@cache
def word_list(name: str) -> WordList:
    """The words of a language, by its code; `common` has the thirty thousand most frequent of each language."""
    return WordList(_LISTS.joinpath(f"{name}.words").read_bytes())


@lru_cache(maxsize=65536)
def zipf(word: str, code: str) -> float:
    """Say how frequent a word is in a list, as `WordList.zipf` does."""
    return word_list(code).zipf(word)


@lru_cache(maxsize=16384)
def plain(word: str) -> str:
    """Fold case and accents, and take off a genitive's s after an apostrophe."""
    lower = word.lower().replace("’", "'").removesuffix("'s")
    if lower.isascii():
        return lower
    folded = unicodedata.normalize("NFKD", lower)
    return "".join(character for character in folded if not unicodedata.combining(character))


def is_given(word: str, *, genitive: bool = True) -> bool:
    """Whether a word is a given name, also in a German genitive."""
    name = plain(word)
    return name in GIVEN_NAMES or (genitive and len(name) > 4 and name[-1] == "s" and name[:-1] in GIVEN_NAMES)


def is_room(name: str) -> bool:
    """Whether a common noun is a part of a house, where things are kept."""
    first, _, rest = name.lower().strip().partition(" ")
    last = rest.rpartition(" ")[2] or first
    return first in ENGLISH["numbered"] or last in ENGLISH["rooms"] or last.endswith(_ROOM_ENDINGS)


def filled(pattern: str, groups: Mapping[str, str]) -> str:
    """A pattern with the groups that it names in braces."""
    for name, group in groups.items():
        pattern = pattern.replace(f"{{{name}}}", group)
    return pattern


# A group in which there is no other: one that is only looked at, and one that may be missing, say so.
_GROUP = re.compile(r"\((?P<look>\?<?[=!])?(?:\?:|\?P<\w+>)?(?P<ways>[^()]*)\)(?P<option>[?*]|\{0[^}]*\})?")
_NEEDED = re.compile(r"[^\W\d_]+(?:'s)?|[-=]+>|→|[:=@]")


def needed_words(pattern: str) -> tuple[frozenset[str], ...]:
    """Sets of words, of each of which a text must have one for a pattern over words to match it."""
    rest = re.sub(r"\[[^]]*\]|\\.", "§", pattern)
    groups: list[str] = []
    while group := _GROUP.search(rest):
        put = " "
        if not (group["look"] or group["option"]):
            # What has a group inside it is no plain word; a group that stands alone is looked at below.
            put = "§" if "(" in rest[: group.start()] else f"§{len(groups)}§"
            groups.append(group["ways"])
        rest = f"{rest[: group.start()]}{put}{rest[group.end() :]}"
    sets = []
    for word in re.sub(r"(?<!\S)[?^]", "", rest).split():
        ways = groups[int(word[1:-1])] if re.fullmatch(r"§\d+§", word) else word
        # Of "works?" the last letter may be missing.
        first = (way.split(" ")[0] for way in ways.split("|"))
        sets.append(frozenset(form for way in first for form in ((way[:-2], way[:-1]) if way[-1:] == "?" else (way,))))
    return tuple(one for one in sets if all(map(_NEEDED.fullmatch, one)))
