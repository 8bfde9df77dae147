"""Edges as values: true as of a time, known at a time, each with the memories that are its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.names import normalise
from hopgate.store.graph import concept_rows, edge_rows
from hopgate.store.graph.visible import View

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
    view: View,
    *,
    of: str | int | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[Edge]:
    """Read edges, all or one concept's.

    Parameters
    ----------
    of : str or int, optional
        A name of the concept whose edges are wanted, in whichever scopes have it, or its id; an unknown one is refused.
    relation : str, optional
        Only edges of this relation.
    """
    ids = None if of is None else named(connection, view, of)
    rows = edge_rows.visible(connection, view, concept_ids=ids, relation=relation, limit=limit)
    return [edge_of(row) for row in rows]


def named(connection: Connection[Any], view: View, name: str | int) -> list[int]:
    """The concepts of a name, or of an id; one that nobody in view has is refused."""
    if isinstance(name, int):
        return [concept_rows.get(connection, name, view).id]
    return concept_rows.find_all(connection, normalise(name), name, view)


def edge_of(row: Sequence[Any]) -> Edge:
    """An edge of a row with its names, times and evidence."""
    return Edge(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], tuple(row[8]))
