"""The languages of a store: the one of memories that name none, and what the server can search in."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.languages import configuration

if TYPE_CHECKING:
    from psycopg import Connection


def current(connection: Connection[Any]) -> str:
    """The language of memories that name none."""
    row = connection.execute("SELECT hopgate_language()").fetchone()
    assert row is not None
    return str(row[0])


def change(connection: Connection[Any], language: str) -> str:
    """Search the memories that name no language in this one; their words are made and counted anew.

    An owner's own `search_vector` stays: queries are then parsed in the language that it was made with.
    """
    from psycopg import sql

    name = configuration(language)
    assert name is not None
    require(connection, [name])
    # At once, and against those who have so far locked rows alone: whoever raised theirs later would wait for another.
    connection.execute("LOCK TABLE memories IN EXCLUSIVE MODE")
    connection.execute(
        sql.SQL(
            "CREATE OR REPLACE FUNCTION hopgate_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {}"
        ).format(sql.Literal(name))
    )
    # Naming a column that the vector is made of makes the vector anew.
    connection.execute("UPDATE memories SET search_language = NULL WHERE search_language IS NULL")
    connection.execute("SELECT hopgate_recount_words()")
    return name


def require(connection: Connection[Any], languages: Collection[str]) -> None:
    """Refuse a language that this server has no text search for."""
    if not languages:
        return
    rows = connection.execute(
        "SELECT cfgname, cfgnamespace::regnamespace::text || '.' || cfgname FROM pg_ts_config"
    ).fetchall()
    known = {name for row in rows for name in row}
    if unknown := sorted(set(languages) - known):
        there = ", ".join(sorted(name for name, _ in rows))
        raise HopgateError(f"this PostgreSQL has no text search for {unknown[0]!r}: there are {there}")
