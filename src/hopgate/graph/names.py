"""Names: the one spelling under which they are compared, the tokens that carry their meaning, and names in texts."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from hopgate.extract.rules.words import ENGLISH, words

_DOTTED = re.compile(r"\b((?:\w\.)+\w?)(?=\W|$)")
_POSSESSIVE = re.compile(r"['’]s\b")
# Kept inside a name: letters, digits, the dot of a version, and the marks by which C++, C# and C differ.
_SEPARATOR = re.compile(r"[^\w.+#]|_|(?<!\d)\.|\.(?!\d)")
_ARTICLES = frozenset(("the", "a", "an"))
_NUMERAL = re.compile(r"v?\d[\w.]*")

_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
WORDS = {name: words(text) for name, text in _TABLE.items() if isinstance(text, str)}
"""Words by which names and relations are compared, by what they do."""
_NUMBERS, _LAST_NUMBERS = (
    {word: digit for digit, text in _TABLE[name].items() for word in text.split()}
    for name in ("numbers", "last_numbers")
)


@lru_cache(maxsize=1 << 16)
def comparison_form(token: str) -> str:
    """Strip a regular English plural from a token of a normalised name; the result is compared, never shown."""
    if len(token) < 4 or token == "news" or not token.endswith("s") or token.endswith(("ss", "us", "is")):
        return token
    if token.endswith("ies") and len(token) > 4:
        return token[:-3] + "y"
    return token[:-2] if token.endswith(("xes", "ches", "shes", "sses", "zes")) else token[:-1]


@lru_cache(maxsize=1 << 16)
def normalise(name: str) -> str:
    """Give the one spelling under which names that differ in case, accents and marks are the same."""
    # One pass may leave something for the next, such as a ligature: repeat until all is done.
    before, folded = name, _folded(name)
    while folded != before:
        before, folded = folded, _folded(folded)
    return folded


def _folded(name: str) -> str:
    folded = plain = unicodedata.normalize("NFKD", name).casefold()
    if not folded.isascii():
        plain = "".join(character for character in folded if not unicodedata.combining(character))
    plain = _POSSESSIVE.sub("", plain)
    plain = _DOTTED.sub(lambda match: match[0] if match[0][0].isdigit() else match[0].replace(".", ""), plain)
    parts = _SEPARATOR.sub(" ", plain).split()
    # All articles before a name at once: somebody may write a million of them.
    first = next((at for at, part in enumerate(parts[:-1]) if part not in _ARTICLES), len(parts) - 1)
    return " ".join(parts[max(first, 0) :]) or " ".join(folded.split())


@lru_cache(maxsize=1 << 16)
def tokens(name: str) -> tuple[str, ...]:
    """Give the tokens of a normalised name that carry its meaning, in order and each once.

    Joining words, forms of address before a name and legal forms after it go; plurals become singular and number words
    and Roman numerals digits. A name made of nothing else keeps all.
    """
    parts = [word for word in name.split() if word not in WORDS["joining"]] or name.split()
    while len(parts) > 1 and parts[0] in WORDS["honorifics"]:
        parts = parts[1:]
    while len(parts) > 1 and parts[-1] in WORDS["legal_forms"]:
        parts = parts[:-1]
    if len(parts) > 1:
        parts = [_NUMBERS.get(word, word) for word in parts]
        parts[-1] = _LAST_NUMBERS.get(parts[-1], parts[-1])
    return tuple(dict.fromkeys(comparison_form(word) for word in parts))


def numbers(name_tokens: tuple[str, ...]) -> frozenset[str]:
    """Tokens that number or date a thing; a month only beside a number, for May and March are words and names."""
    numerals = {token for token in name_tokens if _NUMERAL.fullmatch(token)}
    return frozenset(numerals | (WORDS["months"] & set(name_tokens)) if numerals else ())


def clash(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two names, by their tokens, name things that differ by a number or by a word like "new".

    Each with a number, and not the same one: two things. All they differ in is "new" or "east": two things. A number
    that only one of them has may be left out by the other.
    """
    left, right = numbers(first), numbers(second)
    if left and right and (left != right or (first != second and all(map(_NUMERAL.fullmatch, first)))):
        return True
    odd = set(first) ^ set(second)
    return bool(odd) and odd <= WORDS["distinguishing"]


def initials(name: str) -> str:
    """First letters of a normalised name's meaning-carrying words; empty where there are fewer than two, or digits."""
    parts = [word for word in name.split() if word not in WORDS["joining"]]
    return "".join(word[0] for word in parts) if len(parts) > 1 and not _DIGIT_OR_MARK.search(name) else ""


_DIGIT_OR_MARK = re.compile(r"\d|(?<!\S)[^\w\s]")
# Names of things have at most so many words; what is longer is a phrase that an extractor took for a name.
LONGEST = 8

_EMPTY = ENGLISH["stop_words"] | ENGLISH["determiners"] | WORDS["empty"]


def concepts_in(text: str, names: Iterable[tuple[str, int]]) -> list[int]:
    """Find the concepts whose names are in a text: from left to right, the longest first, never two over one word.

    Names are normal forms, each with its concept; where two concepts share one the smaller number has it.
    """
    concepts = dict(sorted((row for row in names if can_be_found(row[0].split())), reverse=True))
    words, found, at = name_words(text), list[int](), 0
    while at < len(words):
        run = next((run for run in _runs(words, at) if run in concepts), None)
        found += [] if run is None else [concepts[run]]
        at += 1 if run is None else len(run.split())
    return found


def name_runs(text: str) -> list[str]:
    """Give the normal forms that names in a text may have: every run of up to eight words."""
    words = name_words(text)
    return sorted({run for at in range(len(words)) for run in _runs(words, at)})


def _runs(words: Sequence[str], at: int) -> Iterator[str]:
    """The runs of words that begin here, the longest first."""
    return (" ".join(words[at:end]) for end in range(min(at + LONGEST, len(words)), at, -1))


def can_be_found(words: Sequence[str]) -> bool:
    """Whether a name is looked for in texts: it has not too many words, and is no pronoun, article or single letter."""
    return 0 < len(words) <= LONGEST and not all(word in _EMPTY or len(word) < 2 for word in words)


def name_words(text: str) -> list[str]:
    """Split a text the way names are compared."""
    # Without the cache of `normalise`: it is meant for names, and whole memories and queries would push them out.
    return normalise.__wrapped__(text).split()
