"""The arms of an ablation, from lists that were collected once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hopgate.eval.arms.choose import Choice, choose, reachable_fusers
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.controls import REBUILT, concept_boost_arm, prototype_arm, shuffle_name
from hopgate.eval.arms.cross_reading import CrossReading
from hopgate.eval.arms.fused_runs import fused_arm, fused_run, leg_arm
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.arms.leg_lists import GraphLists, LegLists
from hopgate.eval.arms.score_table import development_score
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import BASE_LEGS, GRAPH, LEGS, Arm, Tuning
from hopgate.eval.statistics import FEWEST
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, MinMax, parse
from hopgate.recall.settings import Settings
from hopgate.scale.engine import Engine, map_batches, with_shared

BASE = "lexical+dense"
WITH_GRAPH = "lexical+dense+graph"
WITH_REACHABLE_GRAPH = "lexical+dense+graph (reachable)"
NO_PRIOR = "no importance prior"
FAMILIES: Mapping[str, type[AnyFuser]] = {"minmax": MinMax, "rrf": RRF, "tm2c2": TM2C2}
# Where a weight that no configuration of the grid has is needed for the graph to be reachable.
HEAVIEST = 5.0


@dataclass(frozen=True)
class Ablation:
    """Arms with how they were tuned.

    Parameters
    ----------
    arms : mapping of name to Arm
    tuning : mapping of arm name to Tuning
    challenger, base : str
        The arm that a verdict is about, and the strongest without the graph by the development queries.
    rivals : tuple of str
        The other arms without the graph, where those queries are too few to tell which is the strongest.
    shuffles : tuple of Arm
        The challenger on shuffled graphs.
    fused_base : fuser
        The tuned fusion of the lexical and the dense leg.
    """

    arms: Mapping[str, Arm]
    tuning: Mapping[str, Tuning]
    challenger: str
    base: str
    rivals: tuple[str, ...]
    shuffles: tuple[Arm, ...]
    fused_base: AnyFuser

    @property
    def fuser(self) -> AnyFuser:
        """The challenger's fuser."""
        return parse(self.arms[self.challenger].fuser)


@dataclass(frozen=True)
class _Chosen:
    """The tuned base, the best with the graph, the best in which it is reachable, and what that was chosen from."""

    base: Choice
    full: Choice
    challenger: Choice
    candidates: Sequence[AnyFuser]


