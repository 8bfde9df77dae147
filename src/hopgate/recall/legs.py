"""The legs of a query: lexical and dense side by side, the real scores of their pool, then the graph from its base.

Every memory of the pool gets each leg's real score, because "not among the first 50" is not "worst". What a leg could
not see (no vector, sensitive, not linked) it gives no score, which fusion knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from hopgate.graph.walk.config import Walk
from hopgate.recall.dense import dense_leg, dense_scores
from hopgate.recall.filters import Query
from hopgate.recall.fusers import Fuser
from hopgate.recall.fusion import Id, Pool, fused
from hopgate.recall.graph_leg import BASE_FUSER, GraphLeg, WalkTrace
from hopgate.recall.lexical import (
    DEFAULT_RANKER,
    Leg,
    LexicalRanker,
    QueryWords,
    lexical_leg,
    lexical_scores,
    query_words,
)
from hopgate.recall.settings import Settings
from hopgate.store import vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.store.store import Store


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
    query : Query
        With its vector, where a leg needed one.
    found : mapping of leg name to list
        What each leg found, best first; legs of weight 0 did not run, and further graph legs stand by their own names.
    scores : mapping of leg name to list
        The same legs completed: with their real scores of all that any leg found and they could see.
    base : list of (id, score)
        The fused lexical and dense leg, best first, where there is a graph leg: what walks started from.
    outside : set of int
        What of the base the graph does not have.
    trace : WalkTrace, optional
        The graph leg's walk, for an explanation.
    """

    query: Query
    found: dict[str, Leg]
    scores: dict[str, Leg]
    base: Leg
    outside: AbstractSet[int] = frozenset()
    trace: WalkTrace | None = None

    def pool(self, fuser: Fuser, names: Mapping[int, str] | None = None) -> Pool[int]:
        """Give what this fuser weighs: the lists of the legs it gives a weight, and their real scores.

        Where all else ties memories go by their names, if these are given, and else by their ids.
        """
        found = {leg: self.found[leg] for leg in fuser.active if leg in self.found}
        return Pool.of(found, self.scores, key=None if names is None else (lambda key: names.get(key, "")))


def run_legs(
    pipeline: RecallPipeline,
    query: Query,
    settings: Settings,
    *,
    further: Mapping[str, GraphLeg] | None = None,
) -> Legs:
    """Run the legs that have a weight: lexical and dense at once, then the graph, which starts from what they found.

    What the graph leg asks the store does not depend on the others, and is asked beside the dense leg. No connection is
    held while another leg is waited for, or many queries at once could wait for each other.

    Parameters
    ----------
    further : mapping of name to GraphLeg
        Further graph legs to run on the same base hits, for an evaluation: other walks, controls.
    """
    active = settings.fuser.active
    with pipeline.store.transaction() as connection:
        # Without a graph there is nothing to walk, and nothing to embed the query for.
        own = {"graph": pipeline.graph} if "graph" in active and version.current(connection) else {}
        space = vectors.space(connection) if "dense" in active else None
    graphs = {**own, **(further or {})}
    found: dict[str, Leg] = {}
    # The lexical leg works in the database while this process embeds the query.
    lexical = None
    if "lexical" in active:
        lexical = pipeline.workers.submit(_run_lexical, pipeline.store, query, settings)
    try:
        if space is not None:
            query = replace(query, vector=pipeline.embedder.query(query.text, space))
        looking = {name: pipeline.workers.submit(leg.look_up, query) for name, leg in graphs.items()}
        dense = _run_dense(pipeline.store, query, settings.depth, space)
    finally:
        if lexical is not None:
            words, found["lexical"] = lexical.result()
            query = replace(query, words=words)
    found |= dense
    completed = partial(complete, query=query, found=found, ranker=settings.lexical_ranker)
    scores = found
    if len(found) > 1:
        with pipeline.store.transaction() as connection:
            scores = completed(connection, pool=pool_of(found))
    if not graphs:
        return Legs(query, found, scores, [])
    base = fused(Pool.of(found, scores), BASE_FUSER).top()
    outside: AbstractSet[int] = frozenset()
    trace: WalkTrace | None = None
    walked: dict[str, Leg] = {}
    walked_scores: dict[str, Leg] = {}
    for name, leg in graphs.items():
        ranking = leg.rank(query, base, settings.depth, legs=scores, found=looking[name].result())
        if name == "graph":
            trace, outside = ranking.trace, ranking.blind
        if ranking.hits or name != "graph":
            known = {**ranking.scores, **dict(ranking.hits)}
            walked_scores[name] = sorted(known.items(), key=lambda hit: (-hit[1], hit[0]))
            walked[name] = ranking.hits
    with pipeline.store.transaction() as connection:
        scores = completed(connection, pool=pool_of({**found, **walked}), known=scores)
    return Legs(query, {**found, **walked}, {**scores, **walked_scores}, base, outside, trace)


