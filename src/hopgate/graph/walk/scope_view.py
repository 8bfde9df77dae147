"""A scope's own matrix, and its part of a shuffled one: walks stay inside, and nothing of another scope moves them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.links import TITLE_WEIGHT
from hopgate.graph.walk.graph_rows import GraphRows
from hopgate.graph.walk.matrix import GraphMatrix, matrix_of
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.scope_graph import ScopeGraph, scope_graph
from hopgate.graph.walk.walk_graph import mention_graph
from hopgate.store.graph import arc_rows, arrays, scope_rows
from hopgate.store.graph.arc_rows import Arcs
from hopgate.store.graph.arrays import Edges, Mentions, Numbered, Stamp
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.link_rows import MENTIONS, TITLED

if TYPE_CHECKING:
    from psycopg import Connection


def load_scopes(connection: Connection[Any], scopes: Sequence[str], config: MatrixConfig) -> GraphMatrix:
    """Load what the memories of some scopes say, and nothing of others; the transaction should be a snapshot."""
    ids = scope_rows.memories_of_scopes(connection, scopes, config.known_at, superseded=config.superseded)
    own = scope_graph(connection, ids, as_of=config.as_of, known_at=config.known_at)
    memories = arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded, only=ids)
    return own_matrix(own, memories, arc_rows.arcs(connection, scopes), arrays.stamp(connection), config)


def own_matrix(own: ScopeGraph, memories: Numbered, arcs: Arcs, stamp: Stamp, config: MatrixConfig) -> GraphMatrix:
    """Make the matrix of some memories, with the concepts that they name and the edges that they support.

    Nothing in it depends on other memories, the order of its nodes included: equal rows give equal walks, bit for bit.

    Parameters
    ----------
    memories : Numbered
        The memories with their scopes.
    arcs : Arcs
        Between them, and maybe others.
    """
    # By their places here: ids are numbers of the whole store.
    place = {concept: at for at, concept in enumerate(own.concept_ids)}
    kinds = sorted({"", *own.kinds.values()})
    kind = np.array([kinds.index(own.kinds.get(concept, "")) for concept in own.concept_ids], np.int32)
    relations = sorted({edge.relation for edge in own.edges})
    number = {relation: at for at, relation in enumerate(relations)}
    rows = GraphRows(
        memories,
        Numbered(np.arange(len(place), dtype=np.int64), kind, tuple(kinds)),
        Mentions(
            np.array([link.memory_id for link in own.links], np.int64),
            np.array([place[link.concept_id] for link in own.links], np.int64),
            np.array([TITLE_WEIGHT if link.titled else 1.0 for link in own.links], np.float32),
            np.array([link.titled for link in own.links], np.int32),
            (MENTIONS, TITLED),
        ),
        Edges(
            np.arange(len(own.edges), dtype=np.int64),
            np.array([place[edge.row.src_id] for edge in own.edges], np.int64),
            np.array([place[edge.row.dst_id] for edge in own.edges], np.int64),
            np.array([edge.row.weight for edge in own.edges], np.float32),
            np.array([number[edge.relation] for edge in own.edges], np.int32),
            tuple(relations),
        ),
        arcs,
    )
    made = matrix_of(rows, stamp, config)
    edge_ids = np.array([edge.edge_id for edge in own.edges], np.int64)
    return replace(made, concept_ids=np.array(own.concept_ids, np.int64), edge_id=edge_ids[made.edge_id], own=own)


def within(matrix: GraphMatrix, memory_ids: Collection[int], edge_ids: Collection[int]) -> GraphMatrix:
    """Cut a shuffled matrix down to some memories, the concepts they mention, and what joins these.

    The edges of a shuffle are nobody's: those are kept whose real ones these memories support.

    Parameters
    ----------
    memory_ids : collection of int
        The memories; those that the matrix does not have are passed over.
    edge_ids : collection of int
        The edges that these memories are evidence of. A name inside a name is evidence enough for itself.
    """
    graph = matrix.graph
    places = matrix.memories(np.fromiter(memory_ids, np.int64, len(memory_ids)))
    memory_at = _numbered(np.unique(places[places >= 0]), graph.memories)
    ends = int(graph.indptr[graph.memories])
    memory = memory_at[np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))]
    target = graph.indices[:ends].astype(np.int64)
    mentions = (memory >= 0) & (target >= graph.memories)
    mentioned = target[mentions] - graph.memories
    concept_at = _numbered(np.unique(mentioned), graph.concepts)

    stated = np.isin(matrix.edge_id, np.fromiter(edge_ids, np.int64, len(edge_ids)))
    inside = np.array([relation == NAME_INSIDE for relation in matrix.relations] or [False])
    stated |= inside[matrix.edge_relation] if len(matrix.edge_id) else False
    source, goal = concept_at[matrix.edge_source], concept_at[matrix.edge_target]
    edges = stated & (source >= 0) & (goal >= 0)

    arcs, titles = _arcs(matrix, memory_at), _titles(matrix, memory_at, concept_at)
    return replace(
        matrix,
        graph=mention_graph(
            int((memory_at >= 0).sum()),
            int((concept_at >= 0).sum()),
            memory[mentions],
            concept_at[mentioned],
            graph.weights[:ends][mentions],
            source=source[edges],
            target=goal[edges],
            edge_weight=matrix.edge_weight[edges],
            first=arcs["arc_source"],
            second=arcs["arc_target"],
            arc_weight=arcs["arc_weight"],
        ),
        memory_ids=matrix.memory_ids[memory_at >= 0],
        concept_ids=matrix.concept_ids[concept_at >= 0],
        edge_source=source[edges].astype(np.int32),
        edge_target=goal[edges].astype(np.int32),
        edge_relation=matrix.edge_relation[edges],
        edge_weight=matrix.edge_weight[edges],
        edge_id=matrix.edge_id[edges],
        memory_scope=matrix.memory_scope[memory_at >= 0],
        **arcs,
        **titles,
    )


def _arcs(matrix: GraphMatrix, memory_at: NDArray[np.int64]) -> dict[str, Any]:
    """The arcs between memories that are kept, as fields of a matrix."""
    first, second = memory_at[matrix.arc_source], memory_at[matrix.arc_target]
    kept = (first >= 0) & (second >= 0)
    return {
        "arc_source": first[kept].astype(np.int32),
        "arc_target": second[kept].astype(np.int32),
        "arc_weight": matrix.arc_weight[kept],
        "arc_kind": matrix.arc_kind[kept],
    }


def _titles(matrix: GraphMatrix, memory_at: NDArray[np.int64], concept_at: NDArray[np.int64]) -> dict[str, Any]:
    """The links by titles that are kept, as fields of a matrix."""
    memory, concept = memory_at[matrix.title_memory], concept_at[matrix.title_concept]
    kept = (memory >= 0) & (concept >= 0)
    return {"title_memory": memory[kept].astype(np.int32), "title_concept": concept[kept].astype(np.int32)}


def _numbered(kept: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Number what is kept from 0, in its order; -1 for the rest."""
    number = np.full(size, -1, np.int64)
    number[kept] = np.arange(len(kept))
    return number
