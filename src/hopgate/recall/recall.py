"""A query's way, from top to bottom: the legs side by side, one pool, its real scores, fusion, bonus, prior, hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from hopgate.memory import Memory, cleared
from hopgate.recall.completion import Leg, complete, pool_of, unseen_by
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import ExactMatch, Fused, Importance, active, exact_matches, lifted, order
from hopgate.recall.fuse.lift import BASE_PLACE
from hopgate.recall.hit import Hit, LegPart
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.legs.graph import GraphLeg, WalkTrace
from hopgate.recall.legs.lexical import lexical_leg
from hopgate.recall.settings import BASE_FUSER, Settings
from hopgate.store import memories, vectors
from hopgate.store.graph import link_rows, version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.store.store import Store

BASE_LEGS = frozenset({"lexical", "dense"})
# A cross-encoder reads this many of the fused top (spec §5: 20–30).
RERANKED = 30


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
        Runs the lexical leg while the query is embedded.
    """

    store: Store
    embedder: QueryEmbedder
    graph: GraphLeg
    workers: Executor


@dataclass(frozen=True, slots=True)
class Legs:
    """What the legs gave for a query, before fusion.

    Parameters
    ----------
    found : mapping of leg name to list
        What each leg that has a weight found, and what further graph legs did.
    lists : mapping of leg name to list
        The legs that have a weight, completed: with their real scores of all of the pool that they could see.
    unseen : mapping of leg name to ids
        What of the pool each of them could not see.
    base : list of Fused
        The fused lexical and dense legs, where there is a graph leg.
    trace : WalkTrace, optional
        The graph leg's walk, for an explanation.
    """

    found: dict[str, Leg]
    lists: dict[str, Leg]
    unseen: Mapping[str, AbstractSet[int]]
    base: list[Fused[int]]
    trace: WalkTrace | None = None


def recall(
    pipeline: RecallPipeline,
    query: str,
    settings: Settings,
    filters: Filters,
    *,
    exact: bool | None = None,
    explain: bool = False,
) -> list[Hit]:
    """Answer a query with the best `settings.k` memories.

    Parameters
    ----------
    exact : bool, optional
        Whether the dense leg compares every vector; by default when the table is small or has no index.
    explain : bool
        Whether hits carry what each leg, the bonus and the prior did, and the graph's path.
    """
    legs = run_legs(pipeline, query, settings, filters, exact=exact)
    pool = settings.fuser.fuse(legs.lists, unseen=legs.unseen)
    with pipeline.store.transaction() as connection:
        ranking, known, up = rank_pool(connection, query, pool, settings, legs)
    ranking, rerank_scores = rerank(query, ranking, known, settings)
    hits = []
    for rank, fused in enumerate(ranking[: settings.k], start=1):
        hit = Hit(
            rank, known[fused.id].external_id, fused.score, known[fused.id], {}, fused.bonus, fused.prior,
            rerank_scores.get(fused.id), lifted=fused.id in up,
        )  # fmt: skip
        if explain:
            walked = legs.trace is not None and "graph" in fused.ranks
            hit = replace(
                hit,
                legs=_leg_parts(fused, legs.lists),
                path=pipeline.graph.explain(legs.trace, fused.id) if walked and legs.trace else (),
                unseen=fused.granted,
                scale=fused.scale,
            )
        hits.append(hit)
    return hits


def run_legs(
    pipeline: RecallPipeline,
    query: str,
    settings: Settings,
    filters: Filters,
    *,
    exact: bool | None = None,
    further: Mapping[str, GraphLeg] | None = None,
) -> Legs:
    """Run the legs that have a weight: lexical and dense at once, then the graph, which may seed on what they found.

    Parameters
    ----------
    further : mapping of name to GraphLeg
        Further graph legs to run on the same base hits, for an evaluation: other walks, controls.
    """
    wanted, depth = set(active(settings.fuser)), settings.depth
    with pipeline.store.transaction() as connection:
        if "graph" in wanted and version.current(connection) == 0:
            # There never was a graph: nothing to walk, and nothing to embed the query for.
            wanted.discard("graph")
        walks = bool(further) or "graph" in wanted
        # A walk starts from the base: where both of its legs are off, it is found for the walk's sake.
        run = wanted & BASE_LEGS or (BASE_LEGS if walks else frozenset())
        space = vectors.space(connection) if walks or "dense" in run else None
        found: dict[str, Leg] = {}
        if "lexical" in run and (space is None or "dense" not in run):
            found["lexical"] = lexical_leg(connection, query, filters, depth=depth, ranker=settings.lexical_ranker)
    vector: NDArray[np.float32] | None = None
    if space is not None:
        # The lexical leg works in the database while this process embeds the query and the dense leg follows. No
        # connection is held while the other leg is waited for, or many queries at once could wait for each other.
        lexical = (
            pipeline.workers.submit(_run_lexical, pipeline.store, query, filters, settings)
            if run >= BASE_LEGS
            else None
        )
        try:
            vector = pipeline.embedder.query(query, space)
            if "dense" in run:
                every = vectors.search_exactly(space, exact)
                with pipeline.store.transaction() as connection:
                    found["dense"] = dense_leg(connection, vector, filters, depth=depth, exact=every)
        finally:
            if lexical is not None:
                found["lexical"] = lexical.result()
    found = {name: found[name] for name in ("lexical", "dense") if name in found}
    with pipeline.store.transaction() as connection:
        whole = complete(
            connection, query, vector, found, pool_of(found), filters=filters, ranker=settings.lexical_ranker
        )
    base = BASE_FUSER.fuse(whole, unseen=unseen_by(whole, pool_of(found))) if walks else []
    trace = None
    graphs: dict[str, Leg] = {}
    if "graph" in wanted:
        hits, trace = pipeline.graph.rank(query, vector, found, filters, depth, exact=exact)
        if hits:
            graphs["graph"] = hits
    lists = {**{name: leg for name, leg in found.items() if name in wanted}, **graphs}
    pool = pool_of(lists)
    if graphs or pool < pool_of(found):
        with pipeline.store.transaction() as connection:
            weighted = {name: leg for name, leg in lists.items() if name in whole}
            whole = complete(
                connection, query, vector, weighted, pool, whole, filters=filters, ranker=settings.lexical_ranker
            )
            if graphs:
                # What is linked and not among the walk's first has next to nothing of it. What is not linked, the walk
                # could not see, though it may hand it back as a place where it started.
                others_pool = pool_of({name: leg for name, leg in lists.items() if name != "graph"})
                blind = link_rows.unlinked(connection, sorted(others_pool))
                far = pool - blind - {key for key, _ in graphs["graph"]}
                whole["graph"] = [pair for pair in graphs["graph"] if pair[0] not in blind]
                whole["graph"] += [(key, 0.0) for key in sorted(far)]
    whole = {name: [pair for pair in leg if pair[0] in pool] for name, leg in whole.items()}
    others = {
        name: leg.rank(query, vector, found, filters, depth, exact=exact).hits for name, leg in (further or {}).items()
    }
    return Legs({**lists, **others}, whole, unseen_by(whole, pool), base, trace)


