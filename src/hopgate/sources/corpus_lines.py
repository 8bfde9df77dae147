"""`corpus.jsonl`, hopgate's own exchange format."""

from __future__ import annotations

from hopgate.jsonl import parse_json_lines
from hopgate.sources.source import Place, ReadOptions, Records, head


def recognises(place: Place) -> bool:
    """Whether a file is one of JSON lines, by its name or, where that says nothing, by its first sign."""
    if not place.is_file():
        return False
    return place.name.lower().endswith((".jsonl", ".ndjson")) or ("." not in place.name and head(place)[:1] == "{")


def records(place: Place, _: ReadOptions) -> Records:
    """Give the lines as they are."""
    with place.open("rb") as stream:
        for number, row in parse_json_lines(stream, str(place)):
            yield f"line {number}", row
