"""Settings that belong to a store: what a gate chose for it, what its owner set, and its language."""

import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.memory import configuration
from hopgate.store.graph import version
from hopgate.store.rows import Connection, value, values

GRAPH_VERSION = "graph_version"
"""The row that is no setting: the graph's version at the gate that wrote the others."""
SENSITIVITY = "sensitivity"
"""The row that is no setting of recall: the rules by which memories are sensitive."""
SCOPES, LATE = "scopes", "late_model"
WALLS, SHARED = "walls", "shared"
ID_KEY = "id key"
"""The row that is no setting and nobody is shown: what ids of memories without one are made with."""


class StoreSetting(NamedTuple):
    """A setting that no call, file or variable can change: its values, the default first, and what it is for.

    A value that ends with a colon stands for all that begin so.
    """

    values: tuple[str, ...]
    meaning: str


STORE_SETTINGS = {
    SCOPES: StoreSetting(
        (WALLS, SHARED),
        "walls: no scope moves another's answers; shared: walks pass through all, for one person's many",
    ),
    LATE: StoreSetting(
        ("bundled", "off", "sentence-transformers:"),
        "who makes the tokens of late interaction, from the first vector on; also as late=off",
    ),
}


_VALUE = "SELECT value FROM store_settings WHERE name = %s"


def read(connection: Connection) -> dict[str, tuple[Any, str]]:
    """Every setting of the store by its name: value and source."""
    rows = connection.execute(
        "SELECT name, value, source FROM store_settings WHERE name <> ALL(%s)",
        ([GRAPH_VERSION, SENSITIVITY, *STORE_SETTINGS, ID_KEY],),
    )
    return {name: (value, source) for name, value, source in rows}


def sensitivity(connection: Connection) -> SensitivityRules:
    """The rules by which the store's memories are sensitive."""
    return SensitivityRules.of(value(connection, _VALUE, (SENSITIVITY,)))


def shares_scopes(connection: Connection) -> bool:
    """Whether walks pass through all scopes, for one person has them; else nothing of one moves another's answers."""
    return own(connection, SCOPES) == SHARED


def own(connection: Connection, name: str) -> str:
    """The value of a setting that is the store's alone."""
    return value(connection, _VALUE, (name,)) or STORE_SETTINGS[name].values[0]


def check_own(connection: Connection, name: str, value: str) -> None:
    """Refuse what a setting of the store's alone cannot be, or can no longer be; do what a change of it asks for."""
    values = STORE_SETTINGS[name].values
    if value not in values and not value.startswith(tuple(prefix for prefix in values if prefix.endswith(":"))):
        raise HopgateError(f"{name} must be {' or '.join(values)}, not {value!r}")
    if own(connection, name) == value:
        return
    if name == SCOPES:
        # Names are kept by scope: the next build makes the graph anew.
        version.forget_graph(connection)
    elif connection.execute("SELECT 1 FROM embedding_space").fetchone():
        raise HopgateError("late_model is decided before the first vector: for another ingest into a new store")


def id_key(connection: Connection) -> bytes:
    """The store's own secret, made when it is first asked for."""
    connection.execute(
        "INSERT INTO store_settings (name, value, source) VALUES (%s, to_jsonb(%s::text), 'hopgate') "
        "ON CONFLICT DO NOTHING",
        (ID_KEY, secrets.token_hex(16)),
    )
    return bytes.fromhex(value(connection, _VALUE, (ID_KEY,)))


def write(connection: Connection, values: Mapping[str, Any], source: str) -> None:
    """Set some, in the place of what was there."""
    connection.execute(
        "INSERT INTO store_settings (name, value, source) "
        "SELECT name, value, %(source)s FROM jsonb_each(%(values)s::jsonb) AS given (name, value) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value, source = excluded.source",
        {"values": json.dumps(dict(values)), "source": source},
    )


def remove(connection: Connection, names: Sequence[str]) -> list[str]:
    """Forget some; give those that were there."""
    return values(connection, "DELETE FROM store_settings WHERE name = ANY(%s) RETURNING name", (list(names),))


def gate_is_behind(connection: Connection) -> str | None:
    """The source of the gate whose graph has changed since; none where it has not, or no gate was applied."""
    source: str | None = value(
        connection,
        "SELECT s.source FROM store_settings s, graph_state g "
        "WHERE s.name = %s AND (s.value)::text::bigint <> g.version",
        (GRAPH_VERSION,),
    )
    return source


def language(connection: Connection) -> str:
    """The language of memories that name none."""
    return str(value(connection, "SELECT hopgate_language()"))


def change_language(connection: Connection, language: str) -> str:
    """Search the memories that name no language in this one; their words are made and counted anew.

    An owner's own `search_vector` stays: queries are then parsed in the language that it was made with.
    """
    from psycopg import sql

    name = configuration(language)
    assert name is not None
    require_languages(connection, [name])
    # At once, and against those who have so far locked rows alone: whoever raised theirs later would wait for another.
    connection.execute("LOCK TABLE memories IN EXCLUSIVE MODE")
    made = "CREATE OR REPLACE FUNCTION hopgate_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {}"
    connection.execute(sql.SQL(made).format(sql.Literal(name)))
    # Naming a column that the vector is made of makes the vector anew.
    connection.execute("UPDATE memories SET search_language = NULL WHERE search_language IS NULL")
    connection.execute("SELECT hopgate_recount_words()")
    return name


def require_languages(connection: Connection, languages: Collection[str]) -> None:
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
