"""Queries asked of a store, each by itself: here, or in runs by the workers of an engine, to the same lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.eval.arms.leg_lists import GraphLists
from hopgate.eval.arms.shuffled_walks import Asked, WalkRecorder
from hopgate.eval.data.dataset import Query
from hopgate.graph.walk.config import Walk
from hopgate.recall.settings import Settings
from hopgate.scale.engine import Engine, map_batches, with_shared
from hopgate.store.store import FrozenStore, SnapshotStore

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.legs.graph import GraphLeg
    from hopgate.recall.run_legs import Legs


@dataclass(frozen=True)
class AskingPlan:
    """How queries are asked.

    Parameters
    ----------
    further : tuple of str
        The further graph legs; workers know one, by hops.
    recording : bool
        Whether it is kept what each query found to start from, to be walked from again.
    """

    settings: Settings
    walk: Walk
    further: tuple[str, ...] = ()
    recording: bool = False


class _Asking(NamedTuple):
    """What a worker needs to ask queries of a store as it was at one moment."""

    dsn: str
    snapshot: str
    plan: AskingPlan


class _Walking(NamedTuple):
    """What a worker needs to walk on a shuffle: the queries' starts, and the names of memories."""

    asking: _Asking
    asked: Mapping[str, Asked]
    names: Mapping[int, str]


def ask(
    kb: KnowledgeBase,
    recorder: WalkRecorder,
    queries: Sequence[Query],
    plan: AskingPlan,
    graphs: Mapping[str, GraphLeg],
    progress: Callable[[int], None] | None = None,
) -> dict[str, Legs]:
    """Ask queries one by one; give what the legs gave, by query."""
    kb.keep_queries()
    kept: dict[str, Legs] = {}
    for query in queries:
        recorder.name = query.id
        kept[query.id], _ = kb.legs(
            query.text,
            settings=plan.settings,
            scope=query.scope,
            as_of=query.moment("as_of"),
            known_at=query.moment("known_at"),
            exact=True,
            graphs={**({"graph": recorder} if plan.recording else {}), **graphs},
        )
        if progress:
            progress(1)
    return kept


def ask_by_workers(
    kb: KnowledgeBase,
    recorder: WalkRecorder,
    queries: Sequence[Query],
    plan: AskingPlan,
    shuffles: Sequence[int],
    names: Mapping[int, str],
    engine: Engine,
) -> tuple[dict[str, Legs], tuple[GraphLists, ...]]:
    """Let workers ask runs of queries, then walk on a shuffle each, all of them in one snapshot of the store.

    Queries are asked one by one as ever, and a shuffle is walked for all of them at once: solvers then meet the same
    columns together as in one process, and no bit differs.
    """
    here = kb.store
    with nullcontext(here) if isinstance(here, SnapshotStore) else closing(FrozenStore(here)) as frozen:
        asking = _Asking(frozen.dsn, frozen.exported, plan)
        kept: dict[str, Legs] = {}
        asked: dict[str, Asked] = {}
        size = max(1, -(-len(queries) // engine.size()))
        parts = [queries[start : start + size] for start in range(0, len(queries), size)]
        for legs, recorded in map_batches(engine, with_shared(_ask_part, asking), parts):
            kept |= legs
            asked |= recorded
        recorder.take(asked)
        walking = _Walking(asking, asked, names)
        shuffled = tuple(map_batches(engine, with_shared(_walk_shuffle, walking), shuffles))
    return kept, shuffled


def _ask_part(asking: _Asking, queries: Sequence[Query]) -> tuple[dict[str, Legs], dict[str, Asked]]:
    """Ask some queries in a process of their own; graphs and traces stay there."""
    from hopgate.kb import KnowledgeBase

    plan = asking.plan
    with KnowledgeBase(SnapshotStore(asking.dsn, asking.snapshot)) as kb:
        kb.graph_leg.walk = plan.walk
        recorder = WalkRecorder(kb.store, plan.walk)
        kept = ask(kb, recorder, queries, plan, {})
    nothing: Any = None
    recorded = {name: one._replace(matrix=nothing) for name, one in recorder.asked.items()}
    return {name: replace(legs, trace=None) for name, legs in kept.items()}, recorded


def _walk_shuffle(walking: _Walking, seed: int) -> GraphLists:
    """Walk every query on one shuffled graph."""
    asking = walking.asking
    with SnapshotStore(asking.dsn, asking.snapshot) as store:
        recorder = WalkRecorder(store, asking.plan.walk)
        recorder.take(walking.asked)
        return recorder.on_shuffle(seed, walking.names)
