"""What a query's walk lit: the memories and concepts with most mass, and the lines between them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.graph.walk.walk_graph import WalkGraph
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.legs.graph import Walked


@dataclass(frozen=True, slots=True)
class Node:
    """A memory or a concept, and the share of walks that are there."""

    mass: float
    is_memory: bool
    is_seed: bool


@dataclass(frozen=True)
class Lit:
    """The lit part of the graph; memories are named by their external id, concepts by their name."""

    query: str
    nodes: dict[str, Node]
    lines: tuple[tuple[str, str], ...]
    graph: WalkGraph
    start: NDArray[np.float64]


def walk_of(
    kb: KnowledgeBase, query: str, *, memories: int = 8, concepts: int = 12, as_of: datetime | None = None
) -> Lit:
    """Walk from a query and keep the memories and concepts with most mass."""
    from hopgate.graph.walk.pagerank import pagerank

    walked = _walked(kb, query, as_of)
    graph, start = walked.matrix.graph, walked.start
    mass = pagerank(graph, start.vector, damping=walked.walk.damping)
    split = graph.memories
    top = [*_best(mass[:split], memories), *(split + _best(mass[split:], concepts))]
    label = _labels(kb, walked, [int(at) for at in top])
    seeds = {seed.node for seed in start.seeds if seed.reason != "memory"}
    nodes = {name: Node(float(mass[at]), at < split, at in seeds) for at, name in label.items()}
    lines = {
        tuple(sorted((label[at], label[int(other)])))
        for at in label
        for other in graph.indices[graph.indptr[at] : graph.indptr[at + 1]]
        if int(other) in label and label[int(other)] != label[at]
    }
    joined = {name for line in lines for name in line}
    # What the dense leg lit and no concept leads to is no part of the walk.
    nodes = {name: node for name, node in nodes.items() if name in joined}
    return Lit(query, nodes, tuple(sorted((one, two) for one, two in lines)), graph, start.vector)


def _labels(kb: KnowledgeBase, walked: Walked, top: list[int]) -> dict[int, str]:
    """Each node's external id or name."""
    from hopgate.store import memories
    from hopgate.store.graph import concept_rows

    split = walked.matrix.graph.memories
    of_memory = {at: int(walked.matrix.memory_ids[at]) for at in top if at < split}
    of_concept = {at: int(walked.matrix.concept_ids[at - split]) for at in top if at >= split}
    with kb.store.transaction() as connection:
        ids = memories.external_ids(connection, list(of_memory.values()))
        names = concept_rows.names(connection, list(of_concept.values()))
    return {at: ids[key] for at, key in of_memory.items()} | {at: names[key] for at, key in of_concept.items()}


def _best(scores: NDArray[np.floating], top: int) -> NDArray[np.int64]:
    from hopgate.graph.walk.top_k import top_k

    return top_k(scores, top)


def _walked(kb: KnowledgeBase, query: str, as_of: datetime | None) -> Walked:
    from hopgate.recall.filters import Filters
    from hopgate.recall.legs.dense import dense_leg
    from hopgate.store.fill import Embedding

    def _dense(connection: Any, vector: Any, filters: Filters, depth: int) -> list[tuple[int, float]]:
        return dense_leg(connection, vector, filters, depth=depth, exact=True)

    vector = Embedding(kb.store).query(query) if kb.embedder_name() else None
    _, walked = kb.graph.rank(query, vector, {}, Filters(as_of=as_of), 50, _dense)
    if walked is None or not walked.start:
        raise HopgateError(f"nothing in the graph answers to {query!r}: build it, or ask for something it names")
    return walked
