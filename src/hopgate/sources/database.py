"""A table or a query of any PostgreSQL database or SQLite file, and hopgate's own SQLite file of memories."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.redact import password_parts, redacted
from hopgate.sources.source import Place, ReadOptions, Record, Records
from hopgate.sources.tables import require_text, to_corpus

MAGIC = b"SQLite format 3\0"
# What a view may make of nothing ends here.
MAX_VALUE_BYTES = 64 << 20


def recognises(place: Place) -> bool:
    """Whether a file is a SQLite database by its first bytes."""
    if not isinstance(place, Path) or not place.is_file():
        return False
    with place.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def records(place: Place, options: ReadOptions) -> Records:
    """Give the rows of a query on a SQLite file, or the memories of a file that hopgate's SQLite mode reads."""
    if not recognises(place):
        raise HopgateError(f"{place} is not a SQLite file: it begins otherwise")
    own = options.query is None
    try:
        with closing(connected(f"{Path(str(place)).resolve().as_uri()}?mode=ro")) as connection:
            found = connection.execute(select(options.query or "memories"))
            columns = [column[0] for column in found.description]
            if not own:
                require_text(columns, options, f"the query on {place.name}")
            for number, row in enumerate(found, start=1):
                values = dict(zip(columns, row, strict=True))
                yield f"row {number}", own_record(values, options) if own else to_corpus(values, options, place.name)
    except sqlite3.Error as error:
        advice = ": give a table or a query, --from-sql" if own else ""
        raise HopgateError(f"{place} cannot be read so ({error}){advice}") from None


def connected(address: str, timeout: float = 5) -> sqlite3.Connection:
    """Open a SQLite file that anybody may have made: signals are heard, and no error repeats a text of it."""
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=timeout)
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.set_progress_handler(lambda: 0, 1_000_000)
    return connection


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise HopgateError(f"a text is not UTF-8 at byte {error.start}: write it anew") from None


def server_records(address: str, options: ReadOptions) -> Records:
    """Give the rows of a query on a PostgreSQL server, in a transaction that can only read."""
    import psycopg

    if not options.query:
        raise HopgateError("an address needs a table or a query: --from-sql 'SELECT id, body AS text FROM notes'")
    try:
        psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        # What libpq says of it repeats it, and a piece of it may be a password.
        raise HopgateError("this is not a PostgreSQL address: write postgresql://user@host:5432/database") from None
    prefix = options.query if re.fullmatch(r"[\w.]+", options.query) else "sql"
    try:
        with psycopg.connect(address, application_name="hopgate", connect_timeout=10) as connection:
            connection.read_only = True
            for number, row in enumerate(_rows(connection, select(options.query), options), start=1):
                yield f"row {number}", to_corpus(row, options, prefix)
    except psycopg.Error as error:
        reason = redacted((str(error).strip().splitlines() or [""])[0], *password_parts(address))
        raise HopgateError(f"the query failed: {reason}") from None


def select(query: str) -> str:
    """A query, or all of a table that is named."""
    return f"SELECT * FROM {query}" if re.fullmatch(r"\w+(\.\w+)?", query.strip()) else query


def _rows(connection: Any, query: str, options: ReadOptions) -> Iterator[dict[str, Any]]:
    with connection.cursor(name="hopgate_source") as cursor:
        cursor.itersize = 2000
        cursor.execute(query)
        columns = [column.name for column in cursor.description]
        require_text(columns, options, "the query")
        for row in cursor:
            yield dict(zip(columns, row, strict=True))


def own_record(row: Mapping[str, Any], options: ReadOptions) -> Record:
    """Give a row of a SQLite file of memories; its ids may be in `id` alone, and it may have no scope."""
    if missing := [name for name in ("content", "is_sensitive") if name not in row]:
        raise HopgateError(f"the table memories has no column {missing[0]!r}: give a query with --from-sql")
    known = {name: value for name, value in row.items() if name != "id" or "external_id" not in row}
    fields = {"_id": "external_id" if "external_id" in row else "id", "text": "content"}
    return to_corpus(known, replace(options, fields=fields), "memories")
