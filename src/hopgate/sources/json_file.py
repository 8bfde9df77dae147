"""JSON files of other programs: parsed once, and their shape told from the first record."""

from __future__ import annotations

import json
from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import parse_json
from hopgate.sources.source import Place, head, read_utf8

# So much of a JSON file is enough to see the names of its first record.
PEEKED = 65536


def read_json(place: Place) -> Any:
    """Parse a whole JSON file."""
    try:
        return parse_json(read_utf8(place))
    except json.JSONDecodeError as error:
        raise HopgateError(f"{place}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from None
    except (RecursionError, ValueError) as error:
        raise HopgateError(f"{place} is not JSON that can be read: {error}") from None
    except HopgateError as error:
        raise HopgateError(str(error) if str(place) in str(error) else f"{place}: {error}") from None


def shows(place: Place, *names: str) -> bool:
    """Whether the beginning of a JSON file has all these names."""
    beginning = head(place, PEEKED)
    return beginning.lstrip()[:1] in ("[", "{") and all(f'"{name}"' in beginning for name in names)


def conversations_file(place: Place) -> Place | None:
    """The file of conversations in an export: the place itself, or `conversations.json` in the folder or archive."""
    if not place.is_dir():
        return place if place.name.lower().endswith(".json") else None
    inner = place / "conversations.json"
    return inner if inner.exists() else None


def rows_of(value: Any, place: Place, what: str) -> list[dict[str, Any]]:
    """A list of objects, or why it is none."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise HopgateError(f"{place} is not {what}: a list of objects is expected")
    return value
