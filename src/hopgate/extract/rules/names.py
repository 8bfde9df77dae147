"""The names of one memory: capitals that are no grammar, marks, codes, and words that other memories make known."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from hopgate.extract.extraction import Source
from hopgate.extract.rules.dates import DateSpan, date_spans
from hopgate.extract.rules.survey import BEFORE_START, introduced, lower_places
from hopgate.extract.rules.tokens import analysed, letter
from hopgate.extract.rules.words import (
    ENGLISH,
    KIN,
    LANGUAGES,
    filled,
    is_given,
    language_of,
    plain,
    table,
    word_sets,
    zipf,
)

_TABLE = table("names")
_WORDS = word_sets("names")
# Sentences of a short line drop their articles ("Rack would be nicer"), so that a capital at their start says little.
TERSE = 60
# By zipf: what is rarer is a name though a sentence begins with it, or where it does what names do; what is more
# frequent is a word though other notes have it as a name.
ORDINARY, _SUBJECT, _EVERYDAY = 2.3, 4.4, 5.2
_NOUN_ENDS = ("ung", "ungen", "heit", "keit", "schaft", "tion", "chen", "lein", "ität", "nis", "tum", "ling", "abend")
# The head of a table is a row above a line of dashes.
_TABLE_HEAD = re.compile(r"(?:^|(?<=¶))'[^¶]*(?=¶'-)")
_LONGEST_NAME = 10
"""A run of more capitals than this is a heading in capitals or noise, and no name."""


class Span(NamedTuple):
    """Tokens ``start`` to ``end`` as a candidate; `form` is name, date, quote, code, tag, note …."""

    start: int
    end: int
    name: str
    form: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules know of one memory before they look for facts."""

    tokens: list[str]
    lower: list[str]
    marks: str
    code: str
    spans: list[Span]
    kinds: dict[str, str]
    topic: str
    speaker: str


def read(source: Source) -> Reading:
    """Read one memory."""
    tokens, lower, raw, code = analysed(source.text)
    known = dict(source.known)
    if source.title is None:  # without context; with it the survey has seen this text too
        known |= {name: kind for name, kind in introduced(tokens, lower, source.tags).items() if not known.get(name)}
    speaker = _speaker(tokens, raw, known)
    if speaker:
        known.setdefault(lower[0], "person")
    marks = name_capitals(tokens, lower, raw, code, known)
    dates = date_spans(tokens, lower, code, source.created_at)
    dates = dates[1:] if speaker and dates and not dates[0].start else dates  # Jan, June
    spans = name_spans(tokens, marks, dates)
    taken = {at for span in spans for at in range(span.start, span.end)}
    for at in lower_places(tokens, known, code):
        if at not in taken:
            name = tokens[at].removesuffix("'s").removesuffix("’s")
            spans.append(Span(at, at + 1, name, known.get(name) or "name"))
    for at, mark in enumerate(marks):
        if mark == "$":
            spans.append(Span(at, at + 1, tokens[at], "amount"))
        elif mark == "J":
            spans += [Span(at, at + 1, name, "han") for name in han_names(tokens[at])]
    spans.sort(key=lambda span: span.start)
    kinds = {span.name: kind for span in spans if (kind := person_kind(span.name) or known.get(span.name.lower(), ""))}
    return Reading(tokens, lower, marks, code, spans, kinds, _topic(source.title or "", code), speaker)


def _topic(title: str, code: str) -> str:
    """What a memory is about, by its title; the day of a diary is nothing."""
    words = title.split()
    lower = [word.lower().strip(",.") for word in words]
    dated = {at for span in date_spans(words, lower, code, None) for at in range(span.start, span.end)}
    is_date = dated and all(at in dated or word in LANGUAGES[code].days for at, word in enumerate(lower))
    return "" if is_date else " ".join(words)


def _speaker(tokens: list[str], marks: str, known: dict[str, str]) -> str:
    """The name before the colon that starts a turn: "Caroline: …"; "Note:" and "Reason:" start lines too."""
    end = marks.find(":", 0, 4)
    first = tokens[0].lower() if tokens else ""
    if end < 1 or end == len(marks) - 1 or not set(marks[:end]) <= set("UAiKMZC") or first in _WORDS["no_speakers"]:
        return ""
    is_short = first in _WORDS["short_names"] and marks[end + 1] != "N"  # "Ash: 5 points"
    is_name = is_given(first) or is_short or known.get(first) == "person"
    return " ".join(tokens[:end]) if (is_name or end > 1) and marks[end + 1] != "¶" else ""


