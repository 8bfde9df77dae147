"""A whole store in one file, and back; and what deletion leaves on the disk.

A backup holds every table of hopgate's as it was at one moment, with checksums, and is read back once written. It is
restored into an empty store: every table in the order of its references, compared before it counts.
"""

from __future__ import annotations

import contextlib
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import psycopg
from psycopg import errors

from hopgate.errors import HopgateError, RefusedRowError
from hopgate.files import new_file
from hopgate.store import connect, memories, owners_table, schema, setting_rows, vectors
from hopgate.store.graph import graph_vectors
from hopgate.store.rows import Connection, fetch, value

if TYPE_CHECKING:
    from hopgate.guard import SensitivityRules
    from hopgate.store.store import Store

FORMAT = 3
MANIFEST = "hopgate-backup.json"
# A table has a line or two in it.
MAX_MANIFEST_BYTES = 16 << 20

Finish: TypeAlias = Callable[[Connection, Sequence["SensitivityRules"]], object]
"""Called with what was loaded and not committed, and with the store's own rules of sensitivity before."""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """How many rows of a table a backup holds, and their checksum."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: the schema's version, which says what columns there are, and every table."""

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
            value(connection, "SELECT 1 FROM memories LIMIT 1")
        )


# ---- Writing ---------------------------------------------------------------------------------------------------------


def write_backup(store: Store, path: Path) -> Manifest:
    """Write a store into a new file, which is there wholly or not at all, and read it back."""
    with new_file(path) as draft:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive, store.snapshot() as connection:
            _write_alike(connection)
            tables = schema.own_tables()
            manifest = Manifest(schema.VERSION, {table: _summed(connection, table) for table in tables})
            for table in tables:
                statement = f"COPY {table} ({_columns_of(connection, table)}) TO STDOUT"
                with (
                    archive.open(_file_of(table), "w", force_zip64=True) as out,
                    connection.cursor().copy(statement.encode()) as copy,
                ):
                    for chunk in copy:
                        out.write(chunk)
            archive.writestr(MANIFEST, json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1))
        check_backup(draft)
    return manifest


def _file_of(table: str) -> str:
    return f"tables/{table}.copy"


def _write_alike(connection: Connection) -> None:
    """Let the same rows be the same texts on every server and in every session."""
    connection.execute(
        "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1; "
        "SET LOCAL bytea_output = 'hex'"
    )


def _columns_of(connection: Connection, table: str) -> str:
    """A table's columns in SQL, in an order that does not depend on its history; without those that are computed."""
    listed = (
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attname) FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
    )
    return str(value(connection, listed, (table,)))


def _summed(connection: Connection, table: str) -> TableCopy:
    """Count a table's rows, and sum them up whatever their order: each by its digest."""
    (summed,) = fetch(
        connection,
        TableCopy,
        "SELECT count(*) AS rows, coalesce(sum(('x' || left(md5(copied::text), 16))::bit(64)::bigint), 0)::text "
        f"AS checksum FROM (SELECT {_columns_of(connection, table)} FROM {table}) AS copied",
    )
    return summed


# ---- Checking --------------------------------------------------------------------------------------------------------


def check_backup(path: Path) -> Manifest:
    """Read a backup through, and refuse one whose bytes are not those that were written."""
    manifest = _read_manifest(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for table in manifest.tables:
                archive.getinfo(_file_of(table))
            damaged = archive.testzip()
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise HopgateError(f"{path} is damaged ({error}): use another backup") from None
    if damaged:
        raise HopgateError(f"{path} is damaged at {damaged}: use another backup")
    return manifest


def _read_manifest(path: Path) -> Manifest:
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
        if not isinstance(made.schema, int) or "memories" not in made.tables:
            raise ValueError
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, AttributeError, RuntimeError):
        raise HopgateError(f"{path} is not a backup of hopgate's: give a file of hopgate backup") from None
    return made


# ---- Restoring -------------------------------------------------------------------------------------------------------


