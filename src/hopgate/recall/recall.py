"""A query's way, from top to bottom: the legs side by side, one pool, its real scores, fusion, bonus, prior, hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopgate.memory import Memory
from hopgate.recall.completion import Leg, pooled
from hopgate.recall.filters import Filters
from hopgate.recall.final_order import final_order
from hopgate.recall.fuse import ExactMatch, Fused, Importance, active, exact_matches
from hopgate.recall.hit import Hit, LegPart
from hopgate.recall.run_legs import Legs, RecallPipeline, run_legs
from hopgate.recall.run_stages import run_stages
from hopgate.recall.settings import Settings
from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection


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
        Whether every vector is compared and the whole graph solved; by default where a table is small or has no index.
    explain : bool
        Whether hits carry what each leg, the bonus and the prior did, and the graph's path.
    """
    legs = run_legs(pipeline, query, settings, filters, exact=exact)
    lists, unseen = pooled(legs.found, legs.scores, active(settings.fuser))
    pool = settings.fuser.fuse(lists, unseen=unseen)
    with pipeline.store.transaction() as connection:
        ranking, known, up = rank_pool(connection, query, pool, settings, legs, lists, scopes=filters.scopes)
    staged = run_stages(pipeline.store, pipeline.graph, query, legs.vector, ranking, known, settings, filters)
    hits = []
    for rank, fused in enumerate(staged.ranking[: settings.k], start=1):
        memory = staged.known[fused.id]
        hit = Hit(rank, memory.external_id, fused.score, memory, {}, fused.bonus, fused.prior, lifted=fused.id in up)
        if explain:
            walked = staged.trace if fused.id in staged.walk_scores else legs.trace if "graph" in fused.ranks else None
            parts = pipeline.graph.explain(walked, fused.id) if walked else ()
            hit = replace(
                hit,
                legs=_leg_parts(fused, lists),
                path=tuple(part.text for part in parts),
                path_parts=parts,
                mixture=walked.mixture.in_words() if walked else "",
                as_of=legs.trace.asked if legs.trace else "",
                unseen=fused.granted,
                in_graph=fused.id not in legs.outside,
                scale=fused.scale,
            )
        hits.append(staged.applied(fused.id, hit))
    return hits


def rank_pool(
    connection: Connection[Any],
    query: str,
    pool: Sequence[Fused[int]],
    settings: Settings,
    legs: Legs,
    lists: Mapping[str, Leg],
    *,
    scopes: Sequence[str] | None = None,
) -> tuple[list[Fused[int]], dict[int, Memory], AbstractSet[int]]:
    """Apply the exact-match bonus and the prior to the fused pool, and lift what a leg has first into the top k.

    Gives the first of the ranking, their memories, and which of them were lifted. A memory that was deleted since a leg
    found it is left out. An order that the user asked for instead of relevance is not lifted into.
    """
    weights = memories.weights(connection, [hit.id for hit in pool], scopes)
    pool = [hit for hit in pool if hit.id in weights]
    bonus = ExactMatch(settings.exact_match) if settings.exact_match else None
    ranking, up = final_order(
        pool,
        lists,
        settings.fuser,
        settings.k,
        importance={key: weight for key, (weight, _) in weights.items()},
        prior=Importance(settings.prior),
        bonus=bonus,
        matched=exact_matches(connection, query, [hit.id for hit in pool]) if bonus else frozenset(),
        base=[(hit.id, hit.score) for hit in legs.base],
        blind=legs.blind,
        sort_by=settings.sort_by,
        created_at={key: created_at for key, (_, created_at) in weights.items()},
    )
    # A walk after the cross-encoder may bring any of them up.
    ranking = ranking[: None if settings.pipeline.walks else max(settings.k, settings.pipeline.deepest)]
    if settings.min_score is not None:
        ranking = [hit for hit in ranking if hit.score >= settings.min_score]
    known = memories.fetch_by_id(connection, [hit.id for hit in ranking], scopes)
    return [hit for hit in ranking if hit.id in known], known, up


def _leg_parts(hit: Fused[int], legs: Mapping[str, Leg]) -> dict[str, LegPart]:
    return {name: LegPart(rank, legs[name][rank - 1][1], hit.contributions[name]) for name, rank in hit.ranks.items()}
