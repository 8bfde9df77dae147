"""Tables, JSON, databases' rows and lines of text: a row or an object is a memory, its fields by a field map."""

import copy
import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from hopgate.corpus import COLUMNS, EXTRA, TOP, as_written, nearest
from hopgate.errors import HopgateError
from hopgate.jsonl import checked_json_lines
from hopgate.sources.source import (
    Place,
    ReadOptions,
    Record,
    Records,
    Repeated,
    digest,
    head,
    read_json,
    read_utf8,
)
from hopgate.times import from_epoch

# Rows of a Parquet file that are read at once.
BATCH = 4096
LINES = (".jsonl", ".ndjson")


def has_suffix(*suffixes: str) -> Callable[[Place], bool]:
    """Say of a place whether it is a file whose name ends so."""
    return lambda place: place.is_file() and place.name.lower().endswith(suffixes)


is_csv = has_suffix(".csv", ".tsv", ".tab")
is_parquet = has_suffix(".parquet", ".pq")
is_json = has_suffix(".json", *LINES)
is_text = has_suffix(".txt", ".text", ".log")


def is_json_lines(place: Place) -> bool:
    """Whether a file is one of JSON lines, by its name or, where that says nothing, by its first sign."""
    return has_suffix(*LINES)(place) or (place.is_file() and "." not in place.name and head(place)[:1] == "{")


def csv_rows(place: Place, options: ReadOptions) -> Records:
    """Give the rows; the first line names the columns."""
    text = read_utf8(place, options.max_mb)
    first = text.partition("\n")[0]
    # The sign that parts the header's names: a text may hold any of them, a column's name rarely.
    separator = "\t" if not place.name.lower().endswith(".csv") else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        counts = Counter(header)
        for name in header:
            if not name or counts[name] > 1:
                raise HopgateError(f"{place}, line 1: each column needs a name of its own, {name[:80]!r} is none")
        require_text(header, options, str(place))
        begun = reader.line_num + 1
        for row in reader:
            where, begun = begun, reader.line_num + 1
            if not any(row):
                continue
            if len(row) != len(header):
                raise HopgateError(f"{place}, line {where}: {len(row)} cells, where the header has {len(header)}")
            cells = map(as_written, row) if tuple(header) == COLUMNS else row
            yield f"line {where}", to_corpus(dict(zip(header, cells, strict=True)), options, place.name)
    except csv.Error as error:
        raise HopgateError(f"{place}, line {reader.line_num}: not CSV ({error})") from None


