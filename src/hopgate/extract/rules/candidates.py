"""Phrase candidates: regular expressions over the letters that `tokenise.letter` gives to tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopgate.extract.rules.capitals import is_given
from hopgate.extract.rules.dates import DateSpan
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import ABBREVIATIONS, MONTHS, TITLES, words

# A name: capitals, with particles (Vasco da Gama), "of" and "the" inside it (Bank of England, Henry the Navigator), an
# ampersand, a number after (Apollo 11) or a year before (1968 Summer Olympics), and closed-class words that carry a
# capital themselves (Gone With the Wind). Each part was kept for what it adds to recall in docs/research/extraction.md.
# Every pattern starts with a class of letters, because that is what the regular expression engine can skip to.
_NAME = compiled(
    r"[UAKiPYNC](?:(?<=P)(?![UA])|(?:(?<=[UAKiP])|(?<=[YN])(?=[UAC])|(?<=C)(?<![.¶\":]C)(?=U))"
    r"(?:[UAKi]|(?<=[UAKiot])[NYZTC](?!q)|ot?(?=[UAKY])|p+t?(?=[UAK])|&(?=[UAK])|t(?=U)|P(?=[UA])"
    r"|,i(?![UAKi])|I(?=[.,;:)¶a]|$)"  # Acme, Inc. and World War I
    r"|(?<=[YN])C(?=U))*P?)"
)
_QUOTE = compiled(r'"(?P<inside>[^".;:¶()]{1,8})[,.]?"')
_ROMAN = frozenset(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"])
_PIECE = compiled("[HVLGBK]")
_HOST_OF = compiled(r"https?://(?:[^/@\s]*@)?([^/:?#\s]+)")
# 120k, 60s, 8-bit: a number with a unit is no name.
_MEASURE = compiled(r"\d+(?:[-.,]\d+)*(?:[-]?[^\W\d_]{1,8})?|[^\W\d_]\d")
# "Year 5" is not "Year", as "Debian 12" is Debian.
_BEFORE_YEAR = words("since in until till before after by seit bis depuis en desde hasta sinds tot dal nel")
_AT = words("at to from with by into via")
_EMPLOYED = words("works work working worked job started starts shift")
_WORKS = _EMPLOYED | words("goes go going studies")
_AFTER_FIRM = words("as and since now in on this last today full-time part-time")
_COUNTED = words("milestone year room phase sprint chapter class grade gate platform floor unit week lesson step level")
LONGEST_NAME = 10
"""A run of more capitals than this is a heading in capitals or noise, and no name."""

TITLE_WORDS = 12
"""A first line of at most this many words without a full stop is a title, and a title is a mention."""


class Span(NamedTuple):
    """Tokens ``start`` to ``end`` as a candidate; `form` is name, date, quote, code, tag, note …."""

    start: int
    end: int
    name: str
    form: str


def candidates(tokens: list[str], marks: str, dates: Sequence[DateSpan] = ()) -> list[Span]:
    """Return the spans that do not overlap, in the order of the text: names, dates, quotes, marked names.

    Examples
    --------
    >>> tokens = ["Ada", "Lovelace", "moved", "it", "to", "nas-2", "[[Rack plan]]", "#homelab"]
    >>> [(span.name, span.form) for span in candidates(tokens, "UUwssKLG")]
    [('Ada Lovelace', 'name'), ('nas-2', 'code'), ('Rack plan', 'note'), ('homelab', 'tag')]
    """
    taken = bytearray(len(tokens))
    spans: list[Span] = []

    def take(start: int, end: int, form: str, name: str = "") -> None:
        if name := name or joined(tokens, start, end):
            spans.append(Span(start, end, name, form))
            taken[start:end] = b"\1" * (end - start)

    for start, end, iso in dates:
        # "1968 Summer Olympics" and "Apollo 1968" are names; the year goes with them there and is taken below. Not so
        # in "since 2019 Lena has lived in Berlin".
        alone = start > 0 and tokens[start - 1].lower() in _BEFORE_YEAR
        if alone or not (end - start == 1 and marks[start] == "Y" and _beside_name(marks, start)):
            take(start, end, "date", iso)
    for match in _PIECE.finditer(marks):
        at = match.start()
        if (
            not taken[at]
            and (piece := _piece(tokens[at], marks[at]))
            and (marks[at] != "K" or not _beside_name(marks, at))
        ):
            take(at, at + 1, *piece)
    for match in _QUOTE.finditer(marks):
        inside = match["inside"].rstrip(",")
        start = match.start("inside")
        if any(mark in "UAKZTC" for mark in inside) and taken.find(1, start, start + len(inside)) < 0:
            take(start, start + len(inside), "quote")
    # What is taken ends a name: in "since 1 May 2024 Lena" the year is the date's.
    free = "".join("_" if used else mark for used, mark in zip(taken, marks, strict=True)) if spans else marks
    for match in _NAME.finditer(free):
        start, end = match.span()
        if (
            start < end <= start + LONGEST_NAME
            and taken.find(1, start, end) < 0
            and _is_name(tokens, marks, start, end)
        ):
            for first, last in _people(tokens, start, end):
                take(first, last, "name", _with_its_s(tokens, marks, first, last))
    spans.sort(key=lambda span: span.start)
    return spans


def _people(tokens: list[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """A name, or two of people who stand side by side: "unterrichtet Herr Jablonski Mila"."""
    if end - start == 2 and tokens[start + 1].isdigit() and is_given(tokens[start]):
        yield start, start + 1  # "Jonas 14 geworden"
        return
    titled = end - start == 3 and tokens[start].lower().rstrip(".") in TITLES
    # Not of "Sister of Anna", nor of "Frau Dr. Mila".
    titled = titled and tokens[start + 1][0].isupper() and tokens[start + 1].lower().rstrip(".") not in TITLES
    if titled and is_given(tokens[end - 1]) and not is_given(tokens[end - 2]):
        yield from ((start, end - 1), (end - 1, end))
    else:
        yield start, end


def _with_its_s(tokens: list[str], marks: str, start: int, end: int) -> str:
    """A name of which the 's is a part, as nothing follows that it has: "works at Queen's, in facilities"."""
    if not tokens[end - 1].endswith(("'s", "’s")) or not start or tokens[start - 1].lower() not in _AT:
        return ""
    name = " ".join(tokens[start:end])
    closes = end == len(tokens) or marks[end] in ".,;:!)¶" or tokens[end] in _AFTER_FIRM
    verb = tokens[start - 2].lower() if start > 1 else ""
    known = end - start > 1 or verb in _WORKS  # "at Pete's" is where he lives
    firm = not is_given(tokens[end - 1][:-2]) or verb in _EMPLOYED
    return f"{name[:-2]}'s" if closes and known and firm else ""


