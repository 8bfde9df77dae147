"""Every leg's list for every query, from a store: asked once, fused many times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, cast

from hopgate.eval.arms.shuffled_walks import RECORDED, WalkRecorder
from hopgate.eval.data.queries import Query
from hopgate.recall.settings import Settings
from hopgate.times import utc

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.legs.graph import GraphLeg

Lists = dict[str, dict[str, list[tuple[str, float]]]]
"""Leg → query → list of (external id, score)."""


@dataclass(frozen=True)
class Collected:
    """The legs' lists, the importance of every memory in them, and the graph leg's lists on shuffled graphs."""

    lists: Lists
    importance: Mapping[str, float] = field(default_factory=dict)
    shuffled: tuple[dict[str, list[tuple[str, float]]], ...] = ()


def collect(
    kb: KnowledgeBase,
    queries: Iterable[Query],
    *,
    depth: int = 50,
    graphs: Mapping[str, GraphLeg] | None = None,
    shuffles: Sequence[int] = (),
    progress: Callable[[int], None] | None = None,
) -> Collected:
    """Run lexical, dense and graph legs, and further graph legs, for each query inside its scope.

    Vectors are compared exactly, so that approximate search never blurs an ablation.

    Parameters
    ----------
    graphs : mapping of name to GraphLeg
        Further graph legs.
    shuffles : sequence of int
        Seeds of shuffled graphs to walk from the same seeds as the real one.
    """
    kb.keep_queries()
    recorder = WalkRecorder(kb.graph_leg) if shuffles else None
    graphs = dict(graphs or {})
    if recorder:
        graphs[RECORDED] = cast("GraphLeg", recorder)
    names = kb.id_map()
    settings = Settings(depth=depth)
    lists: Lists = {leg: {} for leg in ("lexical", "dense", "graph", *graphs)}
    importance: dict[str, float] = {}
    for query in queries:
        if recorder:
            recorder.query = query
        found, weights = kb.legs(
            query.text,
            settings=settings,
            scope=query.scope,
            as_of=_moment(query, "as_of"),
            known_at=_moment(query, "known_at"),
            exact=True,
            graphs=graphs,
        )
        for leg, hits in found.found.items():
            lists[leg][query.id] = [(names[key], score) for key, score in hits]
        importance |= {names[key]: weight for key, weight in weights.items()}
        if progress:
            progress(1)
    shuffled = tuple(recorder.on_shuffle(seed, kb, depth) for seed in shuffles) if recorder else ()
    lists.pop(RECORDED, None)
    return Collected(lists, importance, shuffled)


def _moment(query: Query, name: str) -> datetime | None:
    """The date that a query is asked as of or as known at, where its metadata has one."""
    date = query.metadata.get(name)
    if not isinstance(date, str):
        return None
    return utc(datetime.fromisoformat(date))
