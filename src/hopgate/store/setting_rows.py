"""Settings that belong to a store: what a gate chose for it, and what its owner set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import version

if TYPE_CHECKING:
    from psycopg import Connection

GRAPH_VERSION = "graph_version"
"""The row that is no setting: the graph's version at the gate that wrote the others."""
SENSITIVITY = "sensitivity"
"""The row that is no setting of recall: the rules by which memories are sensitive."""
SCOPES = "scopes"
"""The row that no call, file or variable can change: whether walks pass from one scope into another."""
WALLS, SHARED = "walls", "shared"


def read(connection: Connection[Any]) -> dict[str, tuple[Any, str]]:
    """Every setting of the store by its name: value and source."""
    rows = connection.execute(
        "SELECT name, value, source FROM store_settings WHERE name <> ALL(%s)", ([GRAPH_VERSION, SENSITIVITY, SCOPES],)
    )
    return {name: (value, source) for name, value, source in rows}


def sensitivity(connection: Connection[Any]) -> dict[str, Any] | None:
    """The rules by which memories are sensitive as they were written, or none."""
    row = connection.execute("SELECT value FROM store_settings WHERE name = %s", (SENSITIVITY,)).fetchone()
    return None if row is None else dict(row[0])


def scopes(connection: Connection[Any]) -> str:
    """Say "walls", where nothing of one scope moves another's answers; "shared", where one person has them all."""
    row = connection.execute("SELECT value FROM store_settings WHERE name = %s", (SCOPES,)).fetchone()
    return WALLS if row is None else str(row[0])


def write(connection: Connection[Any], values: Mapping[str, Any], source: str) -> None:
    """Set some, in the place of what was there."""
    connection.execute(
        "INSERT INTO store_settings (name, value, source) "
        "SELECT name, value, %(source)s FROM jsonb_each(%(values)s::jsonb) AS given (name, value) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value, source = excluded.source, set_at = now()",
        {"values": json.dumps(dict(values)), "source": source},
    )


def write_gate(connection: Connection[Any], values: Mapping[str, Any], source: str) -> None:
    """Set what a gate chose, and note the graph's version that it looked at."""
    write(connection, {**values, GRAPH_VERSION: version.current(connection)}, source)


def remove(connection: Connection[Any], names: Sequence[str]) -> list[str]:
    """Forget some; give those that were there."""
    rows = connection.execute("DELETE FROM store_settings WHERE name = ANY(%s) RETURNING name", (list(names),))
    return [row[0] for row in rows]


def gate_is_behind(connection: Connection[Any]) -> str | None:
    """The source of the gate whose graph has changed since; none where it has not, or no gate was applied."""
    row = connection.execute(
        "SELECT s.source FROM store_settings s, graph_state g "
        "WHERE s.name = %s AND (s.value)::text::bigint <> g.version",
        (GRAPH_VERSION,),
    ).fetchone()
    return str(row[0]) if row else None
