"""The legs of a query: lexical and dense side by side, the graph from what they found, late interaction over them all.

Every memory of the pool gets each leg's real score, because "not among the first 50" is not "worst". What a leg could
not see (no vector, sensitive, not linked) it gives no score, which fusion knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopgate.recall.dense import dense_leg, dense_scores
from hopgate.recall.filters import Query
from hopgate.recall.fusers import Fuser
from hopgate.recall.fusion import Id, Pool, fused
from hopgate.recall.graph_leg import BASE_FUSER, NO_WALK, GraphLeg, GraphRanking, LookedUp
from hopgate.recall.late import LateReading, late_reading
from hopgate.recall.lexical import (
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
from hopgate.store.rows import Connection
from hopgate.store.vectors import tokens_of

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.recall.asked import EmbeddedAhead
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store
    from hopgate.store.vectors import MemoryTokens


@dataclass(frozen=True, slots=True)
class RecallPipeline:
    """What a query passes through. Each part is idle, and loads nothing, until a leg or a setting needs it."""

    store: Store
    embedder: Embedding | EmbeddedAhead  # gives the query its vector, for the dense and the graph leg, and its tokens
    graph: GraphLeg
    # Runs the lexical leg and reads the query's tokens while it is embedded, and looks up what the graph leg needs
    # while the dense leg runs.
    workers: Executor

    def set_as(self, settings: Settings) -> RecallPipeline:
        """The same, with the walk and the parts of the graph that settings say."""
        return replace(self, graph=self.graph.variant(settings.walk, settings.parts))


@dataclass(frozen=True, slots=True)
class Legs:
    """What the legs gave for a query, before fusion."""

    query: Query  # with its vector and its tokens, where a leg needed them
    found: dict[str, Leg]  # what each leg found, best first; legs of weight 0 did not run
    scores: dict[str, Leg]  # the same completed: with the scores of all that any leg found and they could see
    base: Leg  # the fused lexical and dense leg, best first, where there is a graph leg: what walks started from
    graph: GraphRanking = NO_WALK  # what the walk gave besides: what it could not see, and its trace
    late: LateReading | None = None  # what matched the query's words, where the store keeps tokens

    def pool(self, fuser: Fuser, names: Mapping[int, str] | None = None) -> Pool[int]:
        """Give what this fuser weighs: the lists of the legs it gives a weight, and their real scores.

        Where all else ties memories go by their names, if these are given, and else by their ids.
        """
        found = {leg: self.found[leg] for leg in fuser.active if leg in self.found}
        return Pool.of(found, self.scores, key=None if names is None else (lambda key: names.get(key, "")))

    def similarities(self) -> dict[int, float]:
        """Give how near candidates are to the query: by its words' tokens, in a store without tokens by vectors."""
        if self.late is not None:
            return self.late.similarities()
        return {key: round(score, 4) for key, score in self.scores.get("dense", ())}


def run_legs(pipeline: RecallPipeline, query: Query, settings: Settings) -> Legs:
    """Run the legs that have a weight: lexical and dense at once, the graph from what they found, late over them all.

    No connection is held while another leg is waited for, or many queries at once could wait for each other.
    """
    active, store = settings.fuser.active, pipeline.store
    with store.transaction() as connection:
        # Without a graph there is nothing to walk, and nothing to embed the query for.
        graph = pipeline.graph if "graph" in active and settings.parts and version.current(connection) else None
        space = vectors.space(connection) if {"dense", "late"}.intersection(active) else None
    reading = None
    if "late" in active and space is not None and space.late is not None:
        reading = pipeline.workers.submit(pipeline.embedder.query_tokens, query.text, space)
    query, found, looked_up = _searched(pipeline, query, settings, space, graph)
    scores, base, walked = dict(found), list[tuple[int, float]](), NO_WALK
    if graph and looked_up:
        if len(found) > 1:
            with store.transaction() as connection:
                scores = complete(connection, query, found, found, settings.lexical_ranker)
        base = fused(Pool.of(found, scores), BASE_FUSER).top()
        walked = graph.rank(query, looked_up, base, settings.depth, dense=scores.get("dense", ()))
    legs = Legs(replace(query, tokens=reading.result() if reading else None), found, scores, base)
    return with_walk(store, legs, walked, looked_up and looked_up.matrix, settings, {})


