"""A backup back into an empty store: every table in the order of its references, and compared before it counts."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg

from hopgate.errors import HopgateError
from hopgate.store import memories, owners_table, setting_rows
from hopgate.store.backup import (
    Manifest,
    check_backup,
    columns_of,
    copied,
    key_of,
    quoted,
    table_bytes,
    write_alike,
)
from hopgate.store.graph import graph_vectors
from hopgate.store.schema import VERSION, own_tables

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store


Finish: TypeAlias = Callable[["Connection[Any]", Sequence[Mapping[str, Any] | None]], None]
"""Called with what was loaded and not committed, and with the store's own rules of sensitivity before."""


def read_backup(store: Store, path: Path, finish: Finish) -> Manifest:
    """Load a backup into a store without memories: wholly, and equal by digest, or not at all.

    Parameters
    ----------
    finish : callable
        Makes the store's own rules hold in what was loaded, before anybody else can read it.
    """
    manifest = check_backup(path)
    if manifest.schema != VERSION:
        raise HopgateError(
            f"{path} has schema {manifest.schema}, and this hopgate needs {VERSION}: restore it with the version "
            "that made it, export there, and ingest here"
        )
    with store.transaction() as connection:
        _require_empty(connection)
        if table := owners_table.followed(connection):
            raise HopgateError(f"this store follows {table}: restore into one of hopgate's own, --data NEW-FOLDER")
        rules = [setting_rows.sensitivity(connection)]
    try:
        with store.transaction() as connection, zipfile.ZipFile(path) as archive:
            rules += _load(connection, archive, manifest)
            finish(connection, rules)
    except (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError) as error:
        # By its kind alone: what the server says of a row repeats it.
        kind = type(error).__name__
        raise HopgateError(
            f"{path} holds what this store cannot take ({kind}): nothing was restored; use another backup"
        ) from None
    with store.transaction() as connection:
        memories.tidy(connection)
        if "embedding" in columns_of(connection, "concepts"):
            graph_vectors.ensure_index(connection)
    return manifest


def _lock_empty(connection: Connection[Any], tables: Sequence[str]) -> None:
    """Let nobody write from here on, and refuse what came since it was looked at: it would be emptied."""
    # In the order of docs/reliability.md; an old schema has no vectors.
    for table in ("embedding_space", "memories"):
        if table in tables:
            connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    _require_empty(connection)


def _require_empty(connection: Connection[Any]) -> None:
    if count := memories.count(connection):
        raise HopgateError(f"this store holds {count:,} memories: restore into an empty one, --data NEW-FOLDER")


def _load(connection: Connection[Any], archive: zipfile.ZipFile, manifest: Manifest) -> list[dict[str, Any] | None]:
    """Put the backup's rows in the place of the store's own; give the rules of sensitivity that were there."""
    write_alike(connection)
    there = [table for table in own_tables() if columns_of(connection, table)]
    _lock_empty(connection, there)
    if unknown := sorted(manifest.tables.keys() - set(there)):
        raise HopgateError(f"the backup has a table {unknown[0]} that this schema lacks: update hopgate")
    # What triggers would write beside these rows is in the backup already.
    for table in there:
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    rules = [setting_rows.sensitivity(connection)] if "store_settings" in there else []
    connection.execute(f"TRUNCATE {', '.join(there)}")
    for table in _in_order(connection, list(manifest.tables)):
        copy = manifest.tables[table]
        has = columns_of(connection, table)
        for name, kind in copy.columns.items():
            # Vectors have a column from the first one on; an owner's table may have more of its own.
            if name not in has:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(name)} {_known_type(connection, kind)}")
        if lacks := sorted(set(key_of(connection, table)) - copy.columns.keys()):
            raise HopgateError(f"the backup's table {table} lacks its column {lacks[0]}: use another backup")
        names = ", ".join(map(quoted, copy.columns))
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as out:
            for chunk in table_bytes(archive, table):
                out.write(chunk)
        digest = hashlib.sha256()
        for chunk in copied(connection, table, copy.columns):
            digest.update(chunk)
        if digest.hexdigest() != copy.sha256:
            raise HopgateError(f"the table {table} is not what the backup holds: nothing was restored")
        _continue_numbers(connection, table)
    for table in there:
        connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    return rules


def _known_type(connection: Connection[Any], kind: str) -> str:
    """Pass on what the server reads as a type and nothing more: a backup may be somebody else's file."""
    try:
        with connection.transaction():
            row = connection.execute("SELECT to_regtype(%s) IS NOT NULL", (kind,)).fetchone()
    except psycopg.Error:
        row = None
    if not (row and row[0]):
        raise HopgateError(f"the backup has a column of the type {kind[:40]!r}, which this server does not know")
    return kind


def _in_order(connection: Connection[Any], tables: Sequence[str]) -> list[str]:
    """Tables after those that they refer to."""
    rows = connection.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' "
        "AND conrelid <> confrelid"
    )
    needs: dict[str, set[str]] = {table: set() for table in tables}
    for table, other in rows:
        if table in needs and other in needs:
            needs[table].add(other)
    return list(TopologicalSorter(needs).static_order())


def _continue_numbers(connection: Connection[Any], table: str) -> None:
    """Let new rows have ids after the restored ones."""
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attidentity <> ''", (table,)
    ).fetchall()
    for (column,) in rows:
        connection.execute(
            f'SELECT setval(pg_get_serial_sequence(%s, %s), greatest(1, max("{column}")), max("{column}") IS NOT NULL) '
            f"FROM {table}",
            (table, column),
        )
