"""Phrase candidates: regular expressions over the letters that `tokenise.letter` gives to tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hopgate.extract.rules.plural import singular
from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import ABBREVIATIONS, MONTHS

# A name: capitals, with particles (Vasco da Gama), "of" and "the" inside it (Bank of England, Henry the Navigator), an
# ampersand, a number after (Apollo 11) or a year before (1968 Summer Olympics), and closed-class words that carry a
# capital themselves (Gone With the Wind). Each part was kept for what it adds to recall in docs/research/extraction.md.
# Every pattern starts with a class of letters, because that is what the regular expression engine can skip to.
_NAME = re.compile(
    r"[UAKiPYNC](?:(?<=P)(?![UA])|(?:(?<=[UAKiP])|(?<=[YN])(?=[UAC])|(?<=C)(?<![.¶\":]C)(?=U))"
    r"(?:[UAKi]|(?<=[UAKiot])[NYZTC](?!q)|ot?(?=[UAKY])|p+t?(?=[UAK])|&(?=[UAK])|t(?=U)|P(?=[UA])"
    r"|,i(?![UAKi])|I(?=[.,;:)¶a]|$)"  # Acme, Inc. and World War I
    r"|(?<=[YN])C(?=U))*P?)"
)
_DATE = re.compile(
    r"[NMYDc](?:(?<=N)(?:M\.?N?,?Y|,?M|oM(?:,?Y)?)|(?<=M)(?:\.?N?,?Y|\.?N)|(?<=M)(?<![UAK]M)|(?<=[YD])"
    r"|(?<=[Nc])(?P<century>w))"
)
_QUOTE = re.compile(r'"(?P<inside>[^".;:¶()]{1,8})[,.]?"')
# Ordinary words: two or three after anything, or one after a determiner; the last must look like a noun, that is, not
# end in -ed or -ing. Verbs that are not in the stop list slip in: there is no tagger here.
_PHRASE = re.compile(r"[we](?<![weN][we])(?:[we]?w|(?<=[tdP]w))(?!w|q|e+w)")
_PLAIN_CODE = re.compile("[HV]")
_START = re.compile(r"U(?<![^.¶\":(-]U)")
_ROMAN = frozenset(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"])
_CENTURY = frozenset(("century", "centuries"))

TITLE_WORDS = 12
"""A first line of at most this many words without a full stop is a title, and a title is a mention."""


class Span(NamedTuple):
    """Tokens ``start`` to ``end`` as a candidate; `form` is name, date, title, quote, phrase or code."""

    start: int
    end: int
    name: str
    form: str


def letters(tokens: list[str]) -> str:
    """One letter a token, after deciding which capitals at the start of a sentence are mere grammar.

    A word that the same text also writes without the capital is an ordinary word, and so is a participle or adverb
    that no second capital follows.

    Examples
    --------
    >>> letters(["Disks", "fail", ".", "Replace", "disks", "in", "Berlin"])
    'ww.UwsU'
    """
    marks = "".join(map(letter, tokens))
    lower: set[str] | None = None
    changed: list[str] = []
    for match in _START.finditer(marks):
        at = match.start()
        lower = lower or set(tokens)
        changed = changed or list(marks)
        word = tokens[at].lower()
        if word in lower or (marks[at + 1 : at + 2] not in "UPi" and word.endswith(("ing", "ed", "ly"))):
            changed[at] = "w"
    return "".join(changed) if changed else marks


def candidates(tokens: list[str], marks: str) -> list[Span]:
    """Return the spans that do not overlap, in the order of the text: names, dates, quotes and phrases.

    Examples
    --------
    >>> tokens = "Ada Lovelace moved the backup job to nas-2 in March 2024".split()
    >>> [(span.name, span.form) for span in candidates(tokens, letters(tokens))]
    [('Ada Lovelace', 'name'), ('backup job', 'phrase'), ('nas-2', 'code'), ('March 2024', 'date')]
    """
    taken = bytearray(len(tokens))
    spans: list[Span] = []

    def take(start: int, end: int, form: str, name: str = "") -> None:
        if name := name or joined(tokens, start, end):
            spans.append(Span(start, end, name, form))
            taken[start:end] = b"\1" * (end - start)

    for match in _DATE.finditer(marks):
        if not match["century"] or tokens[match.end() - 1].lower() in _CENTURY:
            start, end = match.span()
            # "1968 Summer Olympics" and "Apollo 1968" are names; the year goes with them there and is taken below.
            if not (end - start == 1 and marks[start] == "Y" and _beside_name(marks, start)):
                take(start, end, "date")
    for match in _QUOTE.finditer(marks):
        inside = match["inside"].rstrip(",")
        start = match.start("inside")
        if any(mark in "UAKZTC" for mark in inside) and taken.find(1, start, start + len(inside)) < 0:
            take(start, start + len(inside), "quote")
    for match in _NAME.finditer(marks):
        start, end = match.span()
        if end > start and taken.find(1, start, end) < 0 and _is_name(tokens, marks, start, end):
            take(start, end, "code" if end - start == 1 and marks[start] in "K" else "name")
    for match in _PLAIN_CODE.finditer(marks):
        if not taken[match.start()]:
            take(*match.span(), "code")
    for match in _PHRASE.finditer(marks):
        start, end = match.span()
        if taken.find(1, start, end) < 0:
            take(start, end, "phrase", " ".join((*tokens[start : end - 1], singular(tokens[end - 1]))))
    spans.sort(key=lambda span: span.start)
    return spans


def title(tokens: list[str], marks: str) -> str:
    r"""Return the first line as a name where it has the form of a title, without what it has in brackets.

    Examples
    --------
    >>> tokens = ["Mercury", "(", "planet", ")", "\n", "It", "is", "hot", "."]
    >>> title(tokens, letters(tokens))
    'Mercury'
    """
    end = marks.find("¶")
    if not 0 < end <= TITLE_WORDS or marks[end - 1] == "." or end == len(marks) - 1:
        return ""
    bracket = marks.find("(", 0, end)
    return joined(tokens, 0, bracket if bracket > 0 else end)


def variants(tokens: list[str], marks: str, span: Span) -> Iterator[str]:
    """Yield the other names inside a name: what follows its "of", its year, its possessive, itself with "The".

    Examples
    --------
    >>> tokens = ["The", "Bank", "of", "England"]
    >>> spans = candidates(tokens, letters(tokens))
    >>> list(variants(tokens, letters(tokens), spans[0]))
    ['The Bank of England', 'England']
    """
    start, end = span.start, span.end
    inside = marks[start:end]
    if start and marks[start - 1] == "T":
        yield joined(tokens, start - 1, end)
    if len(inside) == 1:
        return
    if inside[0] in "YN":
        yield joined(tokens, start + 1, end)
        if inside[0] == "Y":
            yield tokens[start]
    if (of := inside.rfind("o")) > 0:
        yield joined(tokens, start + of + (2 if inside[of + 1] == "t" else 1), end)
    if 0 <= (owner := inside.find("P")) < len(inside) - 1:
        yield joined(tokens, start, start + owner + 1)
        yield joined(tokens, start + owner + 1, end)


def joined(tokens: list[str], start: int, end: int) -> str:
    """Return the tokens as a name: a possessive's 's and an acronym's plural s go."""
    if end - start == 1:
        name = tokens[start]
    else:
        name = " ".join(tokens[start:end]).strip(" ,\"'`")
        if " ," in name or " :" in name:
            name = name.replace(" ,", ",").replace(" :", ":")
    if name.endswith(("'s", "’s")):
        return name[:-2]
    if name.endswith("s") and name[:-1].isupper() and len(name) > 3:
        return name[:-1]
    return name


def _beside_name(marks: str, at: int) -> bool:
    return marks[at + 1 : at + 2] in ("U", "A", "C") or (at > 0 and marks[at - 1] in "UAK")


def _is_name(tokens: list[str], marks: str, start: int, end: int) -> bool:
    """Refuse what is a capital without being a name: single letters, numerals, Inc., e.g."""
    if end - start > 1:
        return True
    name = tokens[start].rstrip(".").lower()
    return not (
        len(name) < 2
        or tokens[start] in _ROMAN
        or name in ABBREVIATIONS
        or name in MONTHS
        or (marks[start] == "i" and (len(name) < 3 or not tokens[start][0].isupper()))
    )
