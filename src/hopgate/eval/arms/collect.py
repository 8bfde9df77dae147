"""Every leg's list for every query, from a store: asked once, fused many times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

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
    """The legs' lists, and the importance of every memory in them."""

    lists: Lists
    importance: Mapping[str, float] = field(default_factory=dict)


def collect(
    kb: KnowledgeBase,
    queries: Iterable[Query],
    *,
    depth: int = 50,
    graphs: Mapping[str, GraphLeg] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Collected:
    """Run lexical, dense and graph legs, and further graph legs, for each query inside its scope.

    Vectors are compared exactly, so that approximate search never blurs an ablation.
    """
    kb.keep_queries()
    names = kb.id_map()
    settings = Settings(depth=depth)
    lists: Lists = {leg: {} for leg in ("lexical", "dense", "graph", *(graphs or {}))}
    importance: dict[str, float] = {}
    for query in queries:
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
    return Collected(lists, importance)


def _moment(query: Query, name: str) -> datetime | None:
    """The date that a query is asked as of or as known at, where its metadata has one."""
    date = query.metadata.get(name)
    if not isinstance(date, str):
        return None
    return utc(datetime.fromisoformat(date))
