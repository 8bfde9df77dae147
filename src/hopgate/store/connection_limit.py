"""How many connections a run of many workers may take of a server, so that others still get theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

_FREE = (
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - "
    "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
)


def workers_allowed(connection: Connection[Any]) -> int:
    """Half of what is free now, each worker having one; at least one."""
    row = connection.execute(_FREE).fetchone()
    return max(1, int(row[0]) // 2) if row else 1
