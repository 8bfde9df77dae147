"""What concepts are called; a concept that is called otherwise has lost the vectors of its old name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import graph_vectors, name_rows

if TYPE_CHECKING:
    from psycopg import Connection


def rename(connection: Connection[Any], concept_ids: Sequence[int]) -> None:
    """Call concepts by their most used names."""
    graph_vectors.forget(connection, name_rows.rename(connection, concept_ids))