def parquet_rows(place: Place, options: ReadOptions) -> Records:
    """Give the rows, a batch in memory at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise HopgateError("Parquet needs pyarrow: pip install 'hopgate[parquet]'") from None
    if not isinstance(place, Path):
        raise HopgateError(f"{place} is inside an archive: take the Parquet file out of it")
    try:
        with pq.ParquetFile(place) as table:
            require_text(table.schema_arrow.names, options, str(place))
            number = 0
            for batch in table.iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", to_corpus(row, options, place.name)
    except pa.ArrowException as error:
        raise HopgateError(f"{place} is not Parquet ({' '.join(str(error).split())[:80]}): write it again") from None


def json_objects(place: Place, options: ReadOptions) -> Records:
    """Give the objects of a file: of its lines, its list, or the one list of objects inside its object."""
    if place.name.lower().endswith(LINES):
        yield from json_lines(place, options, mapped=True)
        return
    rows = _objects(read_json(place, options.max_mb), place)
    if rows:
        require_text(list(rows[0]), options, f"{place}, record 1,")
    for number, row in enumerate(rows, start=1):
        yield f"record {number}", to_corpus(row, options, place.name)


def _objects(value: Any, place: Place) -> list[dict[str, Any]]:
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


def json_lines(place: Place, options: ReadOptions, *, mapped: bool = False) -> Records:
    """Give the lines, by the field map where asked for; for a line that cannot be read, its error in its place."""
    with place.open("rb") as stream:
        for number, row in checked_json_lines(stream):
            read: Record | HopgateError = row
            if mapped and not isinstance(row, HopgateError):
                try:
                    if number == 1:
                        require_text(list(row), options, "the first object")
                    read = to_corpus(row, options, place.name)
                except HopgateError as error:
                    read = error
            yield f"line {number}", read


def standard_input() -> Records:
    """Give the lines of a corpus.jsonl on standard input."""
    # A parent that closed our standard input leaves none at all.
    if sys.stdin is None:
        raise HopgateError("standard input is closed: give a file, or pipe memories into it")
    for number, row in checked_json_lines(sys.stdin.buffer):
        yield f"line {number}", row


def text_lines(place: Place, options: ReadOptions) -> Records:
    """Give the lines that are not blank; a line keeps its id when others come before it."""
    numbered = Repeated()
    for number, line in enumerate(read_utf8(place, options.max_mb).splitlines(), start=1):
        if text := line.strip():
            yield f"line {number}", {"_id": numbered(f"{place.name}#{digest(options.id_key, text)}"), "text": text}


# ---- Which column is which field, and what its values become ---------------------------------------------------------

# Where a text that is made of columns takes one of them.
_PLACE = re.compile(r"\{([^{}]+)\}")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_map(pairs: Sequence[str]) -> dict[str, str]:
    """Read `FIELD=COLUMN` pairs."""
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


def require_text(columns: Sequence[str], options: ReadOptions, where: str) -> None:
    """Refuse a table in which nothing is the text, or in which a column is missing that is mapped or in the text."""
    there = ", ".join(map(repr, columns))
    wanted = {**options.fields, **{f"--text {name}": name for name in _PLACE.findall(options.text or "")}}
    for name, column in wanted.items():
        if column.split(".")[0] not in columns and column not in columns:
            raise HopgateError(f"{where} has no column {column!r} for {name!r}: it has {there}")
    if options.text is None and "text" not in {*options.fields, *columns}:
        raise HopgateError(f"{where} has the columns {there}: say which is the text, --map text=COLUMN, or --text")


def to_corpus(row: Mapping[str, Any], options: ReadOptions, prefix: str) -> Record:
    """Make a record of a row; what is neither mapped nor a memory's field stays in it, to be refused or kept.

    The id of a row that has none is `prefix` and a digest of it.
    """
    rest, fields = copy.deepcopy(dict(row)), options.fields
    record: Record = {name: _pop(rest, column) for name, column in fields.items()}
    for name in [name for name in rest if name in TOP]:
        if name in record:
            raise HopgateError(f"{name!r} is both a column and mapped from {fields[name]!r}: leave one of them out")
        record[name] = rest.pop(name)
    if options.text is not None:
        record["text"] = _PLACE.sub(lambda place: str(_plain(row.get(place[1])) or ""), options.text)
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
    """What a column's value is as a field: texts of a CSV file, numbers and times of a database.

    What cannot be converted stays as it is, and the memory is refused for it.
    """
    value = _plain(value)
    if value is None or (value == "" and name != "text"):
        return None
    try:
        return _CONVERTERS.get(name, _name)(value)
    except (ValueError, OverflowError, OSError, RecursionError):
        return value


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


def _name(value: Any) -> Any:
    """A number may be an id or a title."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _time(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return from_epoch(value) if number else value


def _list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.startswith("["):
        return json.loads(value)
    separator = next((sign for sign in "\n;|" if sign in value), ",")
    return [part.strip() for part in value.split(separator) if part.strip()]


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "tags": _list,
    "expanded_keywords": _list,
    "created_at": _time,
    "superseded_at": _time,
    "is_sensitive": lambda value: value if isinstance(value, bool) else _FLAGS.get(str(value).strip().lower(), value),
    "importance": lambda value: float(value) if isinstance(value, str) else value,
    EXTRA: lambda value: json.loads(value) if isinstance(value, str) else value,
}
