"""The arms of an ablation, from lists that were collected once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.eval.arms.choose import Chosen, alone, choose
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.arms.tune import fused_run, heard
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import Arm, Tuning
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, Importance, StretchedRRF, active, parse

BASE = "lexical+dense"
WITH_GRAPH = "lexical+dense+graph"
HEARD = "lexical+dense+graph, heard"
CONTROL = "shuffled-graph"
PROTOTYPE = "prototype"
# The prototype's configuration, fact by fact (spec §1): the graph's candidates were those the others had not found.
PROTOTYPE_FUSER = RRF(k=60, lexical=1, dense=1, graph=0.35)


@dataclass(frozen=True)
class Ablation:
    """Arms with how they were tuned; the challenger is the arm a verdict is about."""

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
    """Choose on `dev`, fuse the reported queries.

    The arm with all legs is the best that development queries know, even where that is to hear the graph no more. A
    verdict needs a graph that could be heard: where the best choice bars it, the challenger is the best that does not,
    so that a useless graph comes out as closed and not as untested.
    """
    lists, asked = collected.lists, list(reported)
    legs = {name: lists[name] for name in ("lexical", "dense", "graph")}
    base, full, audible = _chosen(legs, dev, k)
    arms = {name: Arm(name, lists[name], legs={name: legs[name]}, settings=settings) for name in ("lexical", "dense")}
    arms[BASE] = _arm(BASE, base.fuser, legs, asked, settings)
    arms["graph"] = Arm("graph", legs["graph"], legs={"graph": legs["graph"]}, settings=settings)
    arms[WITH_GRAPH] = _arm(WITH_GRAPH, full.fuser, legs, asked, settings)
    tuning = {BASE: base.tuning, WITH_GRAPH: full.tuning}
    challenger = WITH_GRAPH
    if audible.fuser != full.fuser:
        challenger = HEARD
        arms[HEARD] = _arm(HEARD, audible.fuser, legs, asked, settings)
        tuning[HEARD] = audible.tuning
    fuser = audible.fuser
    mixed = {**legs, "graph": lists["shuffled"]}
    arms[CONTROL] = _arm(CONTROL, fuser, mixed, asked, settings)
    arms[PROTOTYPE] = prototype(legs, asked, settings)
    if more:
        lean = bool(dev) and alone(legs["graph"], dev, k) >= base.tuning.tried[repr(base.fuser)]
        arms |= _families(legs, dev, asked, settings, k, base=base.fuser, lean=lean)
        if "hops" in lists:
            arms["hops"] = _arm("hops", fuser, {**legs, "graph": lists["hops"]}, asked, settings)
        arms["concept-boost"] = _boost(fuser, legs, asked, settings)
        if len(set(collected.importance.values())) > 1:
            arms["importance prior"] = _with_prior(fuser, legs, asked, settings, collected.importance)
    return Ablation(arms, tuning, challenger, base.fuser)


def prototype(legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]) -> Arm:
    """The earlier prototype's configuration: the graph's candidates without what the others found, at weight 0.35."""
    outside = _filtered(legs, queries, inside=False)
    made = {**legs, "graph": outside}
    run = fused_run(PROTOTYPE_FUSER, made, queries)
    return Arm(PROTOTYPE, run, repr(PROTOTYPE_FUSER), made, {"graph": legs["graph"]}, settings=settings)


def _chosen(legs: Mapping[str, Run], dev: Qrels, k: int) -> tuple[Chosen, Chosen, Chosen]:
    """The base, the best with the graph, and the best in which the graph can be heard."""
    if not dev:
        plain = Tuning()
        fixed = Chosen(RRF(), plain)
        return Chosen(RRF(graph=0), plain), fixed, fixed
    base = choose(base_grid(), legs, dev, k)
    candidates = challenger_grid(base.fuser)
    lean = alone(legs["graph"], dev, k) >= base.tuning.tried[repr(base.fuser)]
    full = choose(candidates, legs, dev, k, lean_to_graph=lean)
    # Whether a graph can be heard takes longer to find out than what a configuration scores: ask for one first.
    if heard([full.fuser], legs, dev, k=k):
        return base, full, full
    audible = heard(candidates, legs, dev, k=k) or [RRF(graph=5)]
    return base, full, choose(audible, legs, dev, k, lean_to_graph=lean)


def _families(
    legs: Mapping[str, Run],
    dev: Qrels,
    asked: Sequence[str],
    settings: Mapping[str, Any],
    k: int,
    *,
    base: AnyFuser,
    lean: bool,
) -> dict[str, Arm]:
    """The best of each kind of fusion on its own: RRF against convex combination, at last measured."""
    kinds: dict[str, type[AnyFuser]] = {"rrf": RRF, "tm2c2": TM2C2, "stretched-rrf": StretchedRRF}
    made = {}
    for name, kind in kinds.items():
        grid = [fuser for fuser in challenger_grid(base) if isinstance(fuser, kind)]
        fuser = choose(grid, legs, dev, k, lean_to_graph=lean).fuser if dev else kind()
        made[name] = _arm(name, fuser, legs, asked, settings)
    made["rrf, equal weights"] = _arm("rrf, equal weights", RRF(), legs, asked, settings)
    return made


def _boost(fuser: AnyFuser, legs: Mapping[str, Run], asked: Sequence[str], settings: Mapping[str, Any]) -> Arm:
    """A graph that may only re-rank what the others found: how much of the gain is that."""
    made = {**legs, "graph": _filtered(legs, asked, inside=True)}
    run = fused_run(fuser, made, asked)
    return Arm("concept-boost", run, repr(fuser), made, {"graph": legs["graph"]}, settings=settings)


def _with_prior(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    asked: Sequence[str],
    settings: Mapping[str, Any],
    importance: Mapping[str, float],
) -> Arm:
    prior = Importance()
    run = fused_run(fuser, legs, asked, prior=prior, importance=importance)
    return Arm("importance prior", run, repr(fuser), legs, prior=repr(prior), settings=settings)


def _arm(name: str, fuser: AnyFuser, legs: Mapping[str, Run], asked: Sequence[str], settings: Mapping[str, Any]) -> Arm:
    on = {leg: legs[leg] for leg in active(fuser) if leg in legs}
    return Arm(name, fused_run(fuser, legs, asked), repr(fuser), on, settings=settings)


def _filtered(legs: Mapping[str, Run], queries: Sequence[str], *, inside: bool) -> dict[str, list[tuple[str, float]]]:
    """The graph's list with only what the base legs found too, or only what they did not."""
    kept = {}
    for query in queries:
        base = {name for leg in ("lexical", "dense") for name, _ in legs[leg].get(query, ())}
        kept[query] = [hit for hit in legs["graph"].get(query, ()) if (hit[0] in base) is inside]
    return kept
