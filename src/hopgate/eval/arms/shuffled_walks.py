"""The graph leg on shuffled graphs: the walks of all queries at once, without asking the database again.

What a query names and resembles does not depend on how the graph is wired. Only a fact that is near the query joins
other concepts in a shuffled graph, and seeds those: what was extracted is shuffled, as a seed too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.data.queries import Query
from hopgate.graph.inspect.shuffle import shuffled
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.seeds import Restart
from hopgate.graph.walk.top_k import top_k
from hopgate.recall.legs.graph import GraphLeg, GraphRanking, WalkTrace
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

RECORDED = "recorded"
"""The name under which a recorder runs beside the other legs."""


class MovedFacts:
    """Where walks start in a shuffled graph: a fact's share goes to the concepts that it joins there.

    Parameters
    ----------
    real, control : GraphMatrix
        The graph, and a shuffle of it, whose edges stand in the same order.
    specificity : float
        A concept's weight is divided by its document frequency to this power, as in the real graph.
    """

    def __init__(self, real: GraphMatrix, control: GraphMatrix, specificity: float) -> None:
        self._real, self._control = real, control
        self._row = {int(edge): row for row, edge in enumerate(real.edge_id)}
        memories = real.graph.memories
        mentioned = real.graph.indices[: real.graph.indptr[memories]].astype(np.int64) - memories
        frequency = np.bincount(mentioned[mentioned >= 0], minlength=real.graph.concepts)
        self._specific = np.maximum(frequency, 1) ** -specificity

    def start(self, start: Restart) -> NDArray[np.float64]:
        """Give a query's restart vector in the shuffled graph, with the same mass for its facts."""
        facts = [seed for seed in start.seeds if seed.reason == "fact" and seed.origin in self._row]
        memories, vector = self._real.graph.memories, start.vector.copy()
        moved: dict[int, float] = {}
        for seed in facts:
            concept, row = seed.node - memories, self._row[seed.origin]
            ends = "edge_source" if concept == self._real.edge_source[row] else "edge_target"
            new = int(getattr(self._control, ends)[row])
            vector[seed.node] -= seed.weight
            moved[new] = moved.get(new, 0.0) + seed.weight * float(self._specific[new] / self._specific[concept])
        scale = sum(seed.weight for seed in facts) / (sum(moved.values()) or 1.0)
        vector = np.maximum(vector, 0.0)
        for concept, weight in moved.items():
            vector[memories + concept] += weight * scale
        return vector


class WalkRecorder:
    """Runs beside the real graph leg and keeps where each query's walk started.

    Parameters
    ----------
    leg : GraphLeg
        The real graph's.
    """

    def __init__(self, leg: GraphLeg) -> None:
        self._leg = leg
        self._traces: dict[str, tuple[Query, WalkTrace | None]] = {}
        self._known: tuple[dict[int, str], dict[str, str | None]] | None = None
        self.query: Query | None = None

    def rank(self, *arguments: Any, **options: Any) -> GraphRanking:
        """Rank as the real graph's leg does, and keep the walk under the query that was set."""
        found = self._leg.rank(*arguments, **options)
        if self.query is not None:
            self._traces[self.query.id] = (self.query, found.trace)
        return found

    def on_shuffle(self, seed: int, kb: KnowledgeBase, depth: int) -> dict[str, list[tuple[str, float]]]:
        """Give every recorded query's list on the graph shuffled with this seed."""
        names, scopes = self._memories(kb)
        run: dict[str, list[tuple[str, float]]] = {query: [] for query in self._traces}
        by_matrix: dict[int, list[tuple[Query, WalkTrace]]] = {}
        for query, trace in self._traces.values():
            if trace is not None and trace.start:
                by_matrix.setdefault(id(trace.matrix), []).append((query, trace))
        for walks in by_matrix.values():
            matrix, walk = walks[0][1].matrix, walks[0][1].walk
            control = shuffled(matrix, seed, kept_relations=frozenset({NAME_INSIDE}))
            graph, ends = control.graph, MovedFacts(matrix, control, walk.seeding.specificity)
            starts = np.stack([ends.start(trace.start) for _, trace in walks], axis=1)
            scores = pagerank(
                graph,
                starts,
                damping=walk.damping,
                tolerance=walk.tolerance,
                degree_correction=walk.degree_correction,
            )
            of_memory = [scopes.get(names[int(key)]) for key in matrix.memory_ids]
            allowed = {scope: _within(of_memory, scope) for scope in {query.scope for query, _ in walks}}
            for column, (query, _) in enumerate(walks):
                found = scores[: graph.memories, column]
                best = top_k(found, depth, allowed=allowed[query.scope])
                run[query.id] = [(names[int(matrix.memory_ids[at])], float(found[at])) for at in best]
        return run

    def _memories(self, kb: KnowledgeBase) -> tuple[dict[int, str], dict[str, str | None]]:
        """Every memory's external id and scope, asked once."""
        if self._known is None:
            self._known = kb.id_map(), {memory.external_id: memory.scope for memory in kb.export()}
        return self._known


def _within(of_memory: list[str | None], scope: str | None) -> NDArray[np.bool_] | None:
    """The memories that a query of this scope may be answered with; all where it has none."""
    return None if scope is None else np.array([one == scope for one in of_memory])