# Capitals.


def name_capitals(  # noqa: PLR0912 - one kind of capital after another
    tokens: list[str], lower: list[str], marks: str, code: str, known: Collection[str]
) -> str:
    """Give the letters of tokens again, with the capitals that are mere grammar as ordinary words.

    `known` are words, in lower case, that this or another memory shows to be names.
    """
    changed = list(marks)
    said, codes = set(tokens), _line_codes(lower, marks, code)
    for at, mark in enumerate(marks):
        if mark not in "UPMqA":
            continue
        code = codes[at]
        language = LANGUAGES[code]
        word = lower[at].replace("’", "'").removesuffix("'s")
        if word in language.days or word.removesuffix("s") in language.days:
            changed[at] = "X"
        elif word in language.months and mark != "q":
            changed[at] = "M"
        elif mark == "A" and word in _WORDS["remarks"]:
            changed[at] = "w"
        elif mark in "UP":
            before = changed[at - 1] if at else "¶"
            starts = before in BEFORE_START or (at and tokens[at - 1] == "|")
            if word[1:2] == "'" and tokens[at][2:3].islower():
                is_name = False  # l'affitto: the capital is the article's
            elif code == "de":
                is_name = _is_german_name(lower, changed, marks, at, known)
            elif starts:
                is_again = word in said and not (is_given(word) or word in known)  # "Disks fail. The disks …"
                is_name = not is_again and _is_name_at_start(lower, marks, at, code, known)
            else:  # English, French …: a capital inside a sentence is a name
                is_name = word not in language.function or marks[at + 1 : at + 2] in ("U", "P")
            if not is_name:
                changed[at] = "w"
    for at in range(1, len(changed) - 1) if not _WORDS["joining"].isdisjoint(lower) else ():
        if lower[at] in _WORDS["joining"] and changed[at - 1] + changed[at + 1] == "UU":
            changed[at] = "p"  # "Praxis am Deich"
    for head in _TABLE_HEAD.finditer(marks) if "|" in tokens else ():
        changed[head.start() : head.end()] = ["w" if mark in "UAPK" else mark for mark in head[0]]
    return "".join(changed)


def _line_codes(lower: list[str], marks: str, code: str) -> list[str]:
    """The language of each token: that of its line where small words tell, else the whole note's."""
    if "¶" not in marks.strip("¶"):
        return [code] * len(lower)
    codes: list[str] = []
    for line in re.finditer("[^¶]+|¶", marks):
        told = language_of(lower[line.start() : line.end()])
        codes += [code if told == "en" else told] * len(line[0])
    return codes


def _is_name_at_start(  # noqa: PLR0911
    lower: list[str], marks: str, at: int, code: str, known: Collection[str]
) -> bool:
    """Whether the first word of a sentence in English, French … is a name: that needs more than its capital."""
    word = lower[at].replace("’", "'").removesuffix("'s")
    language = LANGUAGES[code]
    follows = marks[at + 1 : at + 2]
    is_full = is_given(word) and follows == "U"  # "Mia Chen", though "mia" is "my" in Italian
    if word in language.openers or word in _WORDS["doing"] or (word in language.function and not is_full):
        return False
    is_before_name = follows and follows in "UPiKA&p"
    if is_given(word) or word in _WORDS["family"] or (word in KIN and is_before_name):
        return True
    frequency = zipf(word, code)
    if word in known and (zipf(word, "en") < _EVERYDAY or is_before_name):
        return True
    if word.endswith(("ing", "ed", "ly")):
        return bool(is_before_name and frequency < ORDINARY)
    if is_before_name:
        return True
    if follows == ":" and frequency > ORDINARY:
        return False  # "Provider: …"
    line = marks[max(0, at - TERSE) : at].rpartition("¶")[2] + marks[at : at + TERSE].partition("¶")[0]
    if len(line) >= TERSE or (frequency < _SUBJECT and _does_what_names_do(lower, marks, at)):
        return True
    return max(frequency, zipf(word, "en")) < ORDINARY


def _does_what_names_do(lower: list[str], marks: str, at: int) -> bool:
    """Whether what follows a word is said of people, projects and services: "is led by", "replaces", "is Bea's son"."""
    rest = [word for word in lower[at + 1 : at + 5] if word not in _WORDS["adverbs"]]
    first = rest[0] if rest else ""
    if first in ("and", "und", "et", "y", "&"):
        return marks[at + 2 : at + 3] == "U" and zipf(lower[at], "en") < 3.9
    is_state = first in ("is", "was", "are", "has", "est", "es", "è", "wird", "wurde")
    is_told = is_state and (not _WORDS["participles"].isdisjoint(rest[1:2]) or "P" in marks[at + 2 : at + 4])
    return first in _WORDS["name_verbs"] or is_told


