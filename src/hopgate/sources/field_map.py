"""Rows of other programs → records: which column is which field, and what its values become."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from hopgate.corpus import EXTRA, TOP, nearest
from hopgate.errors import HopgateError
from hopgate.sources.source import ReadOptions, Record, digest

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# An epoch of more than this is in milliseconds: in seconds it would be the year 5138.
_MILLISECONDS = 10**11


def parse_map(pairs: Sequence[str]) -> dict[str, str]:
    """Read `FIELD=COLUMN` pairs.

    Examples
    --------
    >>> parse_map(["text=body", "created_at=sent.at"])
    {'text': 'body', 'created_at': 'sent.at'}
    """
    fields: dict[str, str] = {}
    for pair in pairs:
        name, sign, column = (part.strip() for part in pair.partition("="))
        if not sign or not column:
            raise HopgateError(f"--map {pair!r} must read FIELD=COLUMN, such as text=body")
        name = "_id" if name == "id" else name
        if name not in TOP or name in ("metadata", EXTRA):
            advice = f"did you mean {near!r}?" if (near := nearest(name)) else f"the fields are {', '.join(TOP)}"
            raise HopgateError(f"--map {pair!r}: {name!r} is not a field of a memory: {advice}")
        if name in fields:
            raise HopgateError(f"--map gives {name!r} twice: keep one of them")
        fields[name] = column
    return fields


def require_text(columns: Sequence[str], fields: Mapping[str, str], where: str) -> None:
    """Refuse a table in which nothing is the text, or in which a mapped column is missing."""
    for name, column in fields.items():
        if column.split(".")[0] not in columns and column not in columns:
            raise HopgateError(f"{where} has no column {column!r} for {name!r}: it has {', '.join(columns)}")
    if "text" not in fields and "text" not in columns:
        raise HopgateError(f"{where} has the columns {', '.join(columns)}: say which is the text, --map text=COLUMN")


def to_corpus(row: Mapping[str, Any], options: ReadOptions, prefix: str) -> Record:
    """Make a record of a row; what is neither mapped nor a memory's field stays in it, to be refused or kept.

    Parameters
    ----------
    prefix : str
        Before the id of a row that has none: that id is a digest of the row.

    Examples
    --------
    >>> options = ReadOptions({"_id": "id", "text": "body", "tags": "labels"})
    >>> to_corpus({"id": 7, "body": "It hums.", "labels": "a;b"}, options, "x")
    {'_id': '7', 'text': 'It hums.', 'tags': ['a', 'b']}
    """
    rest, fields = copy.deepcopy(dict(row)), options.fields
    record: Record = {name: _pop(rest, column) for name, column in fields.items()}
    for name in [name for name in rest if name in TOP]:
        if name in record:
            raise HopgateError(f"{name!r} is both a column and mapped from {fields[name]!r}: leave one of them out")
        record[name] = rest.pop(name)
    record = {name: _value(name, value) for name, value in record.items()}
    if record.get("_id") is None:
        record["_id"] = f"{prefix}#{digest(options.id_key, sorted(row.items(), key=str))}"
    # An empty flag is no flag: the memory is refused.
    present = {name: value for name, value in record.items() if value is not None or name == "is_sensitive"}
    return present | {name: _plain(value) for name, value in rest.items() if value not in (None, "")}


def _pop(row: dict[str, Any], column: str) -> Any:
    """Take a column, or what a path of names leads to, out of a row."""
    if column in row or "." not in column:
        return row.pop(column, None)
    first, _, rest = column.partition(".")
    inner = row.get(first)
    if not isinstance(inner, dict):
        return None
    value = _pop(inner, rest)
    if not inner:
        del row[first]
    return value


def _value(name: str, value: Any) -> Any:
    """What a column's value is as a field: texts of a CSV file, numbers and times of a database."""
    value = _plain(value)
    if value is None or (value == "" and name != "text"):
        return None
    return _CONVERTERS.get(name, _name)(value)


def _name(value: Any) -> Any:
    """A number may be an id or a title."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _epoch(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        # No date: the row is refused for it, and the others are read.
        return value


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else _FLAGS.get(str(value).strip().lower(), value)


def _object(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    separator = next((sign for sign in ";|" if sign in value), ",")
    return [part.strip() for part in value.split(separator) if part.strip()]


def _plain(value: Any) -> Any:
    """A database's value as JSON has it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        raise HopgateError("a column holds bytes, which are no text: leave it out of the query")
    return value


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "tags": _list,
    "expanded_keywords": _list,
    "created_at": _epoch,
    "superseded_at": _epoch,
    "is_sensitive": _flag,
    "importance": _number,
    EXTRA: _object,
}
