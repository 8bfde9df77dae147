"""`corpus.jsonl`, the exchange format of memories: read with file, line and reason; written as it came in."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import json_lines, parse_json_lines, refuse
from hopgate.memory import DEFAULT_IMPORTANCE, Memory

STANDARD_INPUT = "-"


def read_corpus(path: str | Path) -> Iterator[Memory]:
    """Read the memories of a file, or of standard input for `-`.

    Raises
    ------
    HopgateError
        For the first line that is not a valid memory, naming file, line and reason.
    """
    if str(path) == STANDARD_INPUT:
        # A parent that closed our standard input leaves none at all.
        if sys.stdin is None:
            raise HopgateError("standard input is closed: give a file, or pipe memories into it")
        yield from _memories(parse_json_lines(sys.stdin.buffer, "standard input"), "standard input")
        return
    try:
        is_folder = Path(path).is_dir()
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    if is_folder:
        raise HopgateError(f"{path} is a directory: give the corpus.jsonl inside it")
    yield from _memories(json_lines(path), str(path))


def parse_memory(record: object) -> Memory:
    """Make a memory of a parsed line.

    Examples
    --------
    >>> parse_memory({"_id": "m1", "title": "NAS", "text": "It hums.", "metadata": {"tags": ["homelab"]}}).tags
    ('homelab',)
    """
    if not isinstance(record, dict):
        raise HopgateError("a memory is a JSON object")
    external_id, text = _string(record, "_id", None), _string(record, "text", None)
    metadata = record.get("metadata")
    if not isinstance(metadata, dict | None):
        raise HopgateError("metadata must be an object")
    fields: dict[str, Any] = metadata or {}
    source = {key: value for key, value in record.items() if key not in ("_id", "text")}
    if source.get("title"):
        del source["title"]
    return Memory(
        external_id,
        text,
        title=_string(record, "title", ""),
        tags=_strings(fields, "tags"),
        category=_optional(fields, "category"),
        expanded_keywords=_strings(fields, "expanded_keywords"),
        importance=_importance(fields),
        is_sensitive=_flag(fields),
        scope=_optional(fields, "scope"),
        created_at=_instant(fields),
        thread=_optional(fields, "thread") or _optional(fields, "session"),
        reply_to=_optional(fields, "reply_to"),
        source=source,
        language=_optional(fields, "language"),
    )


def to_record(memory: Memory) -> dict[str, Any]:
    """Give a memory back as it came in; only fields that changed since are written anew.

    Examples
    --------
    >>> to_record(parse_memory({"_id": "m1", "text": "It hums."}))
    {'_id': 'm1', 'text': 'It hums.'}
    """
    source = memory.source or {}
    metadata = dict(source.get("metadata") or {})
    # The metadata as they were read: a field that is the same now is not written anew.
    before = parse_memory({"_id": "-", "text": "", "metadata": metadata})
    now: dict[str, Any] = {
        "tags": list(memory.tags),
        "category": memory.category,
        "expanded_keywords": list(memory.expanded_keywords),
        "importance": memory.importance,
        "is_sensitive": memory.is_sensitive,
        "scope": memory.scope,
        "thread": memory.thread,
        "reply_to": memory.reply_to,
        "language": memory.language,
    }
    was = {name: getattr(before, name) for name in now} | {
        "tags": list(before.tags),
        "expanded_keywords": list(before.expanded_keywords),
    }
    metadata |= {name: value for name, value in now.items() if value != was[name]}
    # A memory that came without a date has the date of its arrival, which was not in the file.
    dated = before.created_at is not None or memory.source is None
    if dated and memory.created_at is not None and memory.created_at != before.created_at:
        metadata["created_at"] = memory.created_at.isoformat()
    record: dict[str, Any] = {"_id": memory.external_id}
    if memory.title or "title" in source:
        record["title"] = memory.title or source["title"]
    record["text"] = memory.text
    if metadata or "metadata" in source:
        record["metadata"] = metadata or source.get("metadata")
    return record | {key: value for key, value in source.items() if key not in record}


def _memories(records: Iterable[tuple[int, dict[str, Any]]], name: str) -> Iterator[Memory]:
    seen: dict[str, int] = {}
    for number, record in records:
        try:
            memory = parse_memory(record)
        except HopgateError as error:
            refuse(name, number, str(error))
        if memory.external_id in seen:
            refuse(name, number, f"_id {memory.external_id!r} stands already on line {seen[memory.external_id]}")
        seen[memory.external_id] = number
        yield memory
    if not seen:
        raise HopgateError(f"{name} holds no memories")


def _string(record: dict[str, Any], name: str, default: str | None) -> str:
    value = record.get(name, default)
    if value is None:
        if default is not None:
            return default
        raise HopgateError(f"the field {name!r} is missing" if name not in record else f"{name} must be a string")
    if not isinstance(value, str):
        raise HopgateError(f"{name} must be a string, not {_kind(value)}")
    return value


def _optional(record: dict[str, Any], name: str) -> str | None:
    return None if record.get(name) is None else _string(record, name, None)


def _strings(record: dict[str, Any], name: str) -> tuple[str, ...]:
    value = record.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise HopgateError(f"{name} must be a list of strings")
    return tuple(value)


def _importance(record: dict[str, Any]) -> float:
    value = record.get("importance")
    if value is None:
        return DEFAULT_IMPORTANCE
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HopgateError(f"importance must be a number between 0 and 1, not {_kind(value)}")
    if not 0 <= value <= 1:
        raise HopgateError(f"importance must be between 0 and 1, not {value}")
    return float(value)


def _flag(record: dict[str, Any]) -> bool:
    value = record.get("is_sensitive")
    if not isinstance(value, bool | None):
        raise HopgateError(f"is_sensitive must be true or false, not {_kind(value)}")
    return bool(value)


def _instant(record: dict[str, Any]) -> datetime | None:
    value = _optional(record, "created_at")
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise HopgateError(f"created_at must be an ISO 8601 date or time, not {value[:40]!r}") from None


def _kind(value: object) -> str:
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}.get(
        type(value), "an object"
    )
