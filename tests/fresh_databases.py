"""Databases for tests: copies of a template, emptied and used again where a test left only rows.

To copy a template and to drop the copy takes some 300 ms of the server on a busy machine; to empty one, a tenth.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import Connection, sql

# Catalogs whose rows no test may leave otherwise than they were: a row that was written anew has another xmin.
CATALOGS: Sequence[LiteralString] = (
    *("pg_attrdef", "pg_cast", "pg_constraint", "pg_default_acl", "pg_enum", "pg_event_trigger", "pg_extension"),
    *("pg_largeobject_metadata", "pg_opclass", "pg_operator", "pg_policy", "pg_proc", "pg_publication", "pg_rewrite"),
    *("pg_statistic_ext", "pg_trigger", "pg_ts_config", "pg_ts_dict", "pg_type"),
)
OWN: LiteralString = (
    "(SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid >= 16384 AND n.nspname NOT LIKE 'pg\\_%%') c"
)
COLUMNS: LiteralString = (
    "SELECT c.oid::regclass::text, quote_ident(attname), format_type(atttypid, atttypmod) FROM pg_attribute "
    f"JOIN {OWN} ON attrelid = c.oid WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped"
)
INDEXES: LiteralString = (
    "SELECT c.oid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
    f"JOIN {OWN} ON indexrelid = c.oid WHERE indisvalid"
)
TABLES: LiteralString = f"SELECT c.oid::regclass::text, pg_relation_size(c.oid) FROM {OWN} WHERE relkind = 'r'"
# What else of a database is no row of a table: the same for each copy, until a test changes the schema or a setting.
SHAPE: LiteralString = (
    "SELECT format('%s %s %s %s %s %s %s %s', c.oid::regclass, relkind, relowner, relacl, reloptions, relrowsecurity, "
    f"relforcerowsecurity, relpersistence) FROM {OWN} UNION ALL "
    "SELECT format('column %s %s %s %s %s %s %s', c.oid::regclass, attname, attnotnull, attstattarget, attgenerated, "
    f"attidentity, attacl) FROM pg_attribute JOIN {OWN} ON attrelid = c.oid WHERE NOT attisdropped UNION ALL "
    "SELECT format('schema %s %s', nspname, xmin) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_' UNION ALL "
    "SELECT format('database %s %s', datacl, datconnlimit) FROM pg_database WHERE datname = current_database() "
    "UNION ALL SELECT format('setting %s', setconfig) FROM pg_db_role_setting s "
    "JOIN pg_database d ON d.oid = s.setdatabase WHERE datname = current_database() "
    + " ".join(f"UNION ALL SELECT format('{one} %s %s', oid, xmin) FROM {one} WHERE oid >= 16384" for one in CATALOGS)
)
SEQUENCES: LiteralString = "SELECT format('%I.%I', schemaname, sequencename), start_value, last_value FROM pg_sequences"

# In bytes: to cut a table and its indexes takes 5 ms, and to delete a few rows none.
SMALL = 65536


class FreshDatabases:
    """Copies of one template, each a test's alone while it runs; under a name that no other has had.

    Parameters
    ----------
    dsn : str
        The server, by a database of its own that is no test's.
    template : str
        The database that is copied.
    """

    def __init__(self, dsn: str, template: str) -> None:
        self._dsn = dsn
        self._template = template
        self._server = psycopg.connect(dsn, autocommit=True)
        self._numbers = itertools.count()
        self._free: list[str] = []
        # The template's own: what it is made of, its rows by table, its sequences.
        self._shape: list[tuple[Any, ...]] = []
        self._columns: dict[tuple[str, str], str] = {}
        self._indexes: dict[str, str] = {}
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._sequences: dict[str, tuple[int, bool]] = {}

    @contextlib.contextmanager
    def one(self) -> Iterator[str]:
        """Lend a database that is as the template is; its address."""
        name = f"{self._template}_{next(self._numbers)}"
        new = sql.Identifier(name)
        if self._free:
            self._run(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(self._free.pop()), new))
        else:
            copied = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
            self._run(copied.format(new, sql.Identifier(self._template)))
        address = self.address(name)
        if not self._shape:
            self._look(address)
        try:
            yield address
        finally:
            if self._emptied(address):
                self._free.append(name)
            else:
                self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(new))

    def address(self, name: str) -> str:
        """The address of a database of this server."""
        return self._dsn.replace("dbname=postgres", f"dbname={name}")

    def close(self) -> None:
        """Leave the server."""
        self._server.close()

    def _run(self, statement: sql.Composed) -> None:
        self._server.execute(statement)

    def _look(self, address: str) -> None:
        """Note how a copy is before any test."""
        with psycopg.connect(address) as connection:
            self._shape, self._columns, self._indexes = _made_of(connection)
            for table, size in connection.execute(TABLES).fetchall():
                if size:
                    self._rows[table] = connection.execute(_sql("SELECT t::text FROM {} t", table)).fetchall()
            for name, start, last in connection.execute(SEQUENCES):
                self._sequences[name] = (start if last is None else last, last is not None)

    def _emptied(self, address: str) -> bool:
        """Bring a copy back to what it was; False where more than rows and sequences is another."""
        try:
            with psycopg.connect(address) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                # No trigger, no foreign key.
                connection.execute("SET LOCAL session_replication_role = replica")
                sizes = dict(connection.execute(TABLES).fetchall())
                if large := [table for table, size in sizes.items() if size > SMALL]:
                    connection.execute(_sql("TRUNCATE {} CASCADE", ", ".join(large)))
                for table, size in sizes.items():
                    if 0 < size <= SMALL:
                        connection.execute(_sql("DELETE FROM {}", table))
                for table, rows in self._rows.items():
                    for (row,) in rows:
                        connection.execute(_sql("INSERT INTO {0} SELECT (%s::{0}).*", table), (row,))
                for name, start, last in connection.execute(SEQUENCES).fetchall():
                    if self._sequences.get(name) != (start if last is None else last, last is not None):
                        connection.execute(
                            "SELECT setval(%s, %s, %s)", (name, *self._sequences.get(name, (start, False)))
                        )
                # Samples of what a test wrote.
                connection.execute("DELETE FROM pg_statistic WHERE starelid >= 16384")
                return self._as_it_was(connection)
        except psycopg.Error:
            return False

    def _as_it_was(self, connection: Connection[Any]) -> bool:
        """Take off what an embedder adds, columns of its length and indexes, and compare the rest."""
        was = (self._shape, self._columns, self._indexes)
        if (made_of := _made_of(connection)) == was:
            return True
        _, columns, indexes = made_of
        for index in indexes.keys() - self._indexes.keys():
            connection.execute(_sql("DROP INDEX {}", index))
        for table, name in columns.keys() - self._columns.keys():
            connection.execute(_sql("ALTER TABLE {} DROP COLUMN {}", table, name))
        return _made_of(connection) == was


def _made_of(connection: Connection[Any]) -> tuple[list[tuple[Any, ...]], dict[tuple[str, str], str], dict[str, str]]:
    """What a database is made of but for rows: its shape, the types of its columns, its indexes."""
    columns = {(table, name): kind for table, name, kind in connection.execute(COLUMNS)}
    indexes = dict(connection.execute(INDEXES).fetchall())
    # Indexes are compared by what they say: one that was made anew is another relation.
    return sorted(connection.execute(SHAPE).fetchall()), columns, indexes


def _sql(text: LiteralString, *names: str) -> sql.Composed:
    """A statement with names that PostgreSQL has quoted."""
    return sql.SQL(text).format(*map(sql.SQL, names))  # type: ignore[arg-type]
