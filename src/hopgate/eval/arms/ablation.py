"""The arms of an ablation, from lists that were collected once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.eval.arms.choose import Choice, choose, development_score, reachable_fusers
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.controls import concept_boost_arm, prototype_arm, shuffled_arm
from hopgate.eval.arms.fused_runs import fused_arm, fused_run
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import BASE_LEGS, GRAPH, LEGS, Arm, Tuning
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, Importance, StretchedRRF, parse

BASE = "lexical+dense"
WITH_GRAPH = "lexical+dense+graph"
WITH_REACHABLE_GRAPH = "lexical+dense+graph (reachable)"
IMPORTANCE_PRIOR = "importance prior"
FAMILIES: Mapping[str, type[AnyFuser]] = {"rrf": RRF, "tm2c2": TM2C2, "stretched-rrf": StretchedRRF}


@dataclass(frozen=True)
class Ablation:
    """Arms with how they were tuned.

    Parameters
    ----------
    arms : mapping of name to Arm
    tuning : mapping of arm name to Tuning
    challenger : str
        The arm that a verdict is about.
    base : fuser
        The tuned configuration without the graph.
    """

    arms: Mapping[str, Arm]
    tuning: Mapping[str, Tuning]
    challenger: str
    base: AnyFuser

    @property
    def fuser(self) -> AnyFuser:
        """The challenger's fuser."""
        return parse(self.arms[self.challenger].fuser)


def ablate(
    collected: Collected, dev: Qrels, reported: Iterable[str], *, k: int, settings: Mapping[str, Any], more: bool
) -> Ablation:
    """Choose configurations on `dev` and fuse the reported queries with them.

    The arm with all legs is the best on the development queries, even where that is to give the graph next to no
    weight. A verdict needs a graph that could have reached the top k: where the best choice bars it, the challenger is
    the best choice that does not, so that a useless graph comes out as closed and not as untested.

    Parameters
    ----------
    collected : Collected
        Lists of the legs, and of the graph leg on a shuffled graph.
    dev : Qrels
        The development queries; without any, default configurations are taken.
    reported : iterable of str
        The queries that are reported.
    settings : mapping
        Written beside every arm.
    more : bool
        Whether to add the arms beyond those that a verdict needs.
    """
    lists, queries = collected.lists, list(reported)
    legs = {leg: lists[leg] for leg in LEGS}
    base, full, challenger = _chosen(legs, dev, k)
    arms = {leg: Arm(leg, legs[leg], legs={leg: legs[leg]}, settings=settings) for leg in BASE_LEGS}
    arms[BASE] = fused_arm(BASE, base.fuser, legs, queries, settings)
    arms[GRAPH] = Arm(GRAPH, legs[GRAPH], legs={GRAPH: legs[GRAPH]}, settings=settings)
    arms[WITH_GRAPH] = fused_arm(WITH_GRAPH, full.fuser, legs, queries, settings)
    tuning = {BASE: base.tuning, WITH_GRAPH: full.tuning}
    name = WITH_GRAPH
    if challenger.fuser != full.fuser:
        name = WITH_REACHABLE_GRAPH
        arms[name] = fused_arm(name, challenger.fuser, legs, queries, settings)
        tuning[name] = challenger.tuning
    made = [
        shuffled_arm(challenger.fuser, legs, lists["shuffled"], queries, settings),
        prototype_arm(legs, queries, settings),
    ]
    if more:
        made += _families(legs, dev, queries, settings, k, base)
        if "hops" in lists:
            made.append(fused_arm("hops", challenger.fuser, {**legs, GRAPH: lists["hops"]}, queries, settings))
        made.append(concept_boost_arm(challenger.fuser, legs, queries, settings))
        if len(set(collected.importance.values())) > 1:
            made.append(_with_prior(challenger.fuser, legs, queries, settings, collected.importance))
    arms |= {arm.name: arm for arm in made}
    return Ablation(arms, tuning, name, base.fuser)


def graph_is_better(legs: Mapping[str, Run], base: AnyFuser, dev: Qrels, k: int) -> bool:
    """Whether the graph leg alone scores as well on the development queries as the tuned base."""
    return development_score(legs[GRAPH], dev, k) >= development_score(fused_run(base, legs, dev), dev, k)


def _chosen(legs: Mapping[str, Run], dev: Qrels, k: int) -> tuple[Choice, Choice, Choice]:
    """The base, the best with the graph, and the best in which the graph is reachable."""
    if not dev:
        untuned = Choice(RRF(), Tuning())
        return Choice(RRF(graph=0), Tuning()), untuned, untuned
    base = choose(base_grid(), legs, dev, k)
    candidates = challenger_grid(base.fuser)
    prefer_graph = graph_is_better(legs, base.fuser, dev, k)
    full = choose(candidates, legs, dev, k, prefer_graph=prefer_graph)
    # Reachability takes longer to find out than what a configuration scores: ask it of the best one first.
    if reachable_fusers([full.fuser], legs, dev, k=k):
        return base, full, full
    reachable = reachable_fusers(candidates, legs, dev, k=k) or [RRF(graph=5)]
    return base, full, choose(reachable, legs, dev, k, prefer_graph=prefer_graph)


def _families(
    legs: Mapping[str, Run], dev: Qrels, queries: Sequence[str], settings: Mapping[str, Any], k: int, base: Choice
) -> list[Arm]:
    """The best of each kind of fusion on its own: RRF against convex combination, at last measured."""
    prefer_graph = bool(dev) and graph_is_better(legs, base.fuser, dev, k)
    arms = []
    for name, kind in FAMILIES.items():
        fuser: AnyFuser = kind()
        if dev:
            grid = [fuser for fuser in challenger_grid(base.fuser) if isinstance(fuser, kind)]
            fuser = choose(grid, legs, dev, k, prefer_graph=prefer_graph).fuser
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