def with_walk(
    store: Store,
    legs: Legs,
    walked: GraphRanking,
    matrix: GraphMatrix | None,
    settings: Settings,
    tokens: dict[int, MemoryTokens],
) -> Legs:
    """Add to the legs without a graph what a walk found: late interaction over all of it and over arcs, and all scores.

    `tokens` are memories' tokens that were read before; what is read here is added.
    """
    found, scores, late = {leg: hits for leg, hits in legs.found.items() if leg != "late"}, dict(legs.scores), None
    if walked.hits:
        found["graph"] = walked.hits
        known = {**walked.scores, **dict(walked.hits)}
        scores["graph"] = sorted(known.items(), key=lambda hit: (-hit[1], hit[0]))
    with store.transaction() as connection:
        if legs.query.tokens is not None:
            wanted = pool_of(found) | walked.beside
            tokens |= tokens_of(connection, sorted(wanted - tokens.keys()))
            late = late_reading(legs.query, {key: tokens[key] for key in wanted & tokens.keys()}, matrix)
        if late is not None:
            scores["late"] = late.scored()
            found["late"] = scores["late"][: settings.depth]
        if len(found) > 1:
            scores |= complete(connection, legs.query, found, scores, settings.lexical_ranker)
    return replace(legs, found=found, scores=scores, graph=walked, late=late)


def _searched(
    pipeline: RecallPipeline,
    query: Query,
    settings: Settings,
    space: vectors.EmbeddingSpace | None,
    graph: GraphLeg | None,
) -> tuple[Query, dict[str, Leg], LookedUp | None]:
    """Run the lexical and the dense leg, and look up beside them what the graph leg asks the store.

    The lexical leg works in the database while this process embeds the query.
    """
    active, workers, found = settings.fuser.active, pipeline.workers, dict[str, Leg]()
    lexical = workers.submit(_run_lexical, pipeline.store, query, settings) if "lexical" in active else None
    try:
        embedded = "dense" in active and space is not None
        if embedded and space is not None:
            query = replace(query, vector=pipeline.embedder.query(query.text, space))
        looking = workers.submit(graph.look_up, query) if graph else None
        dense = _run_dense(pipeline.store, query, settings.depth, space) if embedded else {}
    finally:
        if lexical is not None:
            words, found["lexical"] = lexical.result()
            query = replace(query, words=words)
    return query, found | dense, looking.result() if looking else None


def pool_of(lists: Mapping[str, Sequence[tuple[Id, float]]]) -> set[Id]:
    """Give the union of the legs' candidates."""
    return {key for leg in lists.values() for key, _ in leg}


def complete(
    connection: Connection,
    query: Query,
    found: Mapping[str, Leg],
    known: Mapping[str, Leg],
    ranker: LexicalRanker,
) -> dict[str, Leg]:
    """Give the lexical and the dense leg with their scores of every memory that any leg found and they can see.

    A leg that found nothing stays empty: it has nothing to say on this query. What it did not list gets its real score,
    but no more than the last of the list.

    `known` has these two as they were found, or completed for fewer memories: only what is new is asked for.
    """
    scopes, pool = query.filters.scopes, pool_of(found)
    result: dict[str, Leg] = {}
    for name in ("lexical", "dense"):
        if not found.get(name):
            continue
        missing = sorted(pool - {key for key, _ in known[name]})
        scores: Mapping[int, float] = {}
        if missing and name == "lexical" and query.words is not None:
            scores = lexical_scores(connection, query.words, missing, scopes, ranker=ranker)
        elif missing and query.vector is not None:
            scores = dense_scores(connection, query.vector, missing, scopes)
        # What a leg did not list is not above what it did, though an index may have passed it over.
        last = found[name][-1][1]
        further = [(key, min(scores[key], last)) for key in missing if key in scores]
        result[name] = sorted([*known[name], *further], key=lambda hit: -hit[1])
    return result


def _run_lexical(store: Store, query: Query, settings: Settings) -> tuple[QueryWords, Leg]:
    with store.transaction() as connection:
        words = query_words(connection, query.text, query.filters)
        ranker, least = settings.lexical_ranker, settings.min_rank
        leg = lexical_leg(connection, words, query.filters, depth=settings.depth, ranker=ranker, min_rank=least)
        return words, leg


def _run_dense(store: Store, query: Query, depth: int, space: vectors.EmbeddingSpace | None) -> dict[str, Leg]:
    if space is None or query.vector is None:
        return {}
    exact = query.exact if query.exact is not None else not space.indexed
    with store.transaction() as connection:
        leg = dense_leg(connection, query.vector, query.filters, depth=depth, exact=exact, passages=space.passages)
    return {"dense": leg}


def preload(pipeline: RecallPipeline) -> None:
    """Load the embedder's model in a thread while what walks is imported here, before a process's first query.

    A model's session is made outside Python's lock, and imports inside it: on two cores one costs nothing beside the
    other.
    """
    with pipeline.store.transaction() as connection:
        space = vectors.space(connection) if version.current(connection) else None
    if space is not None:
        pipeline.workers.submit(pipeline.embedder.load, space)
        import hopgate.graph.walk.rank  # noqa: F401  the graph leg imports it when it first walks
