"""Edges as values: true as of a time, known at a time, each with the memories that are its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.names import normalise
from hopgate.store.graph import concept_rows, edge_rows

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge by its names: true from `valid_from` to `valid_to`, known since `recorded_at`, with its evidence."""

    source: str
    relation: str
    target: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime | None
    retired_at: datetime | None
    evidence: tuple[str, ...]


def edges(
    connection: Connection[Any],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    of: str | int | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[Edge]:
    """Read edges, all or one concept's.

    Parameters
    ----------
    as_of : datetime, optional
        Only edges that were true then; by default whatever their time of validity.
    known_at : datetime, optional
        As they were known then; by default now.
    of : str or int, optional
        A name of the concept whose edges are wanted, or its id; an unknown name is refused.
    relation : str, optional
        Only edges of this relation.
    """
    concept = concept_rows.find(connection, normalise(of), of).id if isinstance(of, str) else of
    rows = edge_rows.visible(
        connection, as_of=as_of, known_at=known_at, concept_id=concept, relation=relation, limit=limit
    )
    return [edge_of(row) for row in rows]


def edge_of(row: Sequence[Any]) -> Edge:
    """An edge of a row with its names, times and evidence."""
    return Edge(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], tuple(row[8]))
