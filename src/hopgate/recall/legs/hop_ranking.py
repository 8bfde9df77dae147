"""The graph leg by hops in SQL instead of by a walk: the control that an evaluation compares it with."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from hopgate.graph.walk.hops import Hops, hop_memories
from hopgate.recall.filters import Filters
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.seeds import Restart


def rank_by_hops(
    connection: Connection[Any], matrix: GraphMatrix, start: Restart, filters: Filters, hops: Hops
) -> list[tuple[int, float]]:
    """Rank memories by hops from where a walk would start.

    Hops know concepts alone, so that a memory's share of the restart goes to the concepts it mentions.
    """
    split = matrix.graph.memories
    mass = start.vector[split:].copy()
    shared = matrix.graph.matrix[:split, split:]
    mass += np.asarray(shared.T @ (start.vector[:split] / np.maximum(shared.sum(axis=1), 1e-12)))
    seeds: dict[int, float] = defaultdict(float)
    for at in mass.nonzero()[0]:
        seeds[int(matrix.concept_ids[at])] += float(mass[at])
    condition, parameters = filters.sql()
    return hop_memories(
        connection,
        seeds,
        hops,
        View(as_of=filters.as_of, known_at=filters.known_at),
        namesakes=dict(zip(matrix.namesake_id.tolist(), matrix.namesake_of.tolist(), strict=True)),
        condition=condition,
        parameters=parameters,
    )
