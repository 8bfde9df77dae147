"""The arms of an ablation, from lists that were collected once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hopgate.eval.arms.choose import Choice, choose, reachable_fusers
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.controls import concept_boost_arm, prototype_arm, shuffle_name
from hopgate.eval.arms.cross_reading import CrossReading
from hopgate.eval.arms.fused_runs import fused_arm, fused_run
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.arms.score_table import development_score
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import BASE_LEGS, GRAPH, LEGS, Arm, Tuning
from hopgate.eval.statistics import FEWEST
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, Importance, StretchedRRF, parse
from hopgate.recall.settings import Settings

BASE = "lexical+dense"
WITH_GRAPH = "lexical+dense+graph"
WITH_REACHABLE_GRAPH = "lexical+dense+graph (reachable)"
IMPORTANCE_PRIOR = "importance prior"
FAMILIES: Mapping[str, type[AnyFuser]] = {"rrf": RRF, "tm2c2": TM2C2, "stretched-rrf": StretchedRRF}
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
    """
    default = default or Settings().fuser
    lists, queries = collected.lists, list(reported)
    legs = {leg: lists[leg] for leg in LEGS}
    chosen = _chosen(legs, dev, k, default)
    arms = {leg: Arm(leg, legs[leg], legs={leg: legs[leg]}, settings=settings) for leg in BASE_LEGS}
    arms[BASE] = fused_arm(BASE, chosen.base.fuser, legs, queries, settings)
    bases = [BASE, *BASE_LEGS]
    # One leg alone is among the configurations that the base tried: the effort is the same.
    alone = Tuning(frozenset(dev), chosen.base.tuning.tried)
    tuning = {BASE: chosen.base.tuning, **{leg: alone for leg in BASE_LEGS if dev}, WITH_GRAPH: chosen.full.tuning}
    arms[GRAPH] = Arm(GRAPH, legs[GRAPH], legs={GRAPH: legs[GRAPH]}, settings=settings)
    arms[WITH_GRAPH] = fused_arm(WITH_GRAPH, chosen.full.fuser, legs, queries, settings)
    name = WITH_GRAPH
    if chosen.challenger.fuser != chosen.full.fuser:
        name = WITH_REACHABLE_GRAPH
        arms[name] = fused_arm(name, chosen.challenger.fuser, legs, queries, settings)
        tuning[name] = chosen.challenger.tuning
    shuffles = []
    for number, shuffled in enumerate(collected.shuffled, start=1):
        others = {**legs, GRAPH: shuffled}
        fuser = choose(chosen.candidates, others, dev, k).fuser
        shuffles.append(fused_arm(shuffle_name(number), fuser, others, queries, settings))
    runs = {each: _dev_run(arms[each], dev) for each in bases}
    if reading:
        for each in [*bases, name]:
            read = reading.arm(arms[each])
            arms[read.name] = read
            tuning |= {read.name: tuning[each]} if each in tuning else {}
        runs |= {reading.name(each): reading.run(runs[each])[0] for each in bases}
        name, bases = reading.name(name), [*map(reading.name, bases), *bases]
        shuffles = [replace(reading.arm(arm), name=arm.name) for arm in shuffles]
    scores = {each: development_score(runs[each], dev, k) for each in bases}
    base = max(bases, key=lambda each: (scores[each], -bases.index(each)))
    rivals = tuple(each for each in bases if each != base) if len(dev) < FEWEST else ()
    made = [prototype_arm(legs, queries, settings)]
    if more:
        made += _families(legs, dev, queries, settings, k, chosen, default)
        if "hops" in lists:
            made.append(fused_arm("hops", chosen.challenger.fuser, {**legs, GRAPH: lists["hops"]}, queries, settings))
        made.append(concept_boost_arm(chosen.challenger.fuser, legs, queries, settings))
        if len(set(collected.importance.values())) > 1:
            made.append(_with_prior(chosen.challenger.fuser, legs, queries, settings, collected.importance))
    arms |= {arm.name: arm for arm in made}
    return Ablation(arms, tuning, name, base, rivals, tuple(shuffles), chosen.base.fuser)


def _dev_run(arm: Arm, dev: Qrels) -> Run:
    """What an arm without the graph returns on the development queries."""
    if arm.fuser_value is None:
        return {query: arm.run.get(query, ()) for query in dev}
    return fused_run(arm.fuser_value, arm.legs, dev)


def _chosen(legs: Mapping[str, Run], dev: Qrels, k: int, default: AnyFuser) -> _Chosen:
    base = choose(base_grid(default), legs, dev, k)
    candidates: Sequence[AnyFuser] = challenger_grid(default, base.fuser)
    full = choose(candidates, legs, dev, k)
    # Reachability takes longer to find out than what a configuration scores: ask it of the best one first.
    if not dev or reachable_fusers([full.fuser], legs, dev, k=k):
        return _Chosen(base, full, full, candidates)
    candidates = reachable_fusers(candidates, legs, dev, k=k) or [default.reweighed(graph=HEAVIEST)]
    return _Chosen(base, full, choose(candidates, legs, dev, k), candidates)


def _families(
    legs: Mapping[str, Run],
    dev: Qrels,
    queries: Sequence[str],
    settings: Mapping[str, Any],
    k: int,
    chosen: _Chosen,
    default: AnyFuser,
) -> list[Arm]:
    """The choice among each kind of fusion on its own: RRF against convex combination, at last measured."""
    arms = []
    for name, kind in FAMILIES.items():
        grid = [fuser for fuser in challenger_grid(default, chosen.base.fuser) if isinstance(fuser, kind)]
        fuser = choose(grid or [kind()], legs, dev, k).fuser
        arms.append(fused_arm(name, fuser, legs, queries, settings))
    arms.append(fused_arm("rrf (equal weights)", RRF(), legs, queries, settings))
    return arms


def _with_prior(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Sequence[str],
    settings: Mapping[str, Any],
    importance: Mapping[str, float],
) -> Arm:
    prior = Importance()
    run = fused_run(fuser, legs, queries, prior=prior, importance=importance)
    return Arm(IMPORTANCE_PRIOR, run, repr(fuser), legs, prior=repr(prior), settings=settings)
