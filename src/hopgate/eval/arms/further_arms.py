"""The further arms of a full ablation: questions that the prototype left open, each answered by an arm of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.eval.arms.ablation import WITH_GRAPH
from hopgate.eval.arms.choose import choose
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.grid import challenger_grid
from hopgate.eval.data.queries import Query
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import GRAPH, LEGS, Arm
from hopgate.recall.fuse import RRF, AnyFuser, ExactMatch, active

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

KS = (10, 20, 40, 60, 80, 100)


def swept_k(
    fuser: AnyFuser, legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, Arm]:
    """RRF at several k with the challenger's weights: k = 60 had never been swept."""
    arms = {}
    for k in KS:
        name, rrf = f"rrf (k={k})", RRF(k=k).reweighed(**{leg: fuser.weights[leg] for leg in LEGS})
        arms[name] = Arm(name, fused_run(rrf, legs, queries), repr(rrf), legs, settings=settings)
    return arms


def exact_match(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Iterable[Query],
    kb: KnowledgeBase,
    settings: Mapping[str, Any],
    bonus: float = 0.5,
) -> Arm:
    """The exact-match bonus on top of the challenger: proposed to win back what RRF cost the exact stratum.

    Which memories match is what recall in this store would say.
    """
    asked = list(queries)
    matched = {}
    for query in asked:
        pool = {memory for leg in active(fuser) for memory, _ in legs[leg].get(query.id, ())}
        matched[query.id] = sorted(kb.exact_matches(query.text, sorted(pool)))
    value = ExactMatch(bonus)
    run = fused_run(fuser, legs, [query.id for query in asked], bonus=value, matched=matched)
    return Arm("exact-match bonus", run, repr(fuser), legs, bonus=repr(value), matched=matched, settings=settings)


def no_model(
    lists: Mapping[str, Run],
    dev: Qrels,
    queries: Sequence[str],
    base: AnyFuser,
    settings: Mapping[str, Any],
    k: int,
    default: AnyFuser,
) -> dict[str, Arm]:
    """The graph that rules alone make, in the place of the one from triples, tuned alike."""
    legs = {"lexical": lists["lexical"], "dense": lists["dense"], GRAPH: lists["no-model"]}
    settings = {**settings, "graph": "phrases"}
    fuser = choose(challenger_grid(default, base), legs, dev, k).fuser
    alone = Arm("graph (no model)", legs[GRAPH], legs={GRAPH: legs[GRAPH]}, settings=settings)
    name = f"{WITH_GRAPH} (no model)"
    fused = Arm(name, fused_run(fuser, legs, queries), repr(fuser), legs, settings=settings)
    return {alone.name: alone, fused.name: fused}
