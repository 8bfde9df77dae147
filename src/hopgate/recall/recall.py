"""A query's way, from top to bottom: the legs side by side, one pool, fusion, bonus, prior, cross-encoder, hits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopgate.memory import Memory, cleared
from hopgate.passages import Extent
from hopgate.recall.dense import near_passages
from hopgate.recall.filters import Query
from hopgate.recall.fusion import Ranking, fused
from hopgate.recall.hit import Hit, Passage
from hopgate.recall.legs import Legs, RecallPipeline, pool_of, run_legs
from hopgate.recall.lexical import exact_matches
from hopgate.recall.order import Placed, half_and_half, placed
from hopgate.recall.outdated import Outdated, current_first, read_outdated
from hopgate.recall.settings import Settings
from hopgate.store import memories
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.recall.rerank import Reranked

# A memory without a date comes after all that have one.
NEVER = datetime.min.replace(tzinfo=UTC)


def recall(pipeline: RecallPipeline, query: Query, settings: Settings, *, explain: bool = False) -> list[Hit]:
    """Answer a query with the best `settings.k` memories.

    Parameters
    ----------
    explain : bool
        Whether hits carry what each leg, the bonus and the prior did, and the graph's path.
    """
    legs = run_legs(pipeline, query, settings)
    similarities, cosines = legs.similarities(), dict(legs.scores.get("dense", ()))
    with pipeline.store.transaction() as connection:
        candidates = pool_of(legs.found).union(legs.late.memories if legs.late else ())
        names = memories.external_ids(connection, sorted(candidates))
        ranking = fused(legs.pool(settings.fuser, names), settings.fuser)
        final, known, outdated = _final(connection, legs.query, ranking, settings, similarities)
        near = {} if legs.query.vector is None else near_passages(connection, legs.query.vector, known)
    order, passages, read = list(final), {key: spans[0] for key, spans in near.items()}, None
    if settings.reads:
        read = _reread(query.text, order, known, near, settings)
        order, passages = half_and_half(order, read.scores), passages | read.passages
    ended = outdated.among(known)
    if settings.sort_by == "relevance":
        order = current_first(order, ended)
    order = order[: settings.k]
    if settings.sort_by == "recency":
        order.sort(key=lambda key: known[key].created_at or NEVER, reverse=True)
    return [
        Hit(
            rank,
            known[key].external_id,
            final[key].score,
            known[key],
            similarity=similarities.get(key),
            cosine=cosines.get(key),
            bonus=final[key].bonus,
            prior=final[key].prior,
            rerank_score=read.scores.get(key) if read else None,
            rerank_cost=read.cost if read else None,
            facts=outdated.hit_facts(key, names),
            outdated=key in ended,
            passage=Passage(*passages[key], known[key].content[slice(*passages[key])]) if key in passages else None,
            **_shares(legs, ranking, key),
            **(_walked(pipeline, legs, ranking, key) if explain else {}),
            matches=legs.late.matches(key, names) if explain and legs.late else (),
        )
        for rank, key in enumerate(order, start=1)
    ]


def _final(
    connection: Connection,
    query: Query,
    ranking: Ranking[int],
    settings: Settings,
    similarities: Mapping[int, float],
) -> tuple[dict[int, Placed[int]], dict[int, Memory], Outdated]:
    """Apply bonus, prior, the least score and likeness; give the first of that order, their memories and what is over.

    With them comes what ended one of them, however far down. A memory that was deleted meanwhile is left out.
    """
    scopes = query.filters.scopes
    importance = {key: row[0] for key, row in memories.weights(connection, ranking.ids, scopes).items()}
    matched = exact_matches(connection, query.text, ranking.ids) if settings.exact_match else set()
    hits = placed(ranking, importance, settings.floor, settings.exact_match, matched)
    least = -math.inf if settings.min_score is None else settings.min_score
    # Filters stand before the cut, so that they starve nobody.
    near = settings.min_similarity or 0.0
    # What has no tokens and no vector, such as a sensitive memory, was found by its words and stays.
    hits = [hit for hit in hits if hit.id in importance and hit.score >= least and similarities.get(hit.id, 1) >= near]
    first = max(settings.k, settings.reads)
    with_facts = "facts" in settings.parts and settings.fuser.graph > 0
    outdated = read_outdated(connection, query, [hit.id for hit in hits], first if with_facts else 0)
    hits = [*hits[:first], *(hit for hit in hits[first:] if hit.id in outdated.enders)]
    known = memories.fetch_by_id(connection, [hit.id for hit in hits], scopes)
    return {hit.id: hit for hit in hits if hit.id in known}, known, outdated


def _reread(
    query: str, order: list[int], known: Mapping[int, Memory], near: Mapping[int, list[Extent]], settings: Settings
) -> Reranked[int]:
    """Have the cross-encoder read the top of an order; sensitive memories are not read and keep their places."""
    from hopgate.recall.rerank import RerankCutShort, load_reranker

    top = cleared((key, known[key]) for key in order[: settings.reads])
    read = load_reranker(settings.rerank_model).rerank(query, top, settings.rerank_timeout, near=near)
    if read.cost.cut_short:
        # The warning points at the line that called `KnowledgeBase.recall`.
        warnings.warn(
            f"the cross-encoder read {read.cost} and the rest keeps its order: "
            "a larger rerank_timeout gives it longer, a smaller rerank_depth less to read",
            RerankCutShort,
            stacklevel=4,
        )
    return read


def _shares(legs: Legs, ranking: Ranking[int], key: int) -> Mapping[str, Any]:
    """What each leg did for a memory, and which could not see it."""
    shares = ranking.shares(key)
    return {
        "legs": {leg: share for leg, share in shares.items() if share.score is not None},
        "unseen": {leg: share.contribution for leg, share in shares.items() if share.score is None},
        "in_graph": key not in legs.graph.unseen,
    }


def _walked(pipeline: RecallPipeline, legs: Legs, ranking: Ranking[int], key: int) -> Mapping[str, Any]:
    """The graph leg's path to a memory, and as of when it walked."""
    graph, trace = ranking.shares(key).get("graph"), legs.graph.trace
    parts = pipeline.graph.explain(trace, key) if trace and graph and graph.rank is not None else ()
    path = tuple(part.text for part in parts)
    return {"path": path, "path_parts": parts, "as_of": trace.asked if trace else ""}