def read_backup(store: Store, path: Path, finish: Finish) -> Manifest:
    """Load a backup into a store without memories: wholly, and equal by checksum, or not at all.

    `finish` makes the store's own rules hold in what was loaded, before anybody else can read it.
    """
    manifest = check_backup(path)
    if manifest.schema != schema.VERSION:
        raise HopgateError(
            f"{path} has schema {manifest.schema}, and this hopgate needs {schema.VERSION}: restore it with the "
            "version that made it, export there, and ingest here"
        )
    if manifest.tables.keys() != {*schema.own_tables()}:
        raise HopgateError(f"{path} lacks a table, or has one too many: use another backup")
    try:
        with store.transaction() as connection, zipfile.ZipFile(path) as archive:
            _require_empty(connection)
            if table := owners_table.followed(connection):
                raise HopgateError(f"this store follows {table}: restore into one of hopgate's own, --data NEW-FOLDER")
            finish(connection, [_load(connection, archive, manifest)])
    except (RefusedRowError, psycopg.ProgrammingError):
        raise HopgateError(
            f"{path} holds what this store cannot take: nothing was restored; use another backup"
        ) from None
    with store.transaction() as connection:
        memories.tidy(connection)
        if vectors.has_space(connection):
            graph_vectors.ensure_index(connection)
    return manifest


def _require_empty(connection: Connection) -> None:
    if count := memories.count(connection):
        raise HopgateError(f"this store holds {count:,} memories: restore into an empty one, --data NEW-FOLDER")


def _load(connection: Connection, archive: zipfile.ZipFile, manifest: Manifest) -> SensitivityRules:
    """Put the backup's rows in the place of the store's own; give the rules of sensitivity that were there."""
    _write_alike(connection)
    # Nobody writes from here on, and what came since the store was looked at is refused: it would be emptied.
    for table in ("embedding_space", "memories"):  # in the order of docs/reliability.md
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    _require_empty(connection)
    rules = setting_rows.sensitivity(connection)
    tables = schema.own_tables()
    # What triggers would write beside these rows is in the backup already.
    connection.execute("; ".join(f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in tables))
    connection.execute(f"TRUNCATE {', '.join(tables)}")
    # Their columns have the dimension that is said there.
    _load_table(connection, "embedding_space", manifest, archive)
    connection.execute("SELECT hopgate_set_dimension((identity ->> 'dimension')::integer) FROM embedding_space")
    for table in tables:
        if table != "embedding_space":
            _load_table(connection, table, manifest, archive)
    connection.execute("; ".join(f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in tables))
    return rules


def _load_table(connection: Connection, table: str, manifest: Manifest, archive: zipfile.ZipFile) -> None:
    statement = f"COPY {table} ({_columns_of(connection, table)}) FROM STDIN"
    with archive.open(_file_of(table)) as rows, connection.cursor().copy(statement.encode()) as out:
        while chunk := rows.read(1 << 20):
            out.write(chunk)
    if _summed(connection, table) != manifest.tables[table]:
        raise HopgateError(f"the backup is damaged at the table {table}: nothing was restored; use another one")
    # New rows have ids after the restored ones.
    numbered = (
        "SELECT pg_get_serial_sequence(%(table)s, attname) FROM pg_attribute "
        "WHERE attrelid = %(table)s::regclass AND attidentity <> ''"
    )
    if sequence := value(connection, numbered, {"table": table}):
        connection.execute(f"SELECT setval(%s, greatest(1, max(id)), max(id) IS NOT NULL) FROM {table}", (sequence,))


# ---- What deletion leaves --------------------------------------------------------------------------------------------

BEYOND = (
    "backups, exports and archives of the server's log keep what they copied",
    "old files of the server's log are used again only as it goes on writing",
    "the file system and the disk may keep blocks of files that were removed",
)


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """How many tables were written anew, what else was done, and what may still hold something."""

    tables: int
    done: tuple[str, ...]
    left: tuple[str, ...]


def scrub(store: Store) -> Scrubbed:
    """Write every table of hopgate's anew, each locked meanwhile, and let the server write out what it holds."""
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        connection.autocommit = True
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(%s) "
            "ORDER BY 1",
            (schema.SCHEMA,),
        ).fetchall()
        for (table,) in tables:
            # Its HNSW indexes, if any, are built anew.
            vectors.build_over(connection, f"VACUUM (FULL, ANALYZE) {table}")
        done, beyond = [f"{len(tables)} tables were written anew"], list(BEYOND)
        try:
            connection.execute("CHECKPOINT")
            done.append("the server wrote out what it held in memory")
        except errors.InsufficientPrivilege:
            beyond.insert(0, "not allowed to this user: CHECKPOINT")
    return Scrubbed(len(tables), tuple(done), tuple(beyond))
