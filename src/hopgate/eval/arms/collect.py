"""Every leg's list and scores for every query, from a store: asked once, fused many times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hopgate.eval.arms.asking import AskingPlan, ask, ask_by_workers
from hopgate.eval.arms.leg_lists import GraphLists, LegLists
from hopgate.eval.arms.shuffled_walks import WalkRecorder
from hopgate.eval.data.dataset import Query
from hopgate.recall.completion import complete
from hopgate.recall.fuse import Importance
from hopgate.recall.settings import Settings
from hopgate.store import memories

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.legs.graph import GraphLeg
    from hopgate.recall.run_legs import Legs
    from hopgate.scale.engine import Engine

Lists = dict[str, dict[str, list[tuple[str, float]]]]
"""Leg → query → list of (external id, score)."""


@dataclass(frozen=True)
class Collected:
    """The legs' lists, and those of the graph leg on shuffled graphs and of further graph legs, by name.

    `parts` are those of the graph without each of its parts, `cliques` those of the prototype's own graph.
    """

    lists: LegLists
    shuffled: tuple[GraphLists, ...] = ()
    further: Mapping[str, GraphLists] = field(default_factory=dict)
    parts: Mapping[str, GraphLists] = field(default_factory=dict)
    cliques: GraphLists | None = None
    no_model: LegLists | None = None


def collect(
    kb: KnowledgeBase,
    queries: Iterable[Query],
    *,
    settings: Settings | None = None,
    graphs: Mapping[str, GraphLeg] | None = None,
    shuffles: Sequence[int] = (),
    parts: bool = False,
    progress: Callable[[int], None] | None = None,
    engine: Engine | None = None,
) -> Collected:
    """Run lexical, dense and graph legs, and further graph legs, for each query inside its scope.

    Vectors are compared exactly, so that approximate search never blurs an ablation.

    Parameters
    ----------
    settings : Settings, optional
        Depth, k, prior and the lexical ranker: as recall is set.
    graphs : mapping of name to GraphLeg
        Further graph legs.
    shuffles : sequence of int
        Seeds of shuffled graphs to walk from the same seeds as the real one.
    parts : bool
        Whether to walk on the graph without each of its parts too, and on the prototype's cliques.
    engine : Engine, optional
        Who asks the queries and walks on the shuffles, where it is not this process.
    """
    settings = settings or Settings()
    names = kb.id_map()
    asked = list(queries)
    recorder = WalkRecorder(kb.store, kb.graph_leg.walk)
    plan = AskingPlan(settings, recorder.walk, tuple(graphs or ()), bool(shuffles or parts))
    if engine is None or engine.size() < 2:
        kept = ask(kb, recorder, asked, plan, graphs or {}, progress)
        shuffled = tuple(recorder.on_shuffle(seed, names) for seed in shuffles)
    else:
        kept, shuffled = ask_by_workers(kb, recorder, asked, plan, shuffles, names, engine)
    lacking = recorder.in_parts(names) if parts else {}
    found = _named(kb, kept, (*shuffled, *lacking.values()), recorder, names, settings, tuple(graphs or ()))
    cliques = recorder.cliques(names) if parts else None
    return replace(found, shuffled=shuffled, parts=lacking, cliques=cliques)


def _named(
    kb: KnowledgeBase,
    kept: Mapping[str, Legs],
    walked: tuple[GraphLists, ...],
    recorder: WalkRecorder,
    names: Mapping[int, str],
    settings: Settings,
    further: tuple[str, ...],
) -> Collected:
    """Give all that was collected by external ids, the base legs' scores completed for what any graph found."""
    keys = {name: key for key, name in names.items()}
    others: dict[str, set[int]] = defaultdict(set)
    for graph in walked:
        for query, hits in graph.found.items():
            others[query].update(keys[memory] for memory, _ in hits)
    found: Lists = {leg: {} for leg in ("lexical", "dense", "graph", *further)}
    scores: Lists = {leg: {} for leg in found}
    base: dict[str, list[tuple[str, float]]] = {}
    blind: dict[str, list[str]] = {}
    for query, legs in kept.items():
        for leg, own in legs.found.items():
            found[leg][query] = [(names[key], score) for key, score in own]
        known = {**legs.scores, **_completed(kb, recorder, query, legs, others[query], settings)}
        for leg, own in known.items():
            scores[leg][query] = [(names[key], score) for key, score in own]
        base[query] = [(names[hit.id], hit.score) for hit in legs.base]
        blind[query] = sorted(names[key] for key in legs.blind)
    graphs = {name: GraphLists(found.pop(name), scores.pop(name), blind) for name in further}
    seen = {key for legs in kept.values() for leg in legs.scores.values() for key, _ in leg}.union(*others.values())
    with kb.store.transaction() as connection:
        weights = memories.weights(connection, sorted(seen))
    importance = {names[key]: weight for key, (weight, _) in weights.items()}
    lists = LegLists(scores, found, base, blind, importance, Importance(settings.prior), settings.k)
    return Collected(lists, further=graphs)


def _completed(
    kb: KnowledgeBase, recorder: WalkRecorder, query: str, legs: Legs, pool: AbstractSet[int], settings: Settings
) -> dict[str, list[tuple[int, float]]]:
    """The base legs' scores of what the other graphs found too."""
    asked = recorder.asked.get(query)
    if asked is None or not pool:
        return {}
    with kb.store.transaction() as connection:
        return complete(
            connection,
            asked.query,
            asked.vector,
            legs.found,
            pool,
            legs.scores,
            filters=asked.filters,
            ranker=settings.lexical_ranker,
        )
