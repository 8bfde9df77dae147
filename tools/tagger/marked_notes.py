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
UNKNOWN = "?"
"""The label of words that may be any: of a note that only looks like a change nobody said which they are."""


class Marked(NamedTuple):
    """A note, of which set it is, its kind (change, state, alike, other), and spans: begin, end, T, N, O or unknown."""

    source: str
    kind: str
    text: str
    spans: list[tuple[int, int, str]]
    relation: str | None = None


def all_notes() -> list[Marked]:
    """Everything to train on."""
    return [*notes_of_sets(), *written_lines()]


def written_lines() -> Iterator[Marked]:
    """Lines with marks in the text: "[T:Gran] is in [N:Fernlea House] now"."""
    for path in sorted((HERE / "lines").glob("*.jsonl")):
        for row in _rows(path):
            text, spans, last = "", [], 0
            for mark in MARK.finditer(row["text"]):
                text += row["text"][last : mark.start()]
                spans.append((len(text), len(text) + len(mark[2]), mark[1]))
                text, last = text + mark[2], mark.end()
            yield Marked(path.stem, row["kind"], text + row["text"][last:], spans)


def notes_of_sets() -> Iterator[Marked]:
    """The notes of stories: what their labels name is looked for in the texts. Reporting halves are never read."""
    for moves in sorted(NOTES.glob("**/moves.jsonl")):
        texts = {row["_id"]: row for row in _rows(moves.with_name("corpus.jsonl"))}
        for story in _rows(moves):
            if story["half"] == "tune":
                yield from _of_story(moves.parent.name, story, texts)


def _of_story(source: str, story: dict[str, Any], texts: dict[str, Any]) -> Iterator[Marked]:
    before, after = story["before"]["object"], story["after"]["object"]
    told = {key: ". ".join(filter(None, (texts[key].get("title"), texts[key]["text"]))) for key in story["notes"]}
    news = [key for key, text in told.items() if after and after != before and _found(text, [after])]
    change = (story.get("supersedes") or news[-1:] or [""])[0] if story["is_move"] else ""
    for key, text in told.items():
        things = _found(text, [story["subject"], *story.get("subjects", ())])
        old, new = _found(text, [before]), _found(text, [after] if after != before else [])
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


def _found(text: str, names: Sequence[str | None]) -> list[tuple[int, int]]:
    """Where the first of some names stands: with its article, without it, or its last word alone."""
    low = text.casefold()
    for name in filter(None, names):
        bare = ARTICLE.sub("", name, count=1)
        for form in dict.fromkeys((name, bare, bare.split()[-1])):
            spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(form.casefold())}(?!\w)", low)]
            if spans and len(low) == len(text):
                return spans
    return []


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
