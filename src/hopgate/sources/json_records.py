"""Any JSON or JSON lines with a field map."""

from __future__ import annotations

from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import parse_json_lines
from hopgate.sources.field_map import require_text, to_corpus
from hopgate.sources.json_file import read_json
from hopgate.sources.source import Place, ReadOptions, Records

LINES = (".jsonl", ".ndjson")


def recognises(place: Place) -> bool:
    """Whether a file is JSON by its name."""
    return place.is_file() and place.name.lower().endswith((".json", *LINES))


def records(place: Place, options: ReadOptions) -> Records:
    """Give the objects of a file: of its lines, its list, or the one list of objects inside its object."""
    if place.name.lower().endswith(LINES):
        with place.open("rb") as stream:
            for number, row in parse_json_lines(stream, str(place)):
                if number == 1:
                    require_text(list(row), options.fields, str(place))
                yield f"line {number}", to_corpus(row, options.fields, place.name)
        return
    rows = _rows(read_json(place), place)
    if rows:
        require_text(list(rows[0]), options.fields, f"{place}, record 1,")
    for number, row in enumerate(rows, start=1):
        yield f"record {number}", to_corpus(row, options.fields, place.name)


def _rows(value: Any, place: Place) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        if len(lists) != 1:
            raise HopgateError(f"{place} holds {len(lists)} lists of objects: give a file with one")
        value = lists[0]
    if not isinstance(value, list):
        raise HopgateError(f"{place} holds no list of objects")
    for number, row in enumerate(value, start=1):
        if not isinstance(row, dict):
            raise HopgateError(f"{place}, record {number}: not a JSON object")
    return value
