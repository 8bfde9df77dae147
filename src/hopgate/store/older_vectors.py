"""Which older memories of the same scope are nearest by vector, for many memories at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.store import vectors

if TYPE_CHECKING:
    from psycopg import Connection

# What is sent of a halfvec: two numbers of two bytes, the first of them how many halves follow.
_HEAD = 2
# Rows of a page: some megabytes of vectors.
PAGE = 10_000


@dataclass(frozen=True, slots=True)
class OlderVectors:
    """Memories in the order in which they became known, each with its scope's number and a unit vector.

    Four bytes a dimension, and twice that while they are read: 300 MB for 200,000 memories of the bundled model. The
    server would compare as exactly, one memory with all others at a time, and takes twenty times as long.

    Examples
    --------
    >>> unit = np.array([[1, 0], [0, 1], [0.8, 0.6], [0.6, 0.8]], np.float32)
    >>> known = OlderVectors(np.array([7, 3, 9, 8]), np.array([0, 0, 1, 0]), unit)
    >>> known.nearest([8, 9, 5], limit=5)
    [(8, 3), (8, 7)]
    """

    ids: NDArray[np.int64]
    scopes: NDArray[np.int64]
    rows: NDArray[np.float32]

    def nearest(self, memory_ids: Sequence[int], *, limit: int) -> list[tuple[int, int]]:
        """Pairs of a memory and an older one of its scope, the nearest first; none for a memory without a vector."""
        at = np.flatnonzero(np.isin(self.ids, memory_ids))
        pairs: list[tuple[int, int]] = []
        cosines = self.rows[at] @ self.rows.T
        for place, row in zip(at.tolist(), cosines, strict=True):
            older = np.flatnonzero(self.scopes[:place] == self.scopes[place])
            # The first `limit` whatever their order, then these in order: where two are as near, the older one.
            if len(older) > limit:
                older = np.sort(older[np.argpartition(-row[older], limit - 1)[:limit]])
            best = older[np.argsort(-row[older], kind="stable")]
            pairs += [(int(self.ids[place]), int(self.ids[other])) for other in best]
        return pairs


def read(connection: Connection[Any]) -> OlderVectors:
    """Read what is neither sensitive nor superseded; nothing from a store without vectors."""
    found = vectors.space(connection)
    if found is None:
        return OlderVectors(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.float32))
    ids: list[int] = []
    names: list[str | None] = []
    pages: list[NDArray[np.float32]] = []
    with connection.cursor("older_vectors") as cursor:
        cursor.itersize = PAGE
        cursor.execute(
            "SELECT id, scope, halfvec_send(embedding) FROM memories WHERE embedding IS NOT NULL "
            "AND NOT is_sensitive AND superseded_at IS NULL ORDER BY created_at, id"
        )
        while rows := cursor.fetchmany(PAGE):
            ids += [row[0] for row in rows]
            names += [row[1] for row in rows]
            halves = np.frombuffer(b"".join(row[2] for row in rows), ">f2").reshape(len(rows), -1)[:, _HEAD:]
            page = halves.astype(np.float32)
            pages.append(page / np.maximum(np.linalg.norm(page, axis=1, keepdims=True), 1e-12))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    scopes = np.array([numbers[name] for name in names], np.int64)
    rows_of_all = np.concatenate(pages) if pages else np.zeros((0, found.identity.dimension), np.float32)
    return OlderVectors(np.array(ids, np.int64), scopes, rows_of_all)
