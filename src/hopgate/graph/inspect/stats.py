"""What a graph is made of: nodes, edges, hubs, components, kinds, relations, and how much PageRank is degree here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import arrays, concept_rows, overview

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.inspect.degree import DegreeLikeness

SHOWN = 10


@dataclass(frozen=True)
class GraphStats:
    """The figures of a graph.

    Parameters
    ----------
    edges, name_links : int
        Edges that are not retired, and links between concepts by their names alone.
    retired : int
        Edges that later facts contradict.
    invalidation_rate : float
        The share of facts (source, relation, target) of which something was ever retired.
    raw_relations : int
        Relations in the words of the memories; `relations` counts the canonical ones.
    hubs : tuple of (str, int)
        The concepts that most memories talk about.
    components : int
        Connected parts of memories and concepts together; `largest_component` is the share of the largest.
    degree : DegreeLikeness, optional
        None where there are too few concepts to walk from.
    """

    version: int
    memories: int
    linked_memories: int
    concepts: int
    names: int
    mentions: int
    edges: int
    name_links: int
    retired: int
    invalidation_rate: float
    merges: int
    ambiguous: int
    raw_relations: int
    relations: int
    single_valued: int
    kinds: tuple[tuple[str, int], ...]
    top_relations: tuple[tuple[str, int], ...]
    hubs: tuple[tuple[str, int], ...]
    components: int
    largest_component: float
    degree: DegreeLikeness | None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        values = asdict(self)
        for name in ("kinds", "top_relations", "hubs"):
            values[name] = dict(values[name])
        return values


def stats(connection: Connection[Any], *, damping: float = 0.5) -> GraphStats:
    """Measure a graph; the transaction should be a snapshot."""
    counted = overview.counts(connection)
    components, largest = _components(connection)
    return GraphStats(
        **counted,
        kinds=_top(overview.kinds(connection)),
        top_relations=_top(overview.relations(connection)),
        hubs=tuple((concept.name, concept.memory_count) for concept in concept_rows.listed(connection, limit=SHOWN)),
        components=components,
        largest_component=largest,
        degree=_degree(connection, damping),
    )


def _top(rows: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0]))[:SHOWN])


def _components(connection: Connection[Any]) -> tuple[int, float]:
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mentions, edges = arrays.mentions(connection), arrays.edges(connection)
    known = arrays.concept_kinds(connection).id
    linked = np.unique(mentions.memory)
    nodes = len(known) + len(linked)
    if not nodes:
        return 0, 0.0
    first = np.concatenate([np.searchsorted(known, mentions.concept), np.searchsorted(known, edges.source)])
    second = np.concatenate(
        [len(known) + np.searchsorted(linked, mentions.memory), np.searchsorted(known, edges.target)]
    )
    joined = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(nodes, nodes))
    count, label = connected_components(joined.tocsr(), directed=False)
    return int(count), round(float(np.bincount(label).max()) / nodes, 4)


def _degree(connection: Connection[Any], damping: float) -> DegreeLikeness | None:
    from hopgate.errors import HopgateError
    from hopgate.graph.inspect.degree import degree_likeness
    from hopgate.graph.walk.matrix import load_matrix

    try:
        return degree_likeness(load_matrix(connection).graph, damping=damping)
    except HopgateError:  # fewer than two concepts with an edge or a mention
        return None
