"""A graph written straight into the tables, for tests of what reads it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return datetime(2025, 1, number, tzinfo=UTC)


@dataclass(frozen=True)
class Edge:
    source: int
    target: int
    relation: str = "knows"
    weight: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime = LONG_AGO
    retired_at: datetime | None = None


def visible(edge: Any, as_of: datetime | None = None, known_at: datetime | None = None) -> bool:
    """The rule in Python, for tests to compare with: what was true as of a time, as known at a time.

    Without `as_of` edges of all times are kept; without `known_at` what is known now.
    """
    if known_at is None:
        known = edge.retired_at is None
    else:
        known = edge.recorded_at <= known_at and (edge.retired_at is None or known_at < edge.retired_at)
    if as_of is None:
        return known
    begun = edge.valid_from is None or edge.valid_from <= as_of
    point = edge.valid_from is not None and edge.valid_from == edge.valid_to == as_of
    return known and (point or (begun and (edge.valid_to is None or as_of < edge.valid_to)))


def write_memories(connection: Connection[Any], ids: Iterable[int], created_at: datetime = LONG_AGO) -> None:
    with connection.cursor().copy("COPY memories (id, external_id, content, created_at) FROM STDIN") as copy:
        for number in ids:
            copy.write_row((number, f"m{number}", f"memory {number}", created_at))


def write_concepts(connection: Connection[Any], ids: Iterable[int], kind: str | None = None) -> None:
    with connection.cursor().copy("COPY concepts (id, canonical_name, kind) FROM STDIN") as copy:
        for number in ids:
            copy.write_row((number, f"concept {number}", kind))


def write_mentions(connection: Connection[Any], rows: Iterable[tuple[Any, ...]]) -> None:
    """Rows of memory, concept and, where they are not the usual ones, weight and relation."""
    with connection.cursor().copy("COPY memory_concepts (memory_id, concept_id, weight, relation) FROM STDIN") as copy:
        for memory, concept, *more in rows:
            copy.write_row((memory, concept, more[0] if more else 1, more[1] if len(more) > 1 else "mentions"))


def write_edges(connection: Connection[Any], edges: Iterable[Edge]) -> None:
    columns = "src_id, dst_id, relation, weight, valid_from, valid_to, recorded_at, retired_at, evidence_memory_ids"
    with connection.cursor().copy(f"COPY concept_edges ({columns}) FROM STDIN") as copy:
        for edge in edges:
            copy.write_row(
                (edge.source, edge.target, edge.relation, edge.weight, edge.valid_from, edge.valid_to,
                 edge.recorded_at, edge.retired_at, [])
            )  # fmt: skip
