"""Text to tokens, and each token to one letter for its kind, judged by its form.

The letters of a text's tokens make a string, so that phrases and names are found by ordinary regular expressions over
*kinds of token* (`names.py`), at the speed of the regular expression engine.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from hopgate.extract.rules.words import ENGLISH, MONTHS, language_of, table

_TABLE = table("tokens")
_CURRENCY = _TABLE["currency"]
_TOKEN = re.compile(_TABLE["token"].replace("CURRENCY", _CURRENCY), re.VERBOSE)
_SPACES = re.compile(r"[^\S\n]+")
LONGEST = 80 * 1024
"""What follows this many characters is not read, so that no memory takes longer than a second."""

# One letter a token:
#   U capitalised word   A acronym     K identifier   H host, URL, address, path   V version
#   Y year               N number      D ISO date, time     M month                      X weekday
#   o of                 t the         a and, &       p particle                   i initial
#   d determiner         s stop word   w other word   c number word    e word in -ed, -ing
#   T The                C number word with a capital      Z another closed-class word with a capital
#   P capitalised possessive               q unit          & ampersand       I I
#   L [[link]]           G #tag, @person               B `code`        $ amount    > arrow      J Chinese, Japanese
#   .  sentence end      ¶ line end    # heading, bullet          and marks:  , ; : ( ) " - '
_MARKS = {
    "¶": "\n", '"': ("``", "''", '"', "“", "”", "«", "»", "„"), "(": "([{", ")": ")]}", "-": "–—-‒", ",": ",，、；",
    ":": ":", ";": ";", "&": "&", "#": "#*", ">": ("->", "-->", "=>", "→", "⇒"),
}  # fmt: skip
_MARK_OF = {token: mark for mark, tokens in _MARKS.items() for token in tokens}
_CODE = re.compile(r".*[a-z0-9][A-Z]|.*_|.*[^\W\d][-./]?\d|\d+[-]?[^\W\d]|.*(?:\+\+|#)$|.*\w\.[a-z]")

# What begins with a digit, form by form, and the letter of each.
_DIGITS: list[tuple[str, re.Pattern[str]]] = [
    (mark, re.compile(form.replace("CURRENCY", _CURRENCY))) for mark, form in _TABLE["digits"]
]
_HOST = re.compile(_TABLE["host"])
_PREFIXED = re.compile(r"(?:[dl]['’]|al-|el-)[^\W\d_a-z]")


class Analysis(NamedTuple):
    """A text's tokens, also in lower case, their letters and their language."""

    tokens: list[str]
    lower: list[str]
    marks: str
    code: str


@lru_cache(maxsize=65536)
def letter(token: str) -> str:
    """Return the letter of a token's kind, judged by its form alone."""
    first = token[0]
    if not (first.isalnum() or first == "_"):
        return _mark(token)
    if first.isdigit():
        return next(mark for mark, form in _DIGITS if form.fullmatch(token))
    if "\u3040" <= first <= "\u9fff":
        return "J"
    if token[-1].isdigit() and token[:3] in ("EUR", "USD", "GBP", "CHF"):
        return "$"
    return _word(token, token.lower().replace("’", "'"))


def _mark(token: str) -> str:
    first = token[0]
    if first == "\n":
        return "¶"
    if not token.strip(".!?…。！？"):
        return "."
    if len(token) > 1 and token not in _MARK_OF and (first in _FIRST or token.startswith("[[")):
        return _FIRST.get(first, "L")
    return _MARK_OF.get(token, "H" if len(token) > 2 else "'")


# What a token of several marks and letters begins with.
_FIRST = {**dict.fromkeys("#@", "G"), **dict.fromkeys("€£$¥", "$"), "`": "B"}


def _word(token: str, lower: str) -> str:  # noqa: PLR0911, PLR0912 - a table in the order of precedence
    capital = token[0].isupper()
    if lower.endswith(_CONTRACTED) and lower.partition("'")[0] in _CLOSED:
        return "Z" if capital else "s"  # "How're"
    if lower in _CLOSED:
        # "IT" and "US" are not "it" and "us"; a lone capital I or A is a word.
        if capital and len(token) > 1 and token.isupper() and lower not in ("the", "of", "and"):
            return "A"
        if not capital:
            return _CLOSED[lower]
        if lower in ENGLISH["particles"]:
            return "U"
        if lower in ENGLISH["number_words"]:
            return "C"
        return _CAPITAL.get(lower, "Z")
    if lower in ENGLISH["units"] and token != "Ms":
        return "q"
    if lower in MONTHS and capital:
        return "M"
    if lower in ENGLISH["weekdays"]:
        return "X"
    if "@" in token or (not capital and "." in token and _HOST.fullmatch(token)):
        return "H"
    if token[-1] == ".":
        return "i"
    stem = token[:-2] if lower.endswith("'s") else token
    if lower.startswith("v") and stem[1:2].isdigit():
        return "V"
    if _CODE.match(stem) and not (stem[:-1].isupper() and stem[-1] == "s"):
        return "U" if stem.isalpha() and stem.startswith(_SURNAMES) else "K"
    if capital or _PREFIXED.match(token):
        if stem is not token:
            return "P"
        bare = stem.rstrip("s")
        return "A" if len(bare) > 1 and bare.isupper() else "U"
    if len(token) > 4 and lower.endswith(("ed", "ing")):
        return "e"
    if len(token) > 4 and lower.endswith("ly") and lower not in ENGLISH["nouns_in_ly"]:
        return "s"
    return "w"


_CONTRACTED = ("'re", "'ve", "'ll", "'d", "'m")
# McDonald, MacArthur, DeVito are names, not CamelCase identifiers.
_SURNAMES = ("Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van", "Fitz")
_CLOSED = {
    **dict.fromkeys(ENGLISH["stop_words"], "s"),
    **dict.fromkeys(ENGLISH["determiners"], "d"),
    **dict.fromkeys(ENGLISH["number_words"], "c"),
    **dict.fromkeys(ENGLISH["particles"], "p"),
    "of": "o",
    "the": "t",
    "and": "a",
}
_CAPITAL = {"the": "T", "may": "M", "i": "I"}


def tokenise(text: str) -> list[str]:
    """Split a text into words, numbers, hosts, paths, dates and marks."""
    # Runs of spaces become one first: a pattern that skips them would start anew at each of a million.
    text = text[:LONGEST]
    if "  " in text or not text.isprintable():  # the space is the only printable one
        text = _SPACES.sub(" ", text)
    tokens: list[str] = _TOKEN.findall(text)
    for at in [at for at, token in enumerate(tokens) if token == "."][::-1] if "." in tokens else ():
        before, after = tokens[at - 1].lower() if at else "", "".join(tokens[at + 1 : at + 2])
        # "He says no. Leave it.": a number follows where "no." is one.
        if before in ENGLISH["abbreviations"] and (before != "no" or after[:1].isdigit()):
            tokens[at - 1 : at + 1] = [tokens[at - 1] + "."]
    return tokens


def analysed(text: str) -> Analysis:
    """Tokenise a text and tell its language; the last short ones are kept, for they are read twice in a row."""
    return _kept(text) if len(text) < 10_000 else _analysed(text)


def _analysed(text: str) -> Analysis:
    tokens = tokenise(text)
    lower = [token.lower() for token in tokens]
    code = language_of(lower)
    return Analysis(tokens, lower, "".join(map(letter, tokens)), code)


_kept = lru_cache(maxsize=2048)(_analysed)
