"""A whole store in one file: every table of hopgate's as it was at one moment, with digests, read back once written."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store import schema
from hopgate.store.schema import own_tables

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

FORMAT = 2
MANIFEST = "hopgate-backup.json"
# So that the same rows are the same bytes on every server and in every session.
_WRITTEN_ALIKE = {"TimeZone": "UTC", "DateStyle": "ISO", "extra_float_digits": "1", "bytea_output": "hex"}
# A table has a line or two in it.
MAX_MANIFEST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table in a backup: its columns with their types in SQL, its rows, and the digest of their bytes."""

    columns: Mapping[str, str]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: the schema's version and every table."""

    schema: int
    tables: Mapping[str, TableCopy]

    @property
    def memories(self) -> int:
        """How many memories are in it."""
        return self.tables["memories"].rows


def has_memories(store: Store) -> bool:
    """Whether a database with hopgate's schema, or with none, holds something that a backup would keep."""
    with store.snapshot() as connection:
        return schema.status(connection).current is not None and bool(
            connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone()
        )


def write_backup(store: Store, path: Path) -> Manifest:
    """Write a store into a new file, which is there wholly or not at all, and read it back."""
    if path.exists():
        raise HopgateError(f"{path} exists already: remove it or choose another name")
    draft = path.with_name(f".{path.name}.part")
    try:
        # For its owner alone: sensitive memories are in it. Never into a file that was there already: whoever else may
        # write to this folder could have made it, and would read along.
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            manifest = _write(store, archive)
        check_backup(draft)
        draft.replace(path)
    except OSError as error:
        raise HopgateError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def check_backup(path: Path) -> Manifest:
    """Read a backup through, and refuse one whose bytes are not those that were written."""
    manifest = read_manifest(path)
    with zipfile.ZipFile(path) as archive:
        for name, table in manifest.tables.items():
            digest, rows = hashlib.sha256(), 0
            try:
                for chunk in table_bytes(archive, name):
                    digest.update(chunk)
                    rows += chunk.count(b"\n")
            except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
                raise HopgateError(f"{path} is damaged at the table {name} ({error}): use another backup") from None
            if digest.hexdigest() != table.sha256 or rows != table.rows:
                raise HopgateError(f"{path} is damaged: the table {name} is not what was written; use another backup")
    return manifest


def read_manifest(path: Path) -> Manifest:
    """What a backup says that it holds; it may be somebody else's file, and say anything."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
                raise ValueError
            values = json.loads(archive.read(MANIFEST))
        if values["format"] != FORMAT:
            raise HopgateError(
                f"{path} is a backup of format {str(values['format'])[:20]}: restore it with the version that made it"
            )
        made = Manifest(values["schema"], {name: TableCopy(**table) for name, table in values["tables"].items()})
        if not _well_formed(made):
            raise ValueError
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, AttributeError, RuntimeError):
        raise HopgateError(f"{path} is not a backup of hopgate's: give a file of hopgate backup") from None
    return made


def _well_formed(manifest: Manifest) -> bool:
    """Whether a manifest's values are of the kinds that one has, with the one table that every store has."""
    return (
        isinstance(manifest.schema, int)
        and "memories" in manifest.tables
        and all(
            isinstance(table.rows, int)
            and isinstance(table.columns, dict)
            and all(isinstance(kind, str) for kind in table.columns.values())
            for table in manifest.tables.values()
        )
    )


def quoted(name: str) -> str:
    """A column's name in SQL, whatever it holds.

    Examples
    --------
    >>> print(quoted('a"; DROP TABLE memories'))
    "a""; DROP TABLE memories"
    """
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def table_bytes(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """A table's rows as COPY has them."""
    with archive.open(f"tables/{name}.copy") as stream:
        while chunk := stream.read(1 << 20):
            yield chunk


def columns_of(connection: Connection[Any], table: str) -> dict[str, str]:
    """A table's columns and their types; those that PostgreSQL computes are left out."""
    rows = connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass(%s) "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attname",
        (table,),
    )
    return dict(rows.fetchall())


def key_of(connection: Connection[Any], table: str) -> list[str]:
    """The columns of a table's primary key."""
    rows = connection.execute(
        "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
        "WHERE i.indrelid = to_regclass(%s) AND i.indisprimary ORDER BY a.attname",
        (table,),
    )
    return [name for (name,) in rows]


def copied(connection: Connection[Any], table: str, columns: Mapping[str, str]) -> Iterator[bytes]:
    """The rows of a table in an order that depends on them alone."""
    names = ", ".join(map(quoted, columns))
    # Numbers by their value; texts by their bytes, whatever language the database has.
    order = [
        quoted(name) if columns[name] in ("bigint", "integer", "boolean") else f'{quoted(name)}::text COLLATE "C"'
        for name in key_of(connection, table) or columns
    ]
    with connection.cursor() as cursor:
        statement = f"COPY (SELECT {names} FROM {table} ORDER BY {', '.join(order)}) TO STDOUT"
        with cursor.copy(statement) as copy:
            for chunk in copy:
                yield bytes(chunk)


def write_alike(connection: Connection[Any]) -> None:
    """Make this transaction write values as every other does."""
    for name, value in _WRITTEN_ALIKE.items():
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))


def _write(store: Store, archive: zipfile.ZipFile) -> Manifest:
    tables: dict[str, TableCopy] = {}
    with store.snapshot() as connection:
        write_alike(connection)
        for table in own_tables():
            columns = columns_of(connection, table)
            if not columns:
                continue
            digest, rows = hashlib.sha256(), 0
            with archive.open(f"tables/{table}.copy", "w", force_zip64=True) as out:
                for chunk in copied(connection, table, columns):
                    out.write(chunk)
                    digest.update(chunk)
                    rows += chunk.count(b"\n")
            tables[table] = TableCopy(columns, rows, digest.hexdigest())
    manifest = Manifest(schema.VERSION, tables)
    values = {
        "format": FORMAT,
        "schema": manifest.schema,
        "tables": {name: asdict(table) for name, table in tables.items()},
    }
    archive.writestr(MANIFEST, json.dumps(values, indent=1))
    return manifest