def pool_of(lists: Mapping[str, Sequence[tuple[Id, float]]]) -> set[Id]:
    """Give the union of the legs' candidates.

    Examples
    --------
    >>> sorted(pool_of({"lexical": [(1, 0.5)], "dense": [(2, 0.9), (1, 0.1)]}))
    [1, 2]
    """
    return {key for leg in lists.values() for key, _ in leg}


def complete(
    connection: Connection[Any],
    query: Query,
    found: Mapping[str, Leg],
    pool: AbstractSet[int],
    known: Mapping[str, Leg] | None = None,
    *,
    ranker: LexicalRanker = DEFAULT_RANKER,
) -> dict[str, Leg]:
    """Give the lexical and the dense leg with their real scores of every memory of the pool that they can see.

    A leg that found nothing stays empty: it has nothing to say on this query.

    Parameters
    ----------
    found : mapping of leg name to list
        What the legs found; lists other than these two legs' are left out.
    known : mapping of leg name to list, optional
        The legs as they were completed for a smaller pool: only what is new is asked for.
    """
    scopes = query.filters.scopes
    result: dict[str, Leg] = {}
    for name in ("lexical", "dense"):
        leg = found.get(name)
        if not leg:
            continue
        before = (known or found)[name]
        missing = sorted(pool - {key for key, _ in before})
        scores: Mapping[int, float] = {}
        if missing and name == "lexical":
            words = query.words or query_words(connection, query.text, query.filters)
            scores = lexical_scores(connection, words, missing, scopes, ranker=ranker)
        elif missing and query.vector is not None:
            scores = dense_scores(connection, query.vector, missing, scopes)
        # What a leg did not list is not above what it did, though an index may have passed it over.
        last = leg[-1][1]
        further = [(key, min(scores[key], last)) for key in missing if key in scores]
        result[name] = sorted([*before, *further], key=lambda hit: -hit[1])
    return result


def _run_lexical(store: Store, query: Query, settings: Settings) -> tuple[QueryWords, Leg]:
    with store.transaction() as connection:
        words = query_words(connection, query.text, query.filters)
        ranker = settings.lexical_ranker
        return words, lexical_leg(connection, words, query.filters, depth=settings.depth, ranker=ranker)


def _run_dense(store: Store, query: Query, depth: int, space: vectors.EmbeddingSpace | None) -> dict[str, Leg]:
    if space is None or query.vector is None:
        return {}
    exact = query.exact if query.exact is not None else not space.indexed
    with store.transaction() as connection:
        leg = dense_leg(connection, query.vector, query.filters, depth=depth, exact=exact, passages=space.passages)
    return {"dense": leg}


def preload(pipeline: RecallPipeline, load: Callable[[vectors.EmbeddingSpace], object]) -> None:
    """Load the embedder's model in a thread while what walks is imported here, before a process's first query.

    A model's session is made outside Python's lock, and imports inside it: on two cores one costs nothing beside the
    other.
    """
    with pipeline.store.transaction() as connection:
        space = vectors.space(connection) if version.current(connection) else None
    if space is not None:
        pipeline.workers.submit(load, space)
        import hopgate.graph.walk.rank  # noqa: F401  the graph leg imports it when it first walks
