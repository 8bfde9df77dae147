"""After fusion: the cross-encoder reads the top of the ranking, and a walk goes on from what it believes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hopgate.memory import Memory, cleared
from hopgate.passages import Extent, is_long
from hopgate.recall.dense import near_passages
from hopgate.recall.filters import Query
from hopgate.recall.fusion import Id
from hopgate.recall.legs import RecallPipeline
from hopgate.recall.settings import Settings
from hopgate.store import memories
from hopgate.store.graph import version

if TYPE_CHECKING:
    from hopgate.recall.graph_leg import WalkTrace
    from hopgate.recall.rerank import RerankCost

# A memory's mass is exp(logit / 2): 2 to 4 are alike on 190 dev queries of locomo.
TEMPERATURE = 2.0


@dataclass
class Staged:
    """A ranking on its way through the stages: its memories, what each stage gave them, and what it cost."""

    order: list[int]
    known: dict[int, Memory]
    rerank_scores: dict[int, float] = field(default_factory=dict)
    walk_scores: dict[int, float] = field(default_factory=dict)
    passages: dict[int, Extent] = field(default_factory=dict)
    cost: RerankCost | None = None
    trace: WalkTrace | None = None


def run_stages(
    pipeline: RecallPipeline, query: Query, order: Sequence[int], known: Mapping[int, Memory], settings: Settings
) -> Staged:
    """Run the stages that follow fusion, where the settings ask for any; say which passage is nearest in any case.

    Sensitive memories are not read, are in no graph, and keep their places.
    """
    staged = Staged(list(order), dict(known))
    near = _near(pipeline, query, staged.known)
    for stage in settings.pipeline.after:
        if stage.name == "rerank":
            _rerank(staged, query.text, near, stage.depth or settings.rerank_depth, settings)
        elif staged.rerank_scores and "graph" in settings.fuser.active:
            _walk(staged, pipeline, query, settings.depth)
            near |= _near(pipeline, query, {key: staged.known[key] for key in staged.walk_scores if key not in near})
    if staged.cost is not None and staged.cost.cut_short:
        from hopgate.recall.rerank import RerankCutShort

        # The warning points at the line that called `KnowledgeBase.recall`.
        warnings.warn(
            f"the cross-encoder read {staged.cost} and the rest keeps its order: "
            "a larger rerank_timeout gives it longer, a smaller rerank_depth less to read",
            RerankCutShort,
            stacklevel=4,
        )
    staged.passages = {key: spans[0] for key, spans in near.items()} | staged.passages
    return staged


def rerank_mass(scores: Mapping[int, float], temperature: float = TEMPERATURE) -> dict[int, float]:
    """Turn a cross-encoder's logits into masses, the largest of them 1.

    Examples
    --------
    >>> {key: round(mass, 3) for key, mass in rerank_mass({1: 4.0, 2: 0.0}).items()}
    {1: 1.0, 2: 0.135}
    """
    best = max(scores.values(), default=0.0)
    return {key: math.exp((score - best) / temperature) for key, score in scores.items()}


def in_places(order: Sequence[Id], fixed: Mapping[int, Id]) -> list[Id]:
    """Put ids in an order around those that keep their places, counted from 0; at the end where it is too short.

    Examples
    --------
    >>> in_places(["a", "b", "c"], {1: "x"})
    ['a', 'x', 'b', 'c']
    """
    held = set(fixed.values())
    found = [key for key in order if key not in held]
    for place, key in sorted(fixed.items()):
        found.insert(place, key)
    return found


def _near(pipeline: RecallPipeline, query: Query, known: Mapping[int, Memory]) -> dict[int, list[Extent]]:
    """The passages of the long ones, the nearest to the query first; none without a vector."""
    if query.vector is None or not any(is_long(memory.content) for memory in known.values()):
        return {}
    with pipeline.store.transaction() as connection:
        return near_passages(connection, query.vector, known)


def _rerank(staged: Staged, query: str, near: Mapping[int, list[Extent]], depth: int, settings: Settings) -> None:
    from hopgate.recall.rerank import RerankCost, load_reranker

    top = staged.order[:depth]
    texts = dict(cleared((key, staged.known[key]) for key in top))
    spent = staged.cost or RerankCost()
    answer = load_reranker(settings.rerank_model).rerank(
        query,
        [(key, texts.get(key)) for key in top],
        max(0.0, settings.rerank_timeout - spent.milliseconds / 1000),
        near=near,
        known=staged.rerank_scores,
    )
    staged.cost = spent + answer.cost
    staged.rerank_scores |= {key: score for key, score in answer.order if score is not None}
    staged.passages |= answer.passages
    staged.order[:depth] = [key for key, _ in answer.order]


def _walk(staged: Staged, pipeline: RecallPipeline, query: Query, depth: int) -> None:
    """Order by a walk from what was read; what it brings is added, and what it does not reach follows as it was."""
    with pipeline.store.transaction() as connection:
        if version.current(connection) == 0:
            return
    walked = pipeline.graph.rank_from(rerank_mass(staged.rerank_scores), query.filters, depth)
    if walked.trace is None:
        return
    with pipeline.store.transaction() as connection:
        new = [key for key, _ in walked.hits if key not in staged.known]
        staged.known |= memories.fetch_by_id(connection, new, query.filters.scopes)
    fixed = {place: key for place, key in enumerate(staged.order) if staged.known[key].is_sensitive}
    staged.walk_scores = {key: score for key, score in walked.hits if key in staged.known}
    rest = [key for key in staged.order if key not in staged.walk_scores]
    staged.order = in_places([*staged.walk_scores, *rest], fixed)
    staged.trace = walked.trace
