"""A query's way, from top to bottom: the legs side by side, one pool, fusion, bonus, prior, re-ranking, hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hopgate.memory import Memory
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import RRF, ExactMatch, Fused, Importance, active, exact_matches, order
from hopgate.recall.hit import Hit, LegPart
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.legs.graph import GraphLeg, WalkTrace
from hopgate.recall.legs.lexical import lexical_leg
from hopgate.recall.one_statement import can_fuse, sql_fused
from hopgate.recall.run_stages import run_stages
from hopgate.recall.settings import Settings
from hopgate.store import memories, vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.store.store import Store

Leg = list[tuple[int, float]]


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


class Legs(NamedTuple):
    """The legs' lists before fusion, the graph leg's walk where it has to be explained, and the query's vector."""

    lists: dict[str, Leg]
    trace: WalkTrace | None = None
    vector: NDArray[np.float32] | None = None


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
    if settings.fast is not False and can_fuse(settings) and "graph" not in active(settings.fuser):
        hits = fuse_in_database(pipeline, query, settings, filters, exact=exact, explain=explain)
        if hits is not None:
            return hits
    legs = run_legs(pipeline, query, settings, filters, exact=exact)
    pool = settings.fuser.fuse(legs.lists)
    with pipeline.store.transaction() as connection:
        ranking, known = rank_pool(connection, query, pool, settings)
    staged = run_stages(pipeline.store, pipeline.graph, query, legs.vector, ranking, known, settings, filters)
    hits = []
    for rank, fused in enumerate(staged.ranking[: settings.k], start=1):
        parts = _leg_parts(fused, legs.lists) if explain else {}
        path: tuple[str, ...] = ()
        trace = staged.trace if fused.id in staged.walk_scores else legs.trace if "graph" in fused.ranks else None
        if explain and trace:
            path = pipeline.graph.explain(trace, fused.id)
        hits.append(staged.applied(fused.id, _hit(rank, fused, staged.known[fused.id], parts, path)))
    return hits


def fuse_in_database(
    pipeline: RecallPipeline, query: str, settings: Settings, filters: Filters, *, exact: bool | None, explain: bool
) -> list[Hit] | None:
    """Run the lexical and the dense leg and fuse them in one SQL statement; None where the other way is to be taken.

    The graph leg seeds on what the others found, so it has no place here. Left to choose (`settings.fast` is None),
    this way is taken in stores too small for an index. On 5,452 memories it took 1.15 to 1.20 × the slower leg in four
    runs of benchmarks/recall.py on a busy machine, two connections 1.04 to 1.30 ×: steadier, not clearly quicker. A
    store that is large enough for an index has legs worth running side by side.
    """
    fuser, space, vector = settings.fuser, None, None
    assert isinstance(fuser, RRF)  # what `can_fuse` asks for
    if "dense" in active(fuser):
        with pipeline.store.transaction() as connection:
            space = vectors.space(connection)
        if settings.fast is None and space and space.indexed:
            return None
        vector = pipeline.embedder.query(query, space) if space else None
    every = vectors.search_exactly(space, exact)
    with pipeline.store.transaction() as connection:
        rows = sql_fused(
            connection, fuser, query=query, filters=filters, vector=vector, exact=every,
            passages=bool(space and space.passages), depth=settings.depth, k=settings.k, floor=settings.prior,
        )  # fmt: skip
        known = memories.fetch_by_id(connection, [fused.id for fused, _ in rows])
    ranking = [fused for fused, _ in rows if fused.id in known]
    staged = run_stages(pipeline.store, pipeline.graph, query, vector, ranking, known, settings, filters)
    hits, scores = [], {fused.id: scores for fused, scores in rows}
    for rank, fused in enumerate(ranking, start=1):
        found = {n: LegPart(r, scores[fused.id][n], fused.contributions[n]) for n, r in fused.ranks.items()}
        hits.append(staged.applied(fused.id, _hit(rank, fused, known[fused.id], found if explain else {})))
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
    lists: dict[str, Leg] = {}
    vector: NDArray[np.float32] | None = None
    with pipeline.store.transaction() as connection:
        if "graph" in wanted and version.current(connection) == 0:
            # There never was a graph: nothing to walk, and nothing to embed the query for.
            wanted.discard("graph")
        space = vectors.space(connection) if further or wanted & {"dense", "graph"} else None
        if "lexical" in wanted and (space is None or "dense" not in wanted):
            lists["lexical"] = lexical_leg(connection, query, filters, depth=depth)
    if space is not None:
        # The lexical leg works in the database while this process embeds the query and the dense leg follows. No
        # connection is held while the other leg is waited for, or many queries at once could wait for each other.
        side_by_side = {"lexical", "dense"} <= wanted
        lexical = pipeline.workers.submit(_run_lexical, pipeline.store, query, filters, depth) if side_by_side else None
        try:
            vector = pipeline.embedder.query(query, space)
            if "dense" in wanted:
                every = vectors.search_exactly(space, exact)
                with pipeline.store.transaction() as connection:
                    lists["dense"] = dense_leg(
                        connection, vector, filters, depth=depth, exact=every, passages=space.passages
                    )
        finally:
            if lexical is not None:
                lists["lexical"] = lexical.result()
    base, trace = dict(lists), None
    if "graph" in wanted:
        ranking, trace = pipeline.graph.rank(query, vector, base, filters, depth, exact=exact)
        if ranking:
            lists["graph"] = ranking
    for name, leg in (further or {}).items():
        lists[name] = leg.rank(query, vector, base, filters, depth, exact=exact).hits
    return Legs(lists, trace, vector)


def rank_pool(
    connection: Connection[Any], query: str, pool: Sequence[Fused[int]], settings: Settings
) -> tuple[list[Fused[int]], dict[int, Memory]]:
    """Apply the exact-match bonus and the prior to the fused pool; give the first of it, and their memories.

    A memory that was deleted since a leg found it is left out.
    """
    weights = memories.weights(connection, [hit.id for hit in pool])
    pool = [hit for hit in pool if hit.id in weights]
    if settings.exact_match:
        matched = exact_matches(connection, query, [hit.id for hit in pool])
        pool = ExactMatch(settings.exact_match).apply(pool, matched, settings.fuser)
    ranking = order(
        pool,
        sort_by=settings.sort_by,
        importance={key: importance for key, (importance, _) in weights.items()},
        created_at={key: created_at for key, (_, created_at) in weights.items()},
        prior=Importance(settings.prior),
    )
    # A walk after the cross-encoder may bring any of them up.
    ranking = ranking[: None if settings.pipeline.walks else max(settings.k, settings.pipeline.deepest)]
    known = memories.fetch_by_id(connection, [hit.id for hit in ranking])
    return [hit for hit in ranking if hit.id in known], known


def _run_lexical(store: Store, query: str, filters: Filters, depth: int) -> Leg:
    with store.transaction() as connection:
        return lexical_leg(connection, query, filters, depth=depth)


def _leg_parts(hit: Fused[int], legs: Mapping[str, Leg]) -> dict[str, LegPart]:
    return {name: LegPart(rank, legs[name][rank - 1][1], hit.contributions[name]) for name, rank in hit.ranks.items()}


def _hit(rank: int, fused: Fused[int], memory: Memory, parts: Mapping[str, LegPart], path: tuple[str, ...] = ()) -> Hit:
    return Hit(rank, memory.external_id, fused.score, memory, parts, fused.bonus, fused.prior, path=path)
