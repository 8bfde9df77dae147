"""A query's way: legs side by side, one pool, fusion, prior, hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hopgate.memory import Memory, cleared
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import RRF, ExactMatch, Fused, Importance, active, is_exact, order, quoted
from hopgate.recall.hit import Hit, LegPart
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.legs.lexical import lexical_leg
from hopgate.recall.one_statement import can_fuse, sql_fused
from hopgate.recall.rare_words import rare_words
from hopgate.recall.settings import Settings
from hopgate.store import memories, vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.recall.rerank import Reranker
    from hopgate.store.store import Store

Leg: TypeAlias = list[tuple[int, float]]
# A cross-encoder reads this many of the fused top (spec §5: 20–30).
RERANKED = 30


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """The graph leg, and for explanations a memory's path."""

    leg: Leg = field(default_factory=list)
    path: Callable[[int], tuple[str, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Machinery:
    """What recall may need beside the store, each part made on first use: a leg that is off costs nothing."""

    embed: Callable[[str, vectors.EmbeddingSpace], NDArray[np.float32]]
    graph: Callable[[str, NDArray[np.float32] | None, Mapping[str, Leg], Filters, int], GraphAnswer]
    reranker: Callable[[], Reranker]
    executor: Callable[[], Executor]


def recall(
    store: Store,
    query: str,
    settings: Settings,
    filters: Filters,
    machinery: Machinery,
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
        Whether hits say what each leg, the bonus and the prior did, and the graph's path.
    """
    if settings.fast is not False and can_fuse(settings) and "graph" not in active(settings.fuser):
        answered = _in_one_statement(store, query, settings, filters, machinery, exact=exact, explain=explain)
        if answered is not None:
            return answered
    legs, graph = run_legs(store, query, settings, filters, machinery, exact=exact)
    hits = settings.fuser.fuse(legs)
    with store.transaction() as connection:
        ordered, known = _order(connection, query, hits, settings)
    scores: dict[int, float] = {}
    if settings.rerank:
        ordered, scores = _rerank(query, ordered, known, settings, machinery)
    return [
        Hit(
            rank,
            known[hit.id].external_id,
            hit.score,
            known[hit.id],
            _parts(hit, legs) if explain else {},
            hit.bonus,
            hit.prior,
            scores.get(hit.id),
            graph.path(hit.id) if explain and "graph" in hit.ranks else (),
        )
        for rank, hit in enumerate(ordered[: settings.k], start=1)
    ]


def _in_one_statement(
    store: Store,
    query: str,
    settings: Settings,
    filters: Filters,
    machinery: Machinery,
    *,
    exact: bool | None,
    explain: bool,
) -> list[Hit] | None:
    """The fast path: one connection, and fusion in the database. The graph leg seeds on the others', so it has none.

    Nothing where it is left to us and does not pay. On 5,452 memories it took 1.15 to 1.20 × the slower leg in four
    runs of benchmarks/recall.py on a busy machine, two connections 1.04 to 1.30 ×: steadier, not clearly quicker. A
    store that is large enough for an index has legs worth running side by side.
    """
    fuser = settings.fuser
    assert isinstance(fuser, RRF)
    space, vector = None, None
    if "dense" in active(fuser):
        with store.transaction() as connection:
            space = vectors.space(connection)
        if settings.fast is None and space and space.indexed:
            return None
        vector = machinery.embed(query, space) if space else None
    full = exact if exact is not None else not (space and space.indexed)
    with store.transaction() as connection:
        found = sql_fused(
            connection, fuser, query=query, filters=filters, vector=vector, exact=full, depth=settings.depth,
            k=settings.k, floor=settings.prior,
        )  # fmt: skip
        known = memories.fetch_by_id(connection, [hit.id for hit, _ in found])
    return [
        Hit(
            rank,
            known[hit.id].external_id,
            hit.score,
            known[hit.id],
            {n: LegPart(r, scores[n], hit.contributions[n]) for n, r in hit.ranks.items()} if explain else {},
            prior=hit.prior,
        )
        for rank, (hit, scores) in enumerate(((h, s) for h, s in found if h.id in known), start=1)
    ]


def run_legs(
    store: Store, query: str, settings: Settings, filters: Filters, machinery: Machinery, *, exact: bool | None = None
) -> tuple[dict[str, Leg], GraphAnswer]:
    """Run the legs that have a weight: lexical and dense at once, then the graph, which may seed on what they found."""
    wanted = set(active(settings.fuser))
    depth = settings.depth
    legs: dict[str, Leg] = {}
    vector: NDArray[np.float32] | None = None
    space: vectors.EmbeddingSpace | None = None
    with store.transaction() as connection:
        if "graph" in wanted and version.current(connection) == 0:
            # There never was a graph: nothing to walk, and nothing to embed the query for.
            wanted.discard("graph")
        if "dense" in wanted or "graph" in wanted:
            space = vectors.space(connection)
        if "lexical" in wanted and (space is None or "dense" not in wanted):
            legs["lexical"] = lexical_leg(connection, query, filters, depth=depth)
    if space is not None:
        # The lexical leg works in the database while this process embeds the query and the dense leg follows. No
        # connection is held while the other leg is waited for, or many queries at once could wait for each other.
        ahead = None
        if "lexical" in wanted and "dense" in wanted:
            ahead = machinery.executor().submit(_lexical, store, query, filters, depth)
        try:
            vector = machinery.embed(query, space)
            if "dense" in wanted:
                full = exact if exact is not None else not space.indexed
                with store.transaction() as connection:
                    legs["dense"] = dense_leg(connection, vector, filters, depth=depth, exact=full)
        finally:
            if ahead is not None:
                legs["lexical"] = ahead.result()
    graph = GraphAnswer()
    if "graph" in wanted:
        graph = machinery.graph(query, vector, legs, filters, depth)
        if graph.leg:
            legs["graph"] = graph.leg
    return legs, graph


def _lexical(store: Store, query: str, filters: Filters, depth: int) -> Leg:
    with store.transaction() as connection:
        return lexical_leg(connection, query, filters, depth=depth)


def _order(
    connection: Connection[Any], query: str, hits: Sequence[Fused[int]], settings: Settings
) -> tuple[list[Fused[int]], dict[int, Memory]]:
    """Apply the exact-match bonus and the prior; read whole memories only where the order needs them.

    A memory that was deleted since a leg found it is left out.
    """
    pool = list(hits)
    weights = memories.weights(connection, [hit.id for hit in pool])
    pool = [hit for hit in pool if hit.id in weights]
    if settings.exact_match:
        rare = rare_words(connection, query)
        every = memories.fetch_by_id(connection, [hit.id for hit in pool]) if rare or quoted(query) else {}
        matched = {key for key, memory in every.items() if is_exact(query, memory.content, rare)}
        pool = ExactMatch(settings.exact_match).apply(pool, matched, settings.fuser)
    ordered = order(
        pool,
        sort_by=settings.sort_by,
        importance={key: importance for key, (importance, _) in weights.items()},
        created_at={key: created_at for key, (_, created_at) in weights.items()},
        prior=Importance(settings.prior),
    )
    kept = ordered[: max(settings.k, RERANKED) if settings.rerank else settings.k]
    known = memories.fetch_by_id(connection, [hit.id for hit in kept])
    return [hit for hit in kept if hit.id in known], known


def _rerank(
    query: str, ordered: list[Fused[int]], known: dict[int, Memory], settings: Settings, machinery: Machinery
) -> tuple[list[Fused[int]], dict[int, float]]:
    """Let the cross-encoder reorder the fused top; sensitive memories keep their places, unread."""
    top, rest = ordered[:RERANKED], ordered[RERANKED:]
    texts = list(cleared((hit.id, known[hit.id]) for hit in top))
    scores = machinery.reranker().scores(query, texts, timeout_s=settings.rerank_timeout)
    if not scores:
        return ordered, {}
    read = sorted((hit for hit in top if hit.id in scores), key=lambda hit: (-scores[hit.id], hit.id))
    queue = iter(read)
    return [next(queue) if hit.id in scores else hit for hit in top] + rest, scores


def _parts(hit: Fused[int], legs: Mapping[str, Leg]) -> dict[str, LegPart]:
    return {name: LegPart(rank, legs[name][rank - 1][1], hit.contributions[name]) for name, rank in hit.ranks.items()}
