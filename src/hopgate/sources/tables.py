"""Tables, JSON and lines of text: a row, an object or a line is a memory, its fields by a field map."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import checked_json_lines, parse_json_lines
from hopgate.sources.field_map import require_text, to_corpus
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

CSV = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
# Rows that are read at once.
BATCH = 4096
LINES = (".jsonl", ".ndjson")


def is_csv(place: Place) -> bool:
    """Whether a file is a table by its name."""
    return place.is_file() and place.name.lower().endswith(CSV)


def csv_rows(place: Place, options: ReadOptions) -> Records:
    """Give the rows; the first line names the columns."""
    text = read_utf8(place)
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
        require_text(header, options.fields, str(place))
        begun = reader.line_num + 1
        for row in reader:
            where, begun = begun, reader.line_num + 1
            if not any(row):
                continue
            if len(row) != len(header):
                raise HopgateError(f"{place}, line {where}: {len(row)} cells, where the header has {len(header)}")
            yield f"line {where}", to_corpus(dict(zip(header, row, strict=True)), options, place.name)
    except csv.Error as error:
        raise HopgateError(f"{place}, line {reader.line_num}: not CSV ({error})") from None


def is_parquet(place: Place) -> bool:
    """Whether a file is Parquet by its name."""
    return place.is_file() and place.name.lower().endswith(PARQUET)


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
            require_text(table.schema_arrow.names, options.fields, str(place))
            number = 0
            for batch in table.iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", to_corpus(row, options, place.name)
    except pa.ArrowException as error:
        raise HopgateError(f"{place} is not Parquet ({' '.join(str(error).split())[:80]}): write it again") from None


def is_json(place: Place) -> bool:
    """Whether a file is JSON by its name."""
    return place.is_file() and place.name.lower().endswith((".json", *LINES))


def json_objects(place: Place, options: ReadOptions) -> Records:
    """Give the objects of a file: of its lines, its list, or the one list of objects inside its object."""
    if place.name.lower().endswith(LINES):
        with place.open("rb") as stream:
            for number, row in parse_json_lines(stream, str(place)):
                if number == 1:
                    require_text(list(row), options.fields, str(place))
                yield f"line {number}", to_corpus(row, options, place.name)
        return
    rows = _objects(read_json(place), place)
    if rows:
        require_text(list(rows[0]), options.fields, f"{place}, record 1,")
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


def is_json_lines(place: Place) -> bool:
    """Whether a file is one of JSON lines, by its name or, where that says nothing, by its first sign."""
    if not place.is_file():
        return False
    return place.name.lower().endswith((".jsonl", ".ndjson")) or ("." not in place.name and head(place)[:1] == "{")


def corpus_lines(place: Place, _: ReadOptions) -> Records:
    """Give the lines as they are."""
    with place.open("rb") as stream:
        for number, row in parse_json_lines(stream, str(place)):
            yield f"line {number}", row


def checked_lines(place: Place, options: ReadOptions) -> Iterator[tuple[str, Record | HopgateError]]:
    """Give the lines, by a field map where there is one; for a line that cannot be read, its error in its place."""
    with place.open("rb") as stream:
        for number, row in checked_json_lines(stream, str(place)):
            if options.fields and not isinstance(row, HopgateError):
                try:
                    yield f"line {number}", to_corpus(row, options, place.name)
                except HopgateError as error:
                    yield f"line {number}", error
            else:
                yield f"line {number}", row


def is_text(place: Place) -> bool:
    """Whether a file is a text by its name."""
    return place.is_file() and place.name.lower().endswith((".txt", ".text", ".log"))


def text_lines(place: Place, options: ReadOptions) -> Records:
    """Give the lines that are not blank; a line keeps its id when others come before it."""
    numbered = Repeated()
    for number, line in enumerate(read_utf8(place).splitlines(), start=1):
        if text := line.strip():
            yield f"line {number}", {"_id": numbered(f"{place.name}#{digest(options.id_key, text)}"), "text": text}