def ablate(
    collected: Collected,
    dev: Qrels,
    reported: Iterable[str],
    *,
    k: int,
    settings: Mapping[str, Any],
    more: bool,
    default: AnyFuser | None = None,
    reading: CrossReading | None = None,
    engine: Engine | None = None,
) -> Ablation:
    """Choose configurations on `dev` and fuse the reported queries with them.

    The arm with all legs is the one that the rule of choice takes on the development queries, even where that gives
    the graph next to no weight. A verdict needs a graph that could have reached the top k: where the choice bars it,
    the challenger is the choice among those that do not, so that a useless graph comes out as closed and not as
    untested.

    Parameters
    ----------
    collected : Collected
        Lists of the legs, and of the graph leg on shuffled graphs.
    dev : Qrels
        The development queries; without any, default configurations are taken.
    reported : iterable of str
        The queries that are reported.
    settings : mapping
        Written beside every arm.
    more : bool
        Whether to add the arms beyond those that a verdict needs.
    default : fuser, optional
        The configuration declared beforehand; recall's own where not given.
    reading : CrossReading, optional
        The cross-encoder, where every base and the challenger are to be compared with it too.
    engine : Engine, optional
        Who tunes the shuffles, where it is not this process.
    """
    default = default or Settings().fuser
    queries = list(reported)
    every, lists = collected.lists, collected.lists.only(queries, LEGS)
    chosen = _chosen(every, dev, k, default)
    arms = {leg: leg_arm(leg, leg, lists, settings) for leg in BASE_LEGS}
    arms[BASE] = fused_arm(BASE, chosen.base.fuser, lists, queries, settings)
    bases = [BASE, *BASE_LEGS]
    # One leg alone is among the configurations that the base tried: the effort is the same.
    alone = Tuning(frozenset(dev), chosen.base.tuning.tried)
    tuning = {BASE: chosen.base.tuning, **{leg: alone for leg in BASE_LEGS if dev}, WITH_GRAPH: chosen.full.tuning}
    arms[GRAPH] = leg_arm(GRAPH, GRAPH, lists, settings)
    arms[WITH_GRAPH] = fused_arm(WITH_GRAPH, chosen.full.fuser, lists, queries, settings)
    name = WITH_GRAPH
    if chosen.challenger.fuser != chosen.full.fuser:
        name = WITH_REACHABLE_GRAPH
        arms[name] = fused_arm(name, chosen.challenger.fuser, lists, queries, settings)
        tuning[name] = chosen.challenger.tuning
    shuffles = []
    given = (chosen.candidates, every, dev, k)
    fusers = map_batches(engine or Engine(), with_shared(_tuned_on, given), collected.shuffled)
    for number, (fuser, shuffled) in enumerate(zip(fusers, collected.shuffled, strict=True), start=1):
        part = lists.with_graph(shuffled.only(queries))
        shuffles.append(fused_arm(shuffle_name(number), fuser, part, queries, settings))
    runs = {each: _dev_run(arms[each], every, dev) for each in bases}
    if reading:
        for each in [*bases, name]:
            read = reading.arm(arms[each])
            tuning |= {read.name: tuning[each]} if each in tuning else {}
            if each == name and reading.walks:
                arms[f"{read.name}, no walk after it"] = replace(read, name=f"{read.name}, no walk after it")
                read = reading.walked(read)
            arms[read.name] = read
        runs |= {reading.name(each): reading.run(runs[each])[0] for each in bases}
        name, bases = reading.name(name), [*map(reading.name, bases), *bases]
        shuffles = [
            replace(reading.walked(reading.arm(arm), number), name=arm.name) for number, arm in enumerate(shuffles)
        ]
    scores = {each: development_score(runs[each], dev, k) for each in bases}
    base = max(bases, key=lambda each: (scores[each], -bases.index(each)))
    rivals = tuple(each for each in bases if each != base) if len(dev) < FEWEST else ()
    made = [prototype_arm(lists, queries, settings)]
    if more:
        best = chosen.challenger.fuser
        made += _families(every, lists, dev, queries, settings, k, chosen, default)
        if collected.cliques:
            made.append(prototype_arm(lists.with_graph(collected.cliques.only(queries)), queries, settings, REBUILT))
        for named, graph in {**collected.further, **collected.parts}.items():
            made.append(fused_arm(named, best, lists.with_graph(graph.only(queries)), queries, settings))
        made.append(concept_boost_arm(best, lists, queries, settings))
        if lists.prior and len(set(lists.importance.values())) > 1:
            made.append(fused_arm(NO_PRIOR, best, replace(lists, prior=None), queries, settings))
    arms |= {arm.name: arm for arm in made}
    return Ablation(arms, tuning, name, base, rivals, tuple(shuffles), chosen.base.fuser)


def _tuned_on(given: tuple[Sequence[AnyFuser], LegLists, Qrels, int], shuffled: GraphLists) -> AnyFuser:
    """The configuration that is chosen on a shuffle."""
    candidates, every, dev, k = given
    return choose(candidates, every.with_graph(shuffled), dev, k).fuser


def _dev_run(arm: Arm, lists: LegLists, dev: Qrels) -> Run:
    """What an arm without the graph returns on the development queries."""
    if arm.fuser_value is not None:
        return fused_run(arm.fuser_value, lists, dev)
    (leg,) = arm.legs
    return {query: lists.found_by(leg).get(query, ()) for query in dev}


def _chosen(lists: LegLists, dev: Qrels, k: int, default: AnyFuser) -> _Chosen:
    base = choose(base_grid(default), lists, dev, k)
    candidates: Sequence[AnyFuser] = challenger_grid(default, base.fuser)
    full = choose(candidates, lists, dev, k)
    # Reachability takes longer to find out than what a configuration scores: ask it of the best one first.
    if not dev or reachable_fusers([full.fuser], lists, dev, k=k):
        return _Chosen(base, full, full, candidates)
    candidates = reachable_fusers(candidates, lists, dev, k=k) or [default.reweighed(graph=HEAVIEST)]
    return _Chosen(base, full, choose(candidates, lists, dev, k), candidates)


def _families(
    every: LegLists,
    lists: LegLists,
    dev: Qrels,
    queries: Sequence[str],
    settings: Mapping[str, Any],
    k: int,
    chosen: _Chosen,
    default: AnyFuser,
) -> list[Arm]:
    """The choice among each kind of fusion on its own: ranks against scores, at last measured."""
    arms = []
    for name, kind in FAMILIES.items():
        grid = [fuser for fuser in challenger_grid(default, chosen.base.fuser) if isinstance(fuser, kind)]
        fuser = choose(grid or [kind()], every, dev, k).fuser
        arms.append(fused_arm(name, fuser, lists, queries, settings))
    arms.append(fused_arm("rrf (equal weights)", RRF(), lists, queries, settings))
    return arms
