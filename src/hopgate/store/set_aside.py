"""Rows that a backfill could not make memories of: where each lies and why, so that the others need not wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection


class SetAside(NamedTuple):
    """A row that was set aside; its text is not kept, for nobody knows whether it is sensitive.

    Attributes
    ----------
    source, place : str
        The file or query, and the line or row in it.
    external_id : str or None
        Its id, where it has one that can be read.
    stage : str
        "read", "embed" or "write": where it failed.
    """

    source: str
    place: str
    external_id: str | None
    stage: str
    reason: str


def replace(
    connection: Connection[Any], passed: Sequence[tuple[str, str]], found: Sequence[SetAside], run_at: datetime
) -> None:
    """Note what a batch sets aside; rows that passed, as (source, place), are no longer."""
    if passed:
        connection.execute(
            "DELETE FROM set_aside s USING unnest(%s::text[], %s::text[]) AS p (source, place) "
            "WHERE s.source = p.source AND s.place = p.place",
            ([row[0] for row in passed], [row[1] for row in passed]),
        )
    for row in found:
        connection.execute(
            "INSERT INTO set_aside (source, place, external_id, stage, reason, noted_at) VALUES (%s, %s, %s, %s, %s, "
            "%s) ON CONFLICT (source, place) DO UPDATE SET external_id = excluded.external_id, "
            "stage = excluded.stage, reason = excluded.reason, noted_at = excluded.noted_at",
            (*row, run_at),
        )


def forget_older(connection: Connection[Any], sources: Sequence[str], run_at: datetime) -> None:
    """Forget rows of sources that a run, begun at a moment, has read to their end without meeting them again."""
    connection.execute("DELETE FROM set_aside WHERE source = ANY(%s) AND noted_at < %s", (list(sources), run_at))


def listed(connection: Connection[Any], limit: int | None = None) -> list[SetAside]:
    """The rows that are set aside, by source and in the order in which they were met."""
    rows = connection.execute(
        "SELECT source, place, external_id, stage, reason FROM set_aside "
        "ORDER BY source, length(place), place LIMIT %s",
        (limit,),
    )
    return [SetAside(*row) for row in rows]


def count(connection: Connection[Any]) -> int:
    """How many rows are set aside."""
    row = connection.execute("SELECT count(*) FROM set_aside").fetchone()
    assert row is not None
    return int(row[0])
