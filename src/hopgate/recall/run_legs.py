"""The legs of a query: lexical and dense side by side, the real scores of their pool, then the graph from its base."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from hopgate.graph.walk.config import Walk
from hopgate.recall.completion import Leg, complete, fused_base, pool_of
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import Fused, active
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.legs.graph import GraphLeg, WalkTrace
from hopgate.recall.legs.lexical import lexical_leg
from hopgate.recall.legs.query_words import QueryWords, query_words
from hopgate.recall.settings import Settings
from hopgate.store import vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.recall.legs.graph_seeds import LookedUp
    from hopgate.store.store import Store

BASE_LEGS = frozenset({"lexical", "dense"})


class QueryEmbedder(Protocol):
    """Gives a query its vector."""

    def query(self, text: str, space: vectors.EmbeddingSpace | None = None) -> NDArray[np.float32]:
        """Embed a query for the store's embedding space."""
        ...


@dataclass(frozen=True, slots=True)
class RecallPipeline:
    """What a query passes through. Each part is idle, and loads nothing, until a leg or a setting needs it.

    Parameters
    ----------
    store : Store
        Where the lexical and the dense leg search.
    embedder : QueryEmbedder
        Embeds the query for the dense and the graph leg.
    graph : GraphLeg
        Walks the store's graph.
    workers : Executor
        Runs the lexical leg while the query is embedded, and what the graph leg looks up while the dense leg runs.
    """

    store: Store
    embedder: QueryEmbedder
    graph: GraphLeg
    workers: Executor

    def walking(self, walk: Walk | None) -> RecallPipeline:
        """The same, with the walk that a setting says."""
        return self if walk is None else replace(self, graph=self.graph.variant(walk=walk))


@dataclass(frozen=True, slots=True)
class Legs:
    """What the legs gave for a query, before fusion.

    Parameters
    ----------
    found : mapping of leg name to list
        What each leg found, best first: those that have a weight, and further graph legs.
    scores : mapping of leg name to list
        The same legs completed: with their real scores of all that any leg found and they could see.
    base : list of Fused
        The fused lexical and dense legs, where there is a graph leg.
    outside : set of int
        What of the base the graph does not have.
    blind : set of int
        That, and what of the base has no vector: a new memory of a thread has neighbours before it has one.
    trace : WalkTrace, optional
        The graph leg's walk, for an explanation.
    vector : array, optional
        The query's vector, where it was embedded.
    """

    found: dict[str, Leg]
    scores: dict[str, Leg]
    base: list[Fused[int]]
    outside: AbstractSet[int] = frozenset()
    blind: AbstractSet[int] = frozenset()
    trace: WalkTrace | None = None
    vector: NDArray[np.float32] | None = None


def run_legs(
    pipeline: RecallPipeline,
    query: str,
    settings: Settings,
    filters: Filters,
    *,
    exact: bool | None = None,
    further: Mapping[str, GraphLeg] | None = None,
) -> Legs:
    """Run the legs that have a weight: lexical and dense at once, then the graph, which starts from what they found.

    The graph leg needs both base legs: they run for it where they have no weight of their own. What it asks the store
    does not depend on them, and is asked beside the dense leg.

    Parameters
    ----------
    exact : bool, optional
        Whether every vector is compared, of memories and of facts, and the whole graph solved, as in an evaluation; by
        default when a table is small or has no index.
    further : mapping of name to GraphLeg
        Further graph legs to run on the same base hits, for an evaluation: other walks, controls.
    """
    wanted = set(active(settings.fuser))
    with pipeline.store.transaction() as connection:
        present = version.current(connection) if "graph" in wanted else 0
        if not present:
            # There never was a graph: nothing to walk, and nothing to embed the query for.
            wanted.discard("graph")
        graphs = {**({"graph": pipeline.graph} if "graph" in wanted else {}), **(further or {})}
        run = BASE_LEGS if graphs else wanted & BASE_LEGS
        space = vectors.space(connection) if "dense" in run else None
    found, vector, words, looking = _run_base(pipeline, query, settings, filters, run, space, graphs, exact=exact)
    completed = partial(complete, query=query, vector=vector, found=found, filters=filters,
                        ranker=settings.lexical_ranker, words=words)  # fmt: skip
    scores = found
    if len(found) > 1:
        with pipeline.store.transaction() as connection:
            scores = completed(connection, pool=pool_of(found))
    if not graphs:
        return Legs(found, scores, [], vector=vector)
    base = fused_base(scores)
    start = [(hit.id, hit.score) for hit in base]
    outside: AbstractSet[int] = frozenset()
    trace: WalkTrace | None = None
    walked: dict[str, Leg] = {}
    walked_scores: dict[str, Leg] = {}
    for name, leg in graphs.items():
        ranking = leg.rank(
            query, vector, start, filters, settings.depth, legs=scores, exact=exact, found=looking[name].result()
        )
        if name == "graph":
            trace, outside = ranking.trace, ranking.blind
        if ranking.hits or name != "graph":
            known = {**ranking.scores, **dict(ranking.hits)}
            walked_scores[name] = sorted(known.items(), key=lambda candidate: (-candidate[1], candidate[0]))
            walked[name] = ranking.hits
    shown = {name: leg for name, leg in found.items() if name in wanted}
    with pipeline.store.transaction() as connection:
        scores = completed(connection, pool=pool_of({**found, **walked}), known=scores)
    blind = outside | {hit.id for hit in base if hit.granted}
    return Legs({**shown, **walked}, {**scores, **walked_scores}, base, outside, blind, trace, vector)


def _run_base(
    pipeline: RecallPipeline,
    query: str,
    settings: Settings,
    filters: Filters,
    wanted: AbstractSet[str],
    space: vectors.EmbeddingSpace | None,
    graphs: Mapping[str, GraphLeg],
    *,
    exact: bool | None,
) -> tuple[dict[str, Leg], NDArray[np.float32] | None, QueryWords | None, dict[str, Future[LookedUp]]]:
    """Run the lexical and the dense leg, as far as they are wanted, and what the graph legs ask the store.

    Gives their lists, the query's vector and words, and what each graph leg looks up meanwhile. No connection is held
    while another leg is waited for, or many queries at once could wait for each other.
    """
    found: dict[str, Leg] = {}
    looking: dict[str, Future[LookedUp]] = {}
    words: QueryWords | None = None

    def look_up(vector: NDArray[np.float32] | None) -> None:
        for name, leg in graphs.items():
            looking[name] = pipeline.workers.submit(leg.look_up, query, vector, filters, exact=exact)

    if space is None:
        look_up(None)
        if "lexical" in wanted:
            words, found["lexical"] = _run_lexical(pipeline.store, query, filters, settings)
        return found, None, words, looking
    # The lexical leg works in the database while this process embeds the query.
    lexical = None
    if "lexical" in wanted:
        lexical = pipeline.workers.submit(_run_lexical, pipeline.store, query, filters, settings)
    try:
        vector = pipeline.embedder.query(query, space)
        look_up(vector)
        every = exact if exact is not None else not space.indexed
        with pipeline.store.transaction() as connection:
            dense = dense_leg(connection, vector, filters, depth=settings.depth, exact=every, passages=space.passages)
    finally:
        if lexical is not None:
            words, found["lexical"] = lexical.result()
    return {**found, "dense": dense}, vector, words, looking


def _run_lexical(store: Store, query: str, filters: Filters, settings: Settings) -> tuple[QueryWords, Leg]:
    with store.transaction() as connection:
        words = query_words(connection, query, filters)
        return words, lexical_leg(
            connection, query, filters, depth=settings.depth, ranker=settings.lexical_ranker, words=words
        )
