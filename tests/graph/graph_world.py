"""A graph written straight into the tables, for tests of what reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from hopgate.store.graph import version

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

    def visible(self, as_of: datetime | None, known_at: datetime | None) -> bool:
        if known_at is None:
            believed = self.retired_at is None
        else:
            believed = self.recorded_at <= known_at and (self.retired_at is None or known_at < self.retired_at)
        true = as_of is None or (
            (self.valid_from is None or self.valid_from <= as_of) and (self.valid_to is None or as_of < self.valid_to)
        )
        return believed and true


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


def clear(connection: Connection[Any]) -> None:
    # Not TRUNCATE: PostgreSQL shows its effect to snapshots that were taken before it.
    for table in ("concept_edges", "memory_concepts", "concepts", "memories"):
        connection.execute(f"DELETE FROM {table}")
    version.bump(connection)