def _is_german_name(  # noqa: PLR0911
    lower: list[str], changed: list[str], marks: str, at: int, known: Collection[str]
) -> bool:
    """Nouns have capitals in German: a name is a given or titled one, an unknown word, or stands where names do."""
    word, language = lower[at].removesuffix("'s"), LANGUAGES["de"]
    before, follows = lower[at - 1] if at else "", marks[at + 1 : at + 2]
    after = lower[at + 1].rstrip(".") if at + 1 < len(lower) else ""
    frequency, english = zipf(word, "de"), zipf(word, "en")
    if word in language.function:
        return False
    if is_given(word) or word in _WORDS["brands"] or before.rstrip(".") in language.kin:
        return True
    if (word in known and frequency < _EVERYDAY) or after in _WORDS["company"]:
        return True
    if word in language.kin:
        return follows in ("U", "P") or after in ("dr", "prof")
    if word.endswith(_NOUN_ENDS) or after in language.kin or (follows in ("U", "P") and is_given(after)):
        return False  # "Zahnarzt Dr. Thiele", "meine Tochter Thea"
    if changed[at - 1 : at] == ["U"] or (follows in ("U", "K") and frequency < 5 and zipf(after, "de") < 3.5):
        return True  # "Praxis Külper": two nouns side by side are a name
    if before in ("in", "nach", "aus", "bei", "von", "zu", "durch", "statt"):
        return frequency - english < 2.1
    return frequency < 1.2 or (frequency < 3 and english < 3.2 and frequency - english < 0.6)


# Spans.

