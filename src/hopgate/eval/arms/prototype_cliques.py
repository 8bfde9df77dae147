"""The earlier prototype's graph, made again as it was: cliques of the memories that share a concept, one step away.

Concepts that at least two and at most 2 % of the memories mention were kept; two memories were joined by how many of
them they share. From the base's first hits the heaviest neighbours were taken, one step away (spec §1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix

LEAST, LARGEST_SHARE = 2, 0.02
NEIGHBOURS = 25
# How many of the base's hits were expanded; the prototype's notes do not say, and the top ten is what it judged.
EXPANDED = 10


def clique_concepts(matrix: GraphMatrix) -> csr_array[np.int32]:
    """Which memory mentions which of the kept concepts: two rows' product is the weight between two memories."""
    graph = matrix.graph
    mentions = csr_array(graph.matrix[: graph.memories, graph.memories :])
    ones = csr_array((np.ones(mentions.nnz, np.int32), mentions.indices, mentions.indptr), shape=mentions.shape)
    frequency = np.bincount(mentions.indices, minlength=graph.concepts)
    kept = (frequency >= LEAST) & (frequency <= max(LEAST, LARGEST_SHARE * graph.memories))
    return csr_array(ones[:, np.flatnonzero(kept)])


def clique_hits(
    matrix: GraphMatrix, concepts: csr_array[np.int32], base: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Rank the neighbours of the base's first hits by the concepts that they share with them; ties by id.

    Each hit brings its heaviest neighbours, and a memory that several bring counts for all of them.
    """
    first = [at for at in matrix.memories([key for key, _ in base[:EXPANDED]]).tolist() if at >= 0]
    total = np.zeros(len(matrix.memory_ids))
    if first:
        for row, at in zip((concepts[first] @ concepts.T).toarray(), first, strict=True):
            row[at] = 0
            # The sort is stable, and nodes ascend with ids.
            heaviest = np.argsort(-row, kind="stable")[:NEIGHBOURS]
            total[heaviest] += row[heaviest]
    order = [int(at) for at in np.argsort(-total, kind="stable")[:NEIGHBOURS] if total[at] > 0]
    return [(int(matrix.memory_ids[at]), float(total[at])) for at in order]
