"""The store's rules of sensitivity, a row among its settings; and the other settings, to be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from psycopg import Connection

NAME = "sensitivity"
"""The setting that holds the rules: no setting of recall."""


def read(connection: Connection[Any]) -> dict[str, Any] | None:
    """The rules as they were written, or none."""
    row = connection.execute("SELECT value FROM store_settings WHERE name = %s", (NAME,)).fetchone()
    return None if row is None else dict(row[0])


def write(connection: Connection[Any], rules: dict[str, Any], source: str) -> None:
    """Keep the rules; `source` says by what they were set, such as the command."""
    connection.execute(
        "INSERT INTO store_settings (name, value, source) VALUES (%s, %s, %s) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value, source = excluded.source, set_at = now()",
        (NAME, Jsonb(rules), source),
    )


def other_settings(connection: Connection[Any]) -> dict[str, Any]:
    """Every other setting of the store by its name."""
    rows = connection.execute("SELECT name, value FROM store_settings WHERE name <> %s ORDER BY name", (NAME,))
    return dict(rows.fetchall())
