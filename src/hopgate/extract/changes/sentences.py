"""A note sentence by sentence and line by line: what each says by itself, of what, and on which day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

from hopgate.extract.extraction import Source
from hopgate.extract.rules.dates import DateSpan, date_spans
from hopgate.extract.rules.tokens import analysed
from hopgate.extract.rules.words import LANGUAGES, SMALL, word_sets
from hopgate.times import moment

MOST_WORDS, MOST_CHARACTERS = 60, 1000
"""What is longer is not compared: the model was trained on short notes."""
MOST_SENTENCES = 400
_BULLET = re.compile(r"(?:[-*+•–]|\d{1,2}[.)])[ \t]+(?:\[.\][ \t]+)?")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_RULE = re.compile(r"[|:\- \t=_*]+$")
# No sentence ends after initials, "Dr.", "Mrs.", "Fr.", nor in "1. Juli".
_BETWEEN = re.compile(
    r"(?<!\b[A-ZÄÖÜ]\.)(?<!\b[A-ZÄÖÜ][a-zäöü]\.)(?<!\bMrs\.)(?<!\bProf\.)(?<=[.!?])\s+"
    r"(?!(?:Jan|Feb|Mär|Apr|Mai|Juni|Juli|Aug|Sept|Okt|Nov|Dez))(?=[^\W\d_a-zäöüß]|\d{4}\b)"
)
_AFTER_DATE = re.compile(r"[\s:,;.)\]|–—-]+")
# "Dentist: …", "spare key: …", "Damage in March 2025: …"; an amount or a number.
_KEY = re.compile(r"((?:[^\s:]+ ){0,3}[^\s:]+):\s")
_NUMBER = re.compile(r"[^\w\s]?\d")
_WORD = re.compile(r"[^\W\d_]+")
_SINCE, _ON = frozenset().union(*(language.since for language in LANGUAGES.values())), word_sets("dates")["on"]
# Where a line may go on with what is so instead: "mentor: Ada, since 2025 it is Bea", "2024-01: Mia; 2024-05: Noor".
_INSTEAD = re.compile(rf"[,;] (?=\d|(?:{'|'.join(sorted(_SINCE))})\b)")
_NO_THINGS = SMALL.union(*(language.months for language in LANGUAGES.values()))


JOINT = " – "
"""Between what a sentence may be about."""


class Sentence(NamedTuple):
    """What a line or sentence says, what it may be about (the title, and what it stands under), and since when.

    `under` are all headings and outer items. `key` is what an item or a row begins with: "Dentist: …". A cell below the
    day since which it is so is a state. One is dated that has its day itself, and not from the heading above it.
    """

    bare: str
    subjects: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    day: datetime | None = None
    key: str = ""
    is_state: bool = False
    is_dated: bool = False

    @property
    def text(self) -> str:
        """The text after what it may be about: of "Homelab – Gitea: moved to europa" the model marks Gitea."""
        return f"{JOINT.join(self.subjects)}: {self.bare}" if self.subjects else self.bare

    def may_end(self, other: Sentence) -> bool:
        """Whether both may be about one thing and say something else: lines that begin with different things do not."""
        words, others = ({*_WORD.findall(sentence.key.lower())} - _NO_THINGS for sentence in (self, other))
        is_other_thing = words and others and words.isdisjoint(others)
        is_other_state = self.is_state and other.is_state and self.key != other.key
        return self.bare != other.bare and not (is_other_thing or is_other_state)

    def shares_words(self, other: Sentence) -> bool:
        """Whether both have a word in common that is no small one, beside what they are about."""
        words, others = ({*_WORD.findall(sentence.bare.lower())} - SMALL for sentence in (self, other))
        return not words.isdisjoint(others)

    def may_follow(self, other: Sentence) -> bool:
        """Whether both stand under the same headings of a note, or one of them further up."""
        return all(one == two for one, two in zip(self.under, other.under, strict=False))


class ReadNote(NamedTuple):
    """A note as changes are looked for in it: as a whole where it is one short paragraph, and its sentences."""

    whole: Sentence | None
    sentences: list[Sentence]


def is_short(text: str) -> bool:
    """Whether a text is one that the model reads."""
    return len(text) <= MOST_CHARACTERS and len(text.split()) <= MOST_WORDS


def read_note(source: Source) -> ReadNote:
    """Cut a note into sentences; rows of tables are some, and headings and the title say what they are about."""
    title = source.title or ""
    body = source.text.removeprefix(title).strip() if title else source.text.strip()
    sentences = list(islice(chain.from_iterable(_lines(title, body, source.created_at)), MOST_SENTENCES))
    is_paragraph = "\n" not in body and is_short(source.text)
    whole = (
        Sentence(source.text, day=_dated(body, source.created_at)[0] or _since(body, source.created_at))
        if is_paragraph
        else None
    )
    return ReadNote(whole, sentences)


def _lines(title: str, body: str, written: datetime | None) -> Iterator[list[Sentence]]:
    """The sentences of each line; headings, lines that end with a colon and outer bullets are what they are about."""
    headings: dict[int, str] = {}
    outer: dict[int, str] = {}
    columns: list[str] = []
    topic, day_of_heading, fenced = "", None, False
    for raw in _joined(body):
        line = raw.strip()
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or not line or _RULE.match(line):
            topic, columns = ("", []) if not line else (topic, columns)
        elif heading := _HEADING.match(line):
            level = len(heading[1])
            headings = {at: text for at, text in headings.items() if at < level}
            day_of_heading, rest = _dated(heading[2], written)
            if rest:
                headings[level] = rest
            topic, outer = "", {}
        else:
            is_row, is_item = line.startswith("|"), _BULLET.match(line)
            indent = len(raw) - len(raw.lstrip())
            outer = {at: text for at, text in outer.items() if at < indent} if is_item else {}
            under = (*headings.values(), *filter(None, (topic,)), *outer.values())
            subjects = tuple(dict.fromkeys(name for name in (title, *under[-1:]) if name and not _dated(name, None)[0]))
            if is_row:
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                if columns:
                    yield list(_row(Sentence("", subjects, under, day_of_heading), columns, cells, written))
                columns = columns or cells
                continue
            text = line[is_item.end() :] if is_item else line
            day, text = _dated(text.replace("**", "").replace("`", ""), written)
            # "Ada: …" alone is a turn of a talk.
            match = _KEY.match(text) if is_item or "\n" in body else None
            key = match[1] if match else ""
            if text.endswith(":"):
                topic = text.rstrip(": ")
            elif is_item:
                outer[indent] = text
            # A long paragraph is prose about the world and no note of what is so now.
            yield [
                Sentence(sentence, subjects, under, own_day or day_of_heading, key, is_dated=own_day is not None)
                for part, since in (_parts(text, key, written) if is_short(text) else ())
                for sentence in filter(str.strip, _BETWEEN.split(part))
                for own_day in (since or day or _since(sentence, written),)
            ]


def _parts(text: str, key: str, written: datetime | None) -> Iterator[tuple[str, datetime | None]]:
    """A line with a key in parts, each with the key before it: all but the first begin with the day since which."""
    start, lead, day = 0, "", None
    for pause in _INSTEAD.finditer(text) if key else ():
        _, _, spans = _dates(text[pause.end() :], written)
        if spans and spans[0].start < 2:
            yield lead + text[start : pause.start()], day
            start, lead, day = pause.end(), f"{key}: ", moment(spans[0].iso)
    yield lead + text[start:], day


def _joined(body: str) -> Iterator[str]:
    """Lines, where one that goes on in small letters is part of the one before."""
    held = ""
    for line in body.splitlines():
        if held and line.strip()[:1].islower() and held.strip() and not held.rstrip().endswith((".", "!", "?", ":")):
            held = f"{held} {line.strip()}"
            continue
        yield held
        held = line
    yield held


def _row(like: Sentence, columns: list[str], cells: list[str], written: datetime | None) -> Iterator[Sentence]:
    """A row of a table with its columns' names: the first date is its day, and below "since" each cell a state.

    A row is about what stands in its first cell, or if that is the day in the next of several. Numbers are no states.
    """
    days = {at: day for at, (day, rest) in enumerate(_dated(cell, written) for cell in cells) if day and not rest}
    at = min(days, default=len(cells))
    named = [
        (name, cell) for place, (name, cell) in enumerate(zip(columns, cells, strict=False)) if cell and place != at
    ]
    if at < len(columns) and not _SINCE.isdisjoint(columns[at].lower().split()):
        states = [(name, cell) for name, cell in named if not _NUMBER.match(cell)]
        thing = states.pop(0)[1] if len(states) > 1 else ""
        like = like._replace(subjects=(thing,) if thing else like.subjects, day=days[at], is_state=True)
        yield from (like._replace(bare=f"{name}: {cell}", key=f"{thing} {name}") for name, cell in states)
    else:
        text = ", ".join(f"{name}: {cell}" for name, cell in named)
        yield like._replace(bare=text, day=days.get(at, like.day), key=cells[0] if at else "")


def _dates(text: str, written: datetime | None) -> tuple[list[str], list[str], list[DateSpan]]:
    """The tokens of a text, also in lower case, and its dates."""
    tokens, lower, _, code = analysed(text)
    return tokens, lower, date_spans(tokens, lower, code, written)


def _since(text: str, written: datetime | None) -> datetime | None:
    """The one day since which a text says that something is so, "since May 2024 …", or on which it happened."""
    _, lower, spans = _dates(text, written)
    begins = [span for span in spans if span.start and lower[span.start - 1] in _SINCE]
    begins = begins or [span for span in spans if span.start and lower[span.start - 1] in _ON]
    if len(begins) != 1 or (len(spans) > 1 and spans[1].start - spans[0].end < 2):
        return None  # "from 2019 to 2021"
    day = moment(begins[0].iso)
    # "Since September", told on its tenth, may be any day; what lies ahead is no news of it.
    is_vague = written is not None and (f"{written:%Y-%m}" == begins[0].iso or (day is not None and day > written))
    return None if is_vague else day


def _dated(line: str, written: datetime | None) -> tuple[datetime | None, str]:
    """The date at the beginning of a line, and the rest of the line."""
    tokens, _, spans = _dates(line[:80], written)
    if not spans or spans[0].start or not (day := moment(spans[0].iso)):
        return None, line
    end = 0
    for token in tokens[: spans[0].end]:
        end = line.find(token, end) + len(token) if token in line[end:] else end
    after = _AFTER_DATE.match(line, end)
    # "2024 was a good year", "1 July we leave" are no lines of a log.
    if end < len(line) and (after is None or not after[0].strip()):
        return None, line
    return day, line[after.end() if after else end :]
