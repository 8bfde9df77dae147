"""A whole store in one file, and back; and what deletion leaves on the disk.

A backup holds every table of hopgate's as it was at one moment, with digests, and is read back once written. It is
restored into an empty store: every table in the order of its references, compared before it counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import psycopg
from psycopg import errors

from hopgate.errors import HopgateError, RefusedRowError
from hopgate.files import new_file
from hopgate.store import connect, memories, owners_table, schema, setting_rows, vectors
from hopgate.store.graph import graph_vectors
from hopgate.store.owners_table import quoted
from hopgate.store.rows import fetch, value

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.guard import SensitivityRules
    from hopgate.store.store import Store

FORMAT = 2
MANIFEST = "hopgate-backup.json"
# A table has a line or two in it.
MAX_MANIFEST_BYTES = 16 << 20

Finish: TypeAlias = Callable[["Connection[Any]", Sequence["SensitivityRules"]], object]
"""Called with what was loaded and not committed, and with the store's own rules of sensitivity before."""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table in a backup: its columns with their types in SQL, its rows, and the digest of their bytes."""

    columns: Mapping[str, str]
    rows: int
    sha256: str

    def __post_init__(self) -> None:
        kinds = self.columns.values() if isinstance(self.columns, dict) else [None]
        if not isinstance(self.rows, int) or not all(isinstance(kind, str) for kind in kinds):
            raise ValueError


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
            value(connection, "SELECT 1 FROM memories LIMIT 1")
        )


# ---- Writing ---------------------------------------------------------------------------------------------------------


def write_backup(store: Store, path: Path) -> Manifest:
    """Write a store into a new file, which is there wholly or not at all, and read it back."""
    tables: dict[str, TableCopy] = {}
    with new_file(path) as draft:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive, store.snapshot() as connection:
            _write_alike(connection)
            for table in schema.own_tables():
                if columns := {column.name: column.type for column in _columns_of(connection, table)}:
                    with archive.open(f"tables/{table}.copy", "w", force_zip64=True) as out:
                        tables[table] = _summed(columns, _copied(connection, table, columns), out.write)
            manifest = Manifest(schema.VERSION, tables)
            archive.writestr(MANIFEST, json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1))
        check_backup(draft)
    return manifest


def _summed(
    columns: Mapping[str, str], rows: Iterator[bytes], write: Callable[[bytes], object] = lambda _: None
) -> TableCopy:
    """Pass a table's rows on, and give how many they are and their digest."""
    digest, count = hashlib.sha256(), 0
    for chunk in rows:
        write(chunk)
        digest.update(chunk)
        count += chunk.count(b"\n")
    return TableCopy(columns, count, digest.hexdigest())


def _write_alike(connection: Connection[Any]) -> None:
    """Let the same rows be the same bytes on every server and in every session."""
    connection.execute(
        "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1; "
        "SET LOCAL bytea_output = 'hex'"
    )


def _copied(connection: Connection[Any], table: str, columns: Mapping[str, str]) -> Iterator[bytes]:
    """The rows of a table in an order that depends on them alone."""
    names = ", ".join(map(quoted, columns))
    # Numbers by their value; texts by their bytes, whatever language the database has.
    order = [
        quoted(name) if columns[name] in ("bigint", "integer", "boolean") else f'{quoted(name)}::text COLLATE "C"'
        for name in [column.name for column in _columns_of(connection, table) if column.in_key] or columns
    ]
    statement = f"COPY (SELECT {names} FROM {table} ORDER BY {', '.join(order)}) TO STDOUT"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        yield from map(bytes, copy)


class _Column(NamedTuple):
    """A column of a table: whether it is of the primary key, and whether new rows count on in it."""

    name: str
    type: str
    in_key: bool
    counts: bool


def _columns_of(connection: Connection[Any], table: str) -> list[_Column]:
    """A table's columns; those that PostgreSQL computes are left out."""
    return fetch(
        connection,
        _Column,
        "SELECT attname AS name, format_type(atttypid, atttypmod) AS type, "
        "coalesce(attnum = ANY(indkey), false) AS in_key, attidentity <> '' AS counts FROM pg_attribute "
        "LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary WHERE attrelid = to_regclass(%s) "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attname",
        (table,),
    )


