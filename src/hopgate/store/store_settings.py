"""What a store remembers about itself: a name, a JSON value, and who set it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from psycopg import Connection


def read(connection: Connection[Any], name: str) -> Any:
    """The value of a setting, or none."""
    row = connection.execute("SELECT value FROM store_settings WHERE name = %s", (name,)).fetchone()
    return None if row is None else row[0]


def write(connection: Connection[Any], name: str, value: Any, source: str) -> None:
    """Set a value; `source` says by what, such as the command."""
    connection.execute(
        "INSERT INTO store_settings (name, value, source) VALUES (%s, %s, %s) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value, source = excluded.source, set_at = now()",
        (name, Jsonb(value), source),
    )


def listed(connection: Connection[Any]) -> dict[str, Any]:
    """Every setting by its name."""
    return dict(connection.execute("SELECT name, value FROM store_settings ORDER BY name").fetchall())
