"""After fusion: the cross-encoder reads the top of the ranking, and a walk goes on from what it believes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from hopgate.memory import Memory, cleared
from hopgate.passages import Extent, is_long
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import Fused, active
from hopgate.recall.hit import Hit, Passage
from hopgate.recall.legs.dense import near_passages
from hopgate.recall.settings import Settings
from hopgate.store import memories
from hopgate.store.graph import version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.recall.legs.graph import GraphLeg, WalkTrace
    from hopgate.recall.rerank import RerankCost
    from hopgate.store.store import Store

Id = TypeVar("Id", int, str)

# A memory's mass is exp(logit / 2): 2 to 4 are alike on 190 dev queries of locomo (docs/research/rerank.md).
TEMPERATURE = 2.0


@dataclass
class Staged:
    """A ranking on its way through the stages: its memories, what each stage gave them, and what it cost."""

    ranking: list[Fused[int]]
    known: dict[int, Memory]
    rerank_scores: dict[int, float] = field(default_factory=dict)
    walk_scores: dict[int, float] = field(default_factory=dict)
    passages: dict[int, Extent] = field(default_factory=dict)
    cost: RerankCost | None = None
    trace: WalkTrace | None = None

    def applied(self, key: int, hit: Hit) -> Hit:
        """Give a memory's hit with what the stages did for it."""
        span = self.passages.get(key)
        return replace(
            hit,
            rerank_score=self.rerank_scores.get(key),
            walk_score=self.walk_scores.get(key),
            rerank_cost=self.cost,
            passage=Passage(*span, hit.memory.content[slice(*span)]) if span else None,
        )


def run_stages(
    store: Store,
    graph: GraphLeg,
    query: str,
    vector: NDArray[np.float32] | None,
    ranking: Sequence[Fused[int]],
    known: Mapping[int, Memory],
    settings: Settings,
    filters: Filters,
) -> Staged:
    """Run the stages that follow fusion, where the settings ask for any; say which passage is nearest in any case.

    Sensitive memories are not read, are in no graph, and keep their places.
    """
    staged = Staged(list(ranking), dict(known))
    near: dict[int, list[Extent]] = {}
    if vector is not None:
        near = _near(store, vector, staged.known)
    for stage in settings.pipeline.after:
        if stage.name == "rerank":
            _rerank(staged, query, near, stage.depth or settings.rerank_depth, settings)
        elif staged.rerank_scores and "graph" in active(settings.fuser):
            _walk(staged, store, graph, settings.depth, filters)
            if vector is not None:
                near |= _near(store, vector, {key: staged.known[key] for key in staged.walk_scores if key not in near})
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


def belief(scores: Mapping[int, float], temperature: float = TEMPERATURE) -> dict[int, float]:
    """Turn a cross-encoder's logits into masses, the largest of them 1.

    Examples
    --------
    >>> {key: round(mass, 3) for key, mass in belief({1: 4.0, 2: 0.0}).items()}
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


def _near(store: Store, vector: NDArray[np.float32], known: Mapping[int, Memory]) -> dict[int, list[Extent]]:
    if not any(is_long(memory.content) for memory in known.values()):
        return {}
    with store.transaction() as connection:
        return near_passages(connection, vector, known)


def _rerank(staged: Staged, query: str, near: Mapping[int, list[Extent]], depth: int, settings: Settings) -> None:
    from hopgate.recall.rerank import RerankCost, load_reranker

    top = {fused.id: fused for fused in staged.ranking[:depth]}
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
    staged.ranking[:depth] = [top[key] for key, _ in answer.order]


def _walk(staged: Staged, store: Store, graph: GraphLeg, depth: int, filters: Filters) -> None:
    """Order by a walk from what was read; what it brings is added, and what it does not reach follows as it was."""
    with store.transaction() as connection:
        if version.current(connection) == 0:
            return
    walked = graph.rank_from(belief(staged.rerank_scores), filters, depth)
    if walked.trace is None:
        return
    with store.transaction() as connection:
        new = [key for key, _ in walked.hits if key not in staged.known]
        staged.known |= memories.fetch_by_id(connection, new, filters.scopes)
    fused = {hit.id: hit for hit in staged.ranking}
    fixed = {at: hit.id for at, hit in enumerate(staged.ranking) if staged.known[hit.id].is_sensitive}
    staged.walk_scores = {key: score for key, score in walked.hits if key in staged.known}
    rest = [hit.id for hit in staged.ranking if hit.id not in staged.walk_scores]
    order = in_places([*staged.walk_scores, *rest], fixed)
    # No leg found what the walk alone brings: its fused score is 0.
    staged.ranking = [fused.get(key) or Fused(key, 0.0, {}, {}) for key in order]
    staged.trace = walked.trace