def _piece(token: str, mark: str) -> tuple[str, str] | None:  # noqa: PLR0911 - a table in the order of precedence
    """Say what a token is that its form alone makes a name: (form, name), or nothing."""
    if mark == "L":
        return "note", " ".join(token[2:-2].split("|", maxsplit=1)[0].split("#", maxsplit=1)[0].split())
    if mark == "G":
        return ("tag" if token[0] == "#" else "person"), token[1:].rstrip("/-")
    if mark == "B":
        inside = token[1:-1].strip()
        return ("code", inside) if inside and inside.count(" ") < 2 else None
    if mark == "V":
        return ("version", token) if token.count(".") > 1 or token[0] in "vV" else None
    if mark == "K":
        stem = token.removesuffix("'s").removesuffix("’s")
        return None if _MEASURE.fullmatch(stem) and not stem[:1].isupper() else ("code", stem)
    if "@" in token:
        return "email", token
    if host := _HOST_OF.match(token):
        return "url", host[1]
    return ("path" if "/" in token else "host"), token


def title(tokens: list[str], marks: str) -> str:
    r"""Return the first line as a name where it has the form of a title, without what it has in brackets.

    Examples
    --------
    >>> tokens = ["Mercury", "(", "planet", ")", "\n", "It", "is", "hot", "."]
    >>> title(tokens, "U(w)¶Zsw.")
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
    >>> list(variants(tokens, "TUoU", candidates(tokens, "TUoU")[0]))
    ['The Bank of England', 'England']
    """
    start, end = span.start, span.end
    inside = marks[start:end]
    if start and marks[start - 1] == "T":
        yield joined(tokens, start - 1, end)
    if len(inside) == 1:
        return
    if inside[-1] == "N" and end - start > 1 and tokens[start].lower() not in _COUNTED:
        yield joined(tokens, start, end - 1)  # Debian 12 is Debian
    if inside[0] in "YN":
        yield joined(tokens, start + 1, end)
        if inside[0] == "Y":
            yield tokens[start]
    if (of := inside.rfind("o")) > 0:
        yield joined(tokens, start + of + (2 if inside[of + 1 : of + 2] == "t" else 1), end)
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
