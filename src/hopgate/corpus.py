"""`corpus.jsonl`, the exchange format of memories: read with file, line and reason; written as it came in."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from hopgate import fields as fields_of
from hopgate.errors import HopgateError
from hopgate.jsonl import json_lines, parse_json_lines, refuse
from hopgate.memory import Memory
from hopgate.times import utc

STANDARD_INPUT = "-"


def read_corpus(path: str | Path, *, keep_unknown: bool = False) -> Iterator[Memory]:
    """Read the memories of a file, or of standard input for `-`.

    Parameters
    ----------
    keep_unknown : bool
        Whether fields that are not a memory's are kept in `extra` instead of being refused.

    Raises
    ------
    HopgateError
        For the first line that is not a valid memory, naming file, line and reason.
    """
    if str(path) == STANDARD_INPUT:
        # A parent that closed our standard input leaves none at all.
        if sys.stdin is None:
            raise HopgateError("standard input is closed: give a file, or pipe memories into it")
        lines = parse_json_lines(sys.stdin.buffer, "standard input")
        yield from _memories(lines, "standard input", keep_unknown)
        return
    try:
        is_folder = Path(path).is_dir()
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    if is_folder:
        raise HopgateError(f"{path} is a directory: give the corpus.jsonl inside it")
    yield from _memories(json_lines(path), str(path), keep_unknown)


def parse_memory(record: object, *, keep_unknown: bool = False) -> Memory:
    """Make a memory of a parsed line; a field that is not a memory's is refused, or kept in `extra`.

    Well-known fields lie in `metadata` or at the top level; an export writes them into `metadata`.

    Examples
    --------
    >>> parse_memory({"_id": "m1", "title": "NAS", "text": "It hums.", "metadata": {"tags": ["homelab"]}}).tags
    ('homelab',)
    >>> parse_memory({"_id": "m1", "text": "It hums.", "isSensitive": True})
    Traceback (most recent call last):
    hopgate.errors.HopgateError: 'isSensitive' is not a field of a memory: did you mean 'is_sensitive'?
    """
    if not isinstance(record, dict):
        raise HopgateError("a memory is a JSON object")
    metadata = record.get("metadata")
    if not isinstance(metadata, dict | None):
        raise HopgateError("metadata must be an object")
    top, inside = _top(record), metadata or {}
    for name in top.keys() & inside.keys() if top else ():
        raise HopgateError(f"{name!r} is given twice, at the top level and in metadata: keep one of them")
    known: dict[str, Any] = {}
    for place, fields, names in (("", top, fields_of.TOP), ("metadata", inside, fields_of.INSIDE)):
        if unknown := [name for name in fields if name not in names]:
            fields_of.check_unknown(unknown, place, kept=keep_unknown)
        known.update(fields)
    for name in fields_of.REQUIRED:
        if record.get(name) is None:
            raise HopgateError(f"the field {name!r} is missing" if name not in record else f"{name} must be a string")
    if not isinstance(extra := known.get(fields_of.EXTRA), dict | None):
        raise HopgateError(f"{fields_of.EXTRA} must be an object, not {fields_of.kind(extra)}")
    if "is_sensitive" in known and known["is_sensitive"] is None:
        raise HopgateError("is_sensitive is empty: say true or false")
    # An id, a text or another field may hold texts alone; what else there is is kept, and looked into.
    for name, value in known.items():
        if isinstance(value, dict | list):
            fields_of.check_flags(value, name)
    for name in fields_of.NOTED:
        fields_of.read_key(known.get(name), name)
    values = {name: fields_of.READERS[name](value, name) for name, value in known.items() if name in fields_of.READERS}
    return Memory(
        fields_of.read_text(record["_id"], "_id"),
        fields_of.read_text(record["text"], "text"),
        title=fields_of.read_text(record.get("title"), "title"),
        **{**values, "thread": values.get("thread") or known.get("session")},
        source=_source(record, known),
    )


def to_record(memory: Memory, *, dated: bool = False) -> dict[str, Any]:
    """Give a memory back as it came in; only fields that changed since are written anew.

    Parameters
    ----------
    dated : bool
        Whether the date of arrival is written for a memory that came without one, so that another store has it too.

    Examples
    --------
    >>> to_record(parse_memory({"_id": "m1", "text": "It hums."}))
    {'_id': 'm1', 'text': 'It hums.'}
    """
    kept = memory.source or {}
    source = _source(kept, {**(kept.get("metadata") or {}), **_top(kept)})
    metadata = dict(source.get("metadata") or {})
    # The metadata as they were read: a field that is the same now is not written anew.
    before = {name: read(metadata.get(name), name) for name, read in fields_of.READERS.items()}
    before["thread"] = before["thread"] or metadata.get("session")
    for name in fields_of.READERS:
        now = getattr(memory, name)
        # A memory that came without a date has the date of its arrival, which was not in the file.
        arrived = name == "created_at" and memory.source is not None and before[name] is None and not dated
        if now == _zoned(before[name]) or arrived:
            continue
        metadata[name] = now.isoformat() if isinstance(now, datetime) else list(now) if isinstance(now, tuple) else now
    record: dict[str, Any] = {"_id": memory.external_id}
    if memory.title or "title" in source:
        record["title"] = memory.title or source["title"]
    record["text"] = memory.text
    if metadata or "metadata" in source:
        record["metadata"] = metadata or source.get("metadata")
    return record


def _top(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in ("_id", "text", "title", "metadata")}


def _source(record: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a record beside its id, title and text: all in `metadata`, and in its `extra` what is unknown."""
    unknown = {name: value for name, value in known.items() if name not in fields_of.INSIDE}
    metadata = {name: value for name, value in known.items() if name in fields_of.INSIDE}
    extra = metadata.get(fields_of.EXTRA)
    if unknown:
        metadata[fields_of.EXTRA] = {**(extra or {}), **unknown}
    source: dict[str, Any] = {}
    # An empty title or metadata is no field of a memory, and yet it was there.
    if "title" in record and not record["title"]:
        source["title"] = record["title"]
    if metadata or "metadata" in record:
        source["metadata"] = metadata or record.get("metadata")
    return source


def _zoned(value: Any) -> Any:
    return utc(value) if isinstance(value, datetime) else value


def _memories(records: Iterable[tuple[int, dict[str, Any]]], name: str, keep_unknown: bool) -> Iterator[Memory]:
    seen: dict[str, int] = {}
    for number, record in records:
        try:
            memory = parse_memory(record, keep_unknown=keep_unknown)
        except HopgateError as error:
            refuse(name, number, str(error))
        if memory.external_id in seen:
            refuse(name, number, f"_id {memory.external_id!r} stands already on line {seen[memory.external_id]}")
        seen[memory.external_id] = number
        yield memory
    if not seen:
        raise HopgateError(f"{name} holds no memories")
