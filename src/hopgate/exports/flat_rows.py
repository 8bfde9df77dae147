"""Memories as rows of one table: every field a column, so that `hopgate ingest` reads the table back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.fields import EXTRA, READERS
from hopgate.memory import Memory
from hopgate.private_files import private_opener

COLUMNS = ("_id", "title", "text", *READERS, EXTRA)
# pyarrow's names of the columns' types; the others are texts.
_TYPES = {
    "tags": "list",
    "expanded_keywords": "list",
    "importance": "float",
    "is_sensitive": "bool",
    "created_at": "time",
    "superseded_at": "time",
}
# Rows of a Parquet file that are written at once.
BATCH = 10_000


def flat_row(memory: Memory) -> dict[str, Any]:
    """A memory by its columns; what it has beyond them is JSON in `extra`."""
    extra = (to_record(memory).get("metadata") or {}).get(EXTRA)
    row: dict[str, Any] = {"_id": memory.external_id, "title": memory.title or None, "text": memory.text}
    row |= {name: getattr(memory, name) for name in READERS}
    return row | {EXTRA: json.dumps(extra, ensure_ascii=False) if extra else None}


def write_csv(memories: Iterable[Memory], out: IO[str]) -> int:
    """Write memories as CSV with a header; give how many."""
    # With this end of a line both of its signs are quoted inside a cell.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    count = 0
    for memory in memories:
        writer.writerow([_cell(value) for value in flat_row(memory).values()])
        count += 1
    return count


def write_parquet(memories: Iterable[Memory], path: Path) -> int:
    """Write memories as one Parquet file; give how many."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise HopgateError("Parquet needs pyarrow: pip install 'hopgate[parquet]'") from None
    types = {
        "list": pa.list_(pa.string()),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(name, types[_TYPES[name]] if name in _TYPES else pa.string()) for name in COLUMNS])
    count = 0
    with open(path, "wb", opener=private_opener) as stream, pq.ParquetWriter(stream, schema) as writer:
        for rows in _batches(memories):
            writer.write_table(pa.Table.from_pylist([_listed(flat_row(memory)) for memory in rows], schema=schema))
            count += len(rows)
    return count


def _batches(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    rows: list[Memory] = []
    for memory in memories:
        rows.append(memory)
        if len(rows) == BATCH:
            yield rows
            rows = []
    if rows:
        yield rows


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def _cell(value: Any) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, tuple) else str(value)
