"""`corpus.jsonl`, hopgate's own exchange format."""

from __future__ import annotations

from collections.abc import Iterator

from hopgate.errors import HopgateError
from hopgate.jsonl import checked_json_lines, parse_json_lines
from hopgate.sources.field_map import to_corpus
from hopgate.sources.source import Place, ReadOptions, Record, Records, head


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


def checked(place: Place, options: ReadOptions) -> Iterator[tuple[str, Record | HopgateError]]:
    """Give the lines, by a field map where there is one; for a line that cannot be read, its error in its place."""
    with place.open("rb") as stream:
        for number, row in checked_json_lines(stream, str(place)):
            if options.fields and not isinstance(row, HopgateError):
                try:
                    yield f"line {number}", to_corpus(row, options.fields, place.name)
                except HopgateError as error:
                    yield f"line {number}", error
            else:
                yield f"line {number}", row
