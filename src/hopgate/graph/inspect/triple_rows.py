"""Facts, mentions and statements as rows of triples.jsonl and statements.jsonl: for a replay on another store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import overview, statement_rows

if TYPE_CHECKING:
    from psycopg import Connection


def triple_rows(connection: Connection[Any]) -> list[dict[str, Any]]:
    """Every mention and fact of memories that are not sensitive; the mentions of a memory come before its facts."""
    rows: list[dict[str, Any]] = []
    for memory, name, kind in overview.spellings(connection):
        rows.append({"doc_id": memory, "entity": name} | ({"type": kind} if kind else {}))
    for memory, subject, relation, target, start, end, weight in overview.facts(connection):
        row = {"doc_id": memory, "subject": subject, "relation": relation, "object": target}
        # Six digits are what a real holds.
        row |= {"confidence": round(weight, 6)} if weight != 1 else {}
        dates = {"valid_from": start, "valid_to": end}
        rows.append(row | {name: _day(moment) for name, moment in dates.items() if moment})
    return rows


def stated_rows(connection: Connection[Any]) -> list[dict[str, Any]]:
    """Every statement about a memory that is not sensitive."""
    rows = []
    for memory, sentence, subject, weight, start, end in statement_rows.all_rows(connection):
        row = {"doc_id": memory, "statement": sentence} | ({"subject": subject} if subject else {})
        row |= {"confidence": round(weight, 6)} if weight != 1 else {}
        rows.append(row | {name: _day(at) for name, at in (("valid_from", start), ("valid_to", end)) if at})
    return rows


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()