def rank_pool(
    connection: Connection[Any], query: str, pool: Sequence[Fused[int]], settings: Settings, legs: Legs
) -> tuple[list[Fused[int]], dict[int, Memory], AbstractSet[int]]:
    """Apply the exact-match bonus and the prior to the fused pool, and lift what a leg has first into the top k.

    Gives the first of the ranking, their memories, and which of them were lifted. A memory that was deleted since a leg
    found it is left out. An order that the user asked for instead of relevance is not lifted into.
    """
    weights = memories.weights(connection, [hit.id for hit in pool])
    pool = [hit for hit in pool if hit.id in weights]
    if settings.exact_match:
        matched = exact_matches(connection, query, [hit.id for hit in pool])
        pool = ExactMatch(settings.exact_match).apply(pool, matched, settings.fuser)
    importance = {key: weight for key, (weight, _) in weights.items()}
    ranking = order(
        pool,
        sort_by=settings.sort_by,
        importance=importance,
        created_at={key: created_at for key, (_, created_at) in weights.items()},
        prior=Importance(settings.prior),
    )
    up: AbstractSet[int] = frozenset()
    if settings.sort_by == "relevance" and len(legs.lists) > 1:
        # One leg alone is hidden by no other: there the prior decides, as it is meant to.
        places = {hit.id: place for place, hit in enumerate(ranking)}
        firsts = [first for leg in legs.lists.values() if (first := _first(leg, places)) is not None]
        near = _near(legs, importance, places, settings) if "graph" in legs.lists else []
        ranking, up = lifted(ranking, firsts, settings.k, near=near)
    ranking = ranking[: max(settings.k, RERANKED) if settings.rerank else settings.k]
    if settings.min_score is not None:
        ranking = [hit for hit in ranking if hit.score >= settings.min_score]
    known = memories.fetch_by_id(connection, [hit.id for hit in ranking])
    return [hit for hit in ranking if hit.id in known], known, up


def rerank(
    query: str, ranking: list[Fused[int]], known: Mapping[int, Memory], settings: Settings
) -> tuple[list[Fused[int]], dict[int, float]]:
    """Let the cross-encoder reorder the first of the ranking, where the settings ask for it; give its scores too.

    Sensitive memories are not read and keep their places.
    """
    if not settings.rerank:
        return ranking, {}
    from hopgate.recall.rerank import load_reranker

    top, rest = {hit.id: hit for hit in ranking[:RERANKED]}, ranking[RERANKED:]
    texts = dict(cleared((key, known[key]) for key in top))
    candidates = [(key, texts.get(key)) for key in top]
    reordered = load_reranker(settings.rerank_model).rerank(query, candidates, timeout_s=settings.rerank_timeout)
    scores = {key: score for key, score in reordered if score is not None}
    return [top[key] for key, _ in reordered] + rest, scores


def _run_lexical(store: Store, query: str, filters: Filters, settings: Settings) -> Leg:
    with store.transaction() as connection:
        return lexical_leg(connection, query, filters, depth=settings.depth, ranker=settings.lexical_ranker)


def _leg_parts(hit: Fused[int], legs: Mapping[str, Leg]) -> dict[str, LegPart]:
    return {name: LegPart(rank, legs[name][rank - 1][1], hit.contributions[name]) for name, rank in hit.ranks.items()}


def _near(legs: Legs, importance: Mapping[int, float], places: Mapping[int, int], settings: Settings) -> list[int]:
    """What stays within the first three though the graph has a say: the base's first, and what the graph is blind to.

    So a memory that is not linked, or sensitive, is not lost by the graph where the base has it among its first three.
    """
    base = order(
        (hit for hit in legs.base if hit.id in places), importance=importance, prior=Importance(settings.prior)
    )
    first = [hit.id for hit in base[:BASE_PLACE]]
    return first[:1] + [key for key in first[1:] if key in legs.unseen["graph"]]


def _first(leg: Leg, places: Mapping[int, int]) -> int | None:
    """The first of a leg's memories that still exists; of those that tie for it, the one that fusion ranks best."""
    there = [(key, score) for key, score in leg if key in places]
    tied = [key for key, score in there if score == there[0][1]]
    return min(tied, key=places.__getitem__, default=None)
