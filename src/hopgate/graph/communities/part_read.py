"""What clusters are made of: the concepts, mentions and edges of the whole store, or of some scopes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hopgate.graph.communities.concept_weights import concept_weights
from hopgate.graph.inspect.scope_listing import listed_concepts
from hopgate.graph.walk.scope_graph import scope_graph
from hopgate.store.graph import arrays, overview, scope_rows
from hopgate.store.graph.concept_rows import Concept

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, eq=False)
class GraphPart:
    """Concepts in an order that depends on what may be seen alone, and who mentions them.

    Parameters
    ----------
    concepts : list of Concept
        The nodes; a scope's own are named as its memories name them.
    memory, concept : array of int
        Mentions: a memory's id and a concept's place.
    weights : sparse array
        How much the concepts belong together.
    """

    concepts: list[Concept]
    memory: NDArray[np.int64]
    concept: NDArray[np.int64]
    weights: csr_array


def read_part(connection: Connection[Any], scopes: Sequence[str]) -> GraphPart:
    """Read what some scopes may see, or with none of them the whole store."""
    if not scopes:
        # What no memory mentions is in no cluster.
        named = [row for row in overview.concepts(connection) if row[4]]
        concepts = [Concept(row[0], row[1], tuple(row[2]), row[3], row[4]) for row in named]
        edges = arrays.edges(connection)
        links = arrays.mentions(connection)
        return _part(concepts, links.memory, links.concept, edges.source, edges.target, edges.weight)
    own = scope_graph(connection, scope_rows.memories_of_scopes(connection, scopes, None))
    rows = [edge.row for edge in own.edges]
    return _part(
        [concept for concept in listed_concepts(own) if own.memory_counts[concept.id]],
        np.array([link.memory_id for link in own.links], np.int64),
        np.array([link.concept_id for link in own.links], np.int64),
        np.array([row.src_id for row in rows], np.int64),
        np.array([row.dst_id for row in rows], np.int64),
        np.array([row.weight for row in rows], np.float64),
    )


def _part(
    concepts: list[Concept],
    memory: NDArray[np.int64],
    mentioned: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.floating[Any]],
) -> GraphPart:
    """Number the concepts by their places; in the order of memories, so that equal rows give equal clusters."""
    place = {concept.id: at for at, concept in enumerate(concepts)}

    def places(ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([place.get(key, -1) for key in ids.tolist()], np.int64)

    concept, first, second = places(mentioned), places(source), places(target)
    order = np.lexsort((concept, memory))
    order = order[concept[order] >= 0]
    joined = (first >= 0) & (second >= 0)
    memory, concept = memory[order], concept[order]
    weights = concept_weights(len(concepts), memory, concept, first[joined], second[joined], weight[joined])
    return GraphPart(concepts, memory, concept, weights)