_NAME = re.compile(_TABLE["spans"]["name"])
_QUOTE = re.compile(r'"(?P<inside>[^".;:¶()]{1,8})[,.]?"')
_ROMAN = frozenset(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"])
_PIECE = re.compile("[HVLGBK]")
_HOST_OF = re.compile(r"https?://(?:[^/@\s]*@)?([^/:?#\s]+)")
# 120k, 60s, 8-bit, 3x12: a number with a unit is no name, nor is what has hardly a letter.
_MEASURE = re.compile(r"[\d.,/x:-]*\d+(?:[-]?[^\W\d_]{1,8})?|[^\W\d_]/?\d+|[\d.,/:-]*[^\W\d_]?[\d.,/:-]*")


def name_spans(tokens: list[str], marks: str, dates: Sequence[DateSpan] = ()) -> list[Span]:
    """Return the spans that do not overlap, in the order of the text: names, dates, quotes, marked names."""
    taken = bytearray(len(tokens))
    spans: list[Span] = []

    def take(start: int, end: int, form: str, name: str = "") -> None:
        if name := name or joined(tokens, start, end):
            spans.append(Span(start, end, name, form))
            taken[start:end] = b"\1" * (end - start)

    for start, end, iso in dates:
        # "1968 Summer Olympics" and "Apollo 1968" are names; not so in "since 2019 Lena has lived in Berlin".
        alone = start > 0 and tokens[start - 1].lower() in _WORDS["before_year"]
        if alone or not (end - start == 1 and marks[start] == "Y" and _is_beside_name(marks, start)):
            take(start, end, "date", iso)
    for match in _PIECE.finditer(marks):
        at = match.start()
        piece = None if taken[at] else _piece(tokens[at], marks[at])
        if piece and (marks[at] != "K" or not _is_beside_name(marks, at)):
            take(at, at + 1, *piece)
    for match in _QUOTE.finditer(marks):
        start = match.start("inside")
        end = start + len(match["inside"].rstrip(","))
        if set("UAKZTC") & set(marks[start:end]) and not any(taken[start:end]):
            take(start, end, "quote")
    # What is taken ends a name: in "since 1 May 2024 Lena" the year is the date's.
    free = "".join("_" if used else mark for used, mark in zip(taken, marks, strict=True))
    for match in _NAME.finditer(free):
        start, end = match.span()
        if end - start <= _LONGEST_NAME and _is_name(tokens, marks, start, end):
            take(start, end, "name")
    return sorted(spans, key=lambda span: span.start)


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
        return ("code", stem) if stem[0].isupper() or not _MEASURE.fullmatch(stem) else None
    if "@" in token:
        return "email", token
    if host := _HOST_OF.match(token):
        return "url", host[1]
    return None if _MEASURE.fullmatch(token) else ("path" if "/" in token else "host", token)


def variants(tokens: list[str], marks: str, span: Span) -> Iterator[str]:
    """Yield the other names inside a name: what follows its "of", its year, its possessive, itself with "The"."""
    start, end = span.start, span.end
    inside = marks[start:end]
    if start and marks[start - 1] == "T":
        yield joined(tokens, start - 1, end)
    if len(inside) == 1:
        return
    if inside[-1] == "N" and tokens[start].lower() not in _WORDS["counted"]:
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
    """Return the tokens as a name: a possessive's 's, an acronym's plural s and the case of "Herrn" go."""
    name = " ".join(tokens[start:end]).strip(" ,\"'`").replace(" ,", ",").replace(" :", ":")
    name = f"Herr {name[6:]}" if name.startswith("Herrn ") else name
    if name.endswith(("'s", "’s")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and name[:-1].isupper() and len(name) > len("PCs") else name


def _is_beside_name(marks: str, at: int) -> bool:
    return marks[at + 1 : at + 2] in ("U", "A", "C") or (at > 0 and marks[at - 1] in "UAK")


def _is_name(tokens: list[str], marks: str, start: int, end: int) -> bool:
    """Refuse what is a capital without being a name: single letters, numerals, Inc., e.g."""
    name = tokens[start].rstrip(".").lower()
    is_initial = marks[start] == "i" and (len(name) < 3 or not tokens[start][0].isupper())
    is_measure = marks[start] == "K" and not tokens[start][0].isupper() and _MEASURE.fullmatch(tokens[start])
    is_word = tokens[start] in _ROMAN or name in ENGLISH["abbreviations"] or name in LANGUAGES["en"].months
    return end - start > 1 or not (is_initial or len(name) < 2 or is_measure or is_word)


# Kinds.

_FORMS = {"A": "acronym", "K": "identifier", "H": "host", "V": "version", "N": "number", "D": "date", "Y": "date"}
_CAMEL = re.compile(r"[A-Z]?[a-z0-9]+(?:[A-Z][a-z0-9]*)+|\w*_\w+|[^\W\d]+[\d-]+\w*|\w+(?:\+\+|#)", re.ASCII)
_FILE = re.compile(r"(?:~|\.{0,2}/).*|.*\.(?:py|md|json|jsonl|yaml|yml|toml|txt|sql|sh|js|ts|cfg|conf|ini|csv|log)")
# George T. Solomon, J. R. R. Tolkien.
_INITIALS = re.compile(r"(?:[^\W\d_]\. ?)+[^\W\d_]{2,}(?:[ -][^\W\d_]+)*|[^\W\d_]{2,} [^\W\d_]\. [^\W\d_]{2,}")


@lru_cache(maxsize=32768)
def kind_of(name: str, form: str = "") -> str:
    """Return the kind that a name's form shows, or an empty text."""
    if form == "quote":
        return "title"
    if " " in name:
        is_titled = name.split(" ", 1)[0].rstrip(".").lower() in ENGLISH["honorifics"]
        return "person" if is_titled or ("." in name and _INITIALS.fullmatch(name)) else ""
    if _FILE.fullmatch(name):
        return "identifier"
    kind = _FORMS.get(letter(name), "") if name else ""
    return kind if kind != "identifier" or _CAMEL.fullmatch(name) or not name[0].isupper() else ""


@lru_cache(maxsize=16384)
def person_kind(name: str) -> str:
    """Say "person" where a name has a given name or a title in front."""
    first, _, rest = name.partition(" ")
    word = plain(first).rstrip(".")
    if name.endswith(("'s", "’s")):
        return ""  # "works at Jimmy's"
    if rest:
        return "person" if (word in KIN and rest[0].isupper()) or is_given(word, genitive=False) else ""
    return "person" if first[:1].isupper() and (is_given(first) or word in _WORDS["family"]) else ""


# Chinese and Japanese.

_HAN = _TABLE["han"]
_HAN_NAMES = tuple(re.compile(filled(pattern, _HAN["words"])) for pattern in _HAN["patterns"])


def han_names(text: str) -> list[str]:
    """Find names in a run of Chinese or Japanese: by surnames, places, organisations, honorifics, and katakana."""
    found = [name for pattern in _HAN_NAMES for name in pattern.findall(text[:10_000])]
    return [name for name in dict.fromkeys(found) if name not in _HAN["loans"].split()]
