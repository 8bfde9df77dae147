"""The further arms of a full ablation: questions that the prototype left open, each answered by an arm of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.eval.arms.ablation import WITH_GRAPH
from hopgate.eval.arms.choose import choose
from hopgate.eval.arms.fused_runs import fused_arm, leg_arm
from hopgate.eval.arms.grid import challenger_grid
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels
from hopgate.eval.gate.evidence import GRAPH, LEGS, Arm
from hopgate.recall.fuse import RRF, AnyFuser, ExactMatch, active

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

KS = (10, 20, 40, 60, 80, 100)


def swept_k(fuser: AnyFuser, lists: LegLists, queries: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Arm]:
    """RRF at several k with the challenger's weights: k = 60 had never been swept."""
    arms = {}
    for k in KS:
        name, rrf = f"rrf (k={k})", RRF(k=k).reweighed(**{leg: fuser.weights[leg] for leg in LEGS})
        arms[name] = fused_arm(name, rrf, lists, queries, settings)
    return arms


def exact_match(
    fuser: AnyFuser,
    lists: LegLists,
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
        pool = {memory for leg in active(fuser) for memory, _ in lists.found_by(leg).get(query.id, ())}
        matched[query.id] = sorted(kb.exact_matches(query.text, sorted(pool)))
    names = [query.id for query in asked]
    return fused_arm("exact-match bonus", fuser, lists, names, settings, bonus=repr(ExactMatch(bonus)), matched=matched)


def no_model(
    lists: LegLists,
    dev: Qrels,
    queries: Sequence[str],
    base: AnyFuser,
    settings: Mapping[str, Any],
    k: int,
    default: AnyFuser,
) -> dict[str, Arm]:
    """The graph that rules alone make, in the place of the one from triples, tuned alike."""
    settings = {**settings, "graph": "phrases"}
    fuser = choose(challenger_grid(default, base), lists, dev, k).fuser
    reported = lists.only(queries, LEGS)
    alone = leg_arm("graph (no model)", GRAPH, reported, settings)
    fused = fused_arm(f"{WITH_GRAPH} (no model)", fuser, reported, queries, settings)
    return {alone.name: alone, fused.name: fused}
