"""What a store says, without ids that say nothing, and what must always hold of it: the statements of oracle.sql."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from psycopg import Connection

_SQL = (Path(__file__).parent / "oracle.sql").read_text(encoding="utf-8")
_STATEMENT = re.compile(r"^-- (rows|always): (.+)\n([^;]+);", re.MULTILINE)


def _answers(connection: Connection[Any], kind: str) -> dict[str, list[Any]]:
    """What the statements of a kind give, by their names."""
    named = {name: statement for of, name, statement in _STATEMENT.findall(_SQL) if of == kind}
    memory = "coalesce(m.external_id, m.id::text)"
    return {name: connection.execute(text.replace("{memory}", memory)).fetchall() for name, text in named.items()}


def digest(connection: Connection[Any]) -> dict[str, str]:
    """A fingerprint of each table's logical rows."""
    found = {}
    for name, rows in _answers(connection, "rows").items():
        lines = sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)
        found[name] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] + f" of {len(lines)}"
    return found


def broken(connection: Connection[Any]) -> dict[str, list[Any]]:
    """The invariants that do not hold, with the rows that break them."""
    return {name: rows[:5] for name, rows in _answers(connection, "always").items() if rows}
