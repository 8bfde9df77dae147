"""A query's way, from top to bottom: the legs side by side, one pool, fusion, bonus, prior, stages, hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hopgate.memory import Memory
from hopgate.recall.filters import Query
from hopgate.recall.fusion import Ranking, fused
from hopgate.recall.hit import Hit, LegPart, Passage
from hopgate.recall.legs import Legs, RecallPipeline, pool_of, run_legs
from hopgate.recall.lexical import exact_matches
from hopgate.recall.order import ExactMatch, Placed, newest_first, placed, prior_of
from hopgate.recall.settings import Settings
from hopgate.recall.stages import Staged, run_stages
from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection


def recall(pipeline: RecallPipeline, query: Query, settings: Settings, *, explain: bool = False) -> list[Hit]:
    """Answer a query with the best `settings.k` memories.

    Parameters
    ----------
    explain : bool
        Whether hits carry what each leg, the bonus and the prior did, and the graph's path.
    """
    legs = run_legs(pipeline, query, settings)
    with pipeline.store.transaction() as connection:
        candidates = pool_of(legs.found).union(legs.late.memories if legs.late else ())
        names = memories.external_ids(connection, sorted(candidates))
        ranking = fused(legs.pool(settings.fuser, names), settings.fuser)
        final, known = _final(connection, legs.query, ranking, settings)
    staged = run_stages(pipeline, legs.query, list(final), known, settings)
    order = staged.order[: settings.k]
    if settings.sort_by == "recency":
        order = newest_first(order, [staged.known[key].created_at for key in order])
    return [
        Hit(
            rank,
            staged.known[key].external_id,
            final[key].score if key in final else 0.0,
            staged.known[key],
            bonus=final[key].bonus if key in final else 0.0,
            prior=final[key].prior if key in final else 1.0,
            **_staged(staged, key),
            **(_explained(pipeline, legs, ranking, staged, key) if explain else {}),
            matches=legs.late.matches(key, names) if explain and legs.late else (),
        )
        for rank, key in enumerate(order, start=1)
    ]


def _final(
    connection: Connection[Any], query: Query, ranking: Ranking[int], settings: Settings
) -> tuple[dict[int, Placed[int]], dict[int, Memory]]:
    """Apply bonus, prior and the least score; give the first of that order, and their memories.

    A memory that was deleted since a leg found it is left out.
    """
    scopes = query.filters.scopes
    importance = {key: row[0] for key, row in memories.weights(connection, ranking.ids, scopes).items()}
    bonus = ExactMatch(settings.exact_match) if settings.exact_match else None
    matched = exact_matches(connection, query.text, ranking.ids) if bonus else frozenset()
    hits = placed(ranking, importance, prior_of(settings.prior, settings.sort_by), bonus, matched)
    hits = [hit for hit in hits if hit.id in importance]
    # A walk after the cross-encoder may bring any of them up.
    hits = hits[: None if settings.pipeline.walks else max(settings.k, settings.pipeline.deepest)]
    if settings.min_score is not None:
        hits = [hit for hit in hits if hit.score >= settings.min_score]
    known = memories.fetch_by_id(connection, [hit.id for hit in hits], scopes)
    return {hit.id: hit for hit in hits if hit.id in known}, known


def _staged(staged: Staged, key: int) -> dict[str, Any]:
    """What the stages after fusion did for a memory, as a hit has it."""
    span, content = staged.passages.get(key), staged.known[key].content
    return {
        "rerank_score": staged.rerank_scores.get(key),
        "walk_score": staged.walk_scores.get(key),
        "rerank_cost": staged.cost,
        "passage": Passage(*span, content[slice(*span)]) if span else None,
    }


def _explained(
    pipeline: RecallPipeline, legs: Legs, ranking: Ranking[int], staged: Staged, key: int
) -> Mapping[str, Any]:
    """What each leg did for a memory and which could not see it; the last walk's path to it, or the graph leg's."""
    shares = ranking.shares(key) if key in ranking.pool.ids else {}
    graph = shares.get("graph")
    walked = staged.trace if key in staged.walk_scores else legs.trace if graph and graph.rank is not None else None
    parts = pipeline.graph.explain(walked, key) if walked else ()
    return {
        "legs": {leg: LegPart(*share[:3]) for leg, share in shares.items() if share.seen},
        "unseen": {leg: share.contribution for leg, share in shares.items() if not share.seen},
        "in_graph": key not in legs.outside,
        "path": tuple(part.text for part in parts),
        "path_parts": parts,
        "as_of": legs.trace.asked if legs.trace else "",
    }
