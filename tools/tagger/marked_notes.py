"""Notes with marks, for training: the tuning halves of `benchmarks/notes`, and the lines beside this file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NOTES = HERE.parents[1] / "benchmarks" / "notes"
MARK = re.compile(r"\[([TNO]):([^\[\]]*)\]")
ARTICLE = re.compile(r"(?:the|my|our|her|his|der|die|das|mein|meine|unser|unsere|le|la|el) ", re.IGNORECASE)
# Sets that nothing is trained on, so that they tell how authors fare whom the model has not seen.
UNSEEN = ("twentyfourth", "twentyfifth", "twentysixth", "twentyseventh")
UNKNOWN = "?"
"""The label of words that may be any: of a note that only looks like a change nobody said which they are."""
Spans = list[tuple[int, int, str]]
"""Marks of a text: begin, end, and T, N, O or unknown."""


class Marked(NamedTuple):
    """A note, of which set it is, its kind (change, state, alike, other), and its marks."""

    source: str
    kind: str
    text: str
    spans: Spans
    relation: str | None = None


def all_notes() -> list[Marked]:
    """Everything to train on."""
    return [*notes_of_sets(), *written_lines()]


def written_lines() -> Iterator[Marked]:
    """Lines with marks in the text: "[T:Gran] is in [N:Fernlea House] now"."""
    for path in sorted((HERE / "lines").glob("*.jsonl")):
        for row in rows_of(path):
            yield Marked(path.stem, row["kind"], *unmarked(row["text"]))


def unmarked(text: str) -> tuple[str, Spans]:
    """Take the marks out of a text, and say where they stood."""
    bare, spans, last = "", [], 0
    for mark in MARK.finditer(text):
        bare += text[last : mark.start()]
        spans.append((len(bare), len(bare) + len(mark[2]), mark[1]))
        bare, last = bare + mark[2], mark.end()
    return bare + text[last:], spans


def notes_of_sets() -> Iterator[Marked]:
    """The notes of stories: what their labels name is looked for in the texts. Reporting halves are never read."""
    for source, story, texts in stories_of_sets():
        yield from _of_story(source, story, texts)


def stories_of_sets() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The set, each story of its tuning half, and its notes by their ids."""
    for moves in sorted(NOTES.glob("**/moves.jsonl")):
        if moves.parent.name in UNSEEN:
            continue
        texts = {row["_id"]: row for row in rows_of(moves.with_name("corpus.jsonl"))}
        yield from ((moves.parent.name, story, texts) for story in rows_of(moves) if story["half"] == "tune")


def told_by(row: dict[str, Any]) -> str:
    """A memory's title and text."""
    return ". ".join(filter(None, (row.get("title"), row["text"])))


def _of_story(source: str, story: dict[str, Any], texts: dict[str, Any]) -> Iterator[Marked]:
    before, after = story["before"]["object"], story["after"]["object"]
    told = {key: told_by(texts[key]) for key in story["notes"]}
    news = [key for key, text in told.items() if after and after != before and found_in(text, [after])]
    change = (story.get("supersedes") or news[-1:] or [""])[0] if story["is_move"] else ""
    for key, text in told.items():
        things = found_in(text, [story["subject"], *story.get("subjects", ())])
        old, new = found_in(text, [before]), found_in(text, [after] if after != before else [])
        is_first = key == story["notes"][0]
        if key == change:
            yield Marked(source, "change", text, [*_as(things, "T"), *_as(new, "N"), *_as(old, "O")], story["relation"])
        elif (is_first and not story["is_move"]) or (story["is_move"] and things and old):
            yield Marked(source, "state", text, [*_as(things, "T"), *_as(old, "N")], story["relation"])
        else:
            kind = "other" if story["is_move"] else "alike"
            yield Marked(source, kind, text, list(_as([*things, *old, *new], UNKNOWN)))


def _as(spans: Sequence[tuple[int, int]], label: str) -> Iterator[tuple[int, int, str]]:
    return ((begin, end, label) for begin, end in spans)


def found_in(text: str, names: Sequence[str | None]) -> list[tuple[int, int]]:
    """Where the first of some names stands: with its article, without it, or its last word alone."""
    low = text.casefold()
    for name in filter(None, names):
        bare = ARTICLE.sub("", name, count=1)
        for form in dict.fromkeys((name, bare, bare.split()[-1])):
            spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(form.casefold())}(?!\w)", low)]
            if spans and len(low) == len(text):
                return spans
    return []


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