# ---- Checking --------------------------------------------------------------------------------------------------------


def check_backup(path: Path) -> Manifest:
    """Read a backup through, and refuse one whose bytes are not those that were written."""
    manifest = _read_manifest(path)
    with zipfile.ZipFile(path) as archive:
        for name, table in manifest.tables.items():
            try:
                read = _summed(table.columns, _table_bytes(archive, name))
            except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
                raise HopgateError(f"{path} is damaged at the table {name} ({error}): use another backup") from None
            if read != table:
                raise HopgateError(f"{path} is damaged: the table {name} is not what was written; use another backup")
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


def _table_bytes(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """A table's rows as COPY has them."""
    with archive.open(f"tables/{name}.copy") as stream:
        yield from iter(lambda: stream.read(1 << 20), b"")


# ---- Restoring -------------------------------------------------------------------------------------------------------


def read_backup(store: Store, path: Path, finish: Finish) -> Manifest:
    """Load a backup into a store without memories: wholly, and equal by digest, or not at all.

    `finish` makes the store's own rules hold in what was loaded, before anybody else can read it.
    """
    manifest = check_backup(path)
    if manifest.schema != schema.VERSION:
        raise HopgateError(
            f"{path} has schema {manifest.schema}, and this hopgate needs {schema.VERSION}: restore it with the "
            "version that made it, export there, and ingest here"
        )
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


def _require_empty(connection: Connection[Any]) -> None:
    if count := memories.count(connection):
        raise HopgateError(f"this store holds {count:,} memories: restore into an empty one, --data NEW-FOLDER")


def _load(connection: Connection[Any], archive: zipfile.ZipFile, manifest: Manifest) -> SensitivityRules:
    """Put the backup's rows in the place of the store's own; give the rules of sensitivity that were there."""
    _write_alike(connection)
    # Nobody writes from here on, and what came since the store was looked at is refused: it would be emptied.
    for table in ("embedding_space", "memories"):  # in the order of docs/reliability.md
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    _require_empty(connection)
    tables = schema.own_tables()
    if unknown := sorted(manifest.tables.keys() - set(tables)):
        raise HopgateError(f"the backup has a table {unknown[0]} that this schema lacks: update hopgate")
    # What triggers would write beside these rows is in the backup already.
    for table in tables:
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    rules = setting_rows.sensitivity(connection)
    connection.execute(f"TRUNCATE {', '.join(tables)}")
    for table in tables:
        if table in manifest.tables:
            _load_table(connection, table, manifest.tables[table], archive)
    for table in tables:
        connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    return rules


def _load_table(connection: Connection[Any], table: str, copy: TableCopy, archive: zipfile.ZipFile) -> None:
    columns = _columns_of(connection, table)
    for name, kind in copy.columns.items():
        # Vectors have a column from the first one on.
        if name not in {column.name for column in columns}:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(name)} {_known_type(connection, kind)}")
    if lacks := sorted({column.name for column in columns if column.in_key} - copy.columns.keys()):
        raise HopgateError(f"the backup's table {table} lacks its column {lacks[0]}: use another backup")
    names = ", ".join(map(quoted, copy.columns))
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as out:
        for chunk in _table_bytes(archive, table):
            out.write(chunk)
    if _summed(copy.columns, _copied(connection, table, copy.columns)) != copy:
        raise HopgateError(f"the table {table} is not what the backup holds: nothing was restored")
    # New rows have ids after the restored ones.
    for name in (column.name for column in columns if column.counts):
        connection.execute(
            f'SELECT setval(pg_get_serial_sequence(%s, %s), greatest(1, max("{name}")), max("{name}") IS NOT NULL) '
            f"FROM {table}",
            (table, name),
        )


def _known_type(connection: Connection[Any], kind: str) -> str:
    """Pass on what the server reads as a type and nothing more: a backup may be somebody else's file."""
    known = None
    with contextlib.suppress(psycopg.Error), connection.transaction():
        known = value(connection, "SELECT to_regtype(%s)::text", (kind,))
    if known is None:
        raise HopgateError(f"the backup has a column of the type {kind[:40]!r}, which this server does not know")
    return kind


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
