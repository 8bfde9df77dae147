"""(1) Whether what one leg alone finds could reach the top k, for every leg, by bound and on the actual lists."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.data.runs import ordered
from hopgate.eval.gate.evidence import GRAPH
from hopgate.recall.fuse import AnyFuser, active
from hopgate.recall.reach import ListReach, bound, on_lists
from hopgate.recall.reach.needed_weight import in_words

NAME = "reachability"


def reachability(case: Case) -> Check:
    """Prove that the challenger's fusion lets a graph-only candidate in, or show that it cannot.

    The other legs are reported as well: a graph that bars one of them hides what only that leg could see.
    """
    arm, k = case.evidence.challenger_arm, case.evidence.k
    if GRAPH not in arm.legs:
        return failed(
            NAME, f"{arm.name!r} comes without its graph leg's lists: nothing proves they could reach the top {k}"
        )
    if not arm.uses_graph:
        return skipped(NAME, "the configuration chosen gives the graph leg weight 0: it claims nothing for the graph")
    entered = _entered(case)
    fuser = arm.fuser_value
    if fuser is None:
        return _by_runs(case, entered)
    by_bound = bound(fuser, k=k, depths=_depths(case), prior=arm.prior_value)
    on_queries = _without(case, fuser, GRAPH)
    total, wanted = len(case.evidence.qrels), case.evidence.policy.reachable
    figures: dict[str, Any] = {
        "bound": by_bound.to_dict(),
        "lists": on_queries.to_dict(),
        "queries": total,
        "could_enter": on_queries.entering,
        "did_enter": entered,
        "legs": {GRAPH: {"verdict": on_queries.verdict.value, "could_enter": on_queries.entering}},
    }
    others = []
    for leg in active(fuser):
        if leg == GRAPH or leg not in arm.legs:
            continue
        found = _without(case, fuser, leg)
        figures["legs"][leg] = {"verdict": found.verdict.value, "could_enter": found.entering}
        others.append(f"{leg} {found.entering}")
    detail = (
        f"by bound, the graph weight needed in {fuser!r} is {in_words(by_bound.favourable.best)} at best; on the "
        f"actual lists a graph-only memory could enter the top {k} on {on_queries.entering} of {total} queries and did "
        f"on {entered}"
    )
    if others:
        detail += f" (a memory of another leg alone could on: {', '.join(others)})"
    if on_queries.entering < max(1, wanted * total):
        return failed(NAME, f"{detail}: at this weight the graph leg is barred", **figures)
    return passed(NAME, detail, **figures)


def _without(case: Case, fuser: AnyFuser, leg: str) -> ListReach:
    """What a leg could do to the others' lists: those that fusion would have got without it."""
    arm = case.evidence.challenger_arm
    lists, names = arm.leg_lists(), [name for name in active(fuser) if name != leg]
    others = {query: lists.of(query, names)[0] for query in case.evidence.qrels}
    return on_lists(
        fuser, others, leg=leg, k=case.evidence.k, prior=arm.prior_value, importance=case.evidence.importance
    )


def _by_runs(case: Case, entered: int) -> Check:
    total = len(case.evidence.qrels)
    detail = f"a graph-only memory entered the top {case.evidence.k} on {entered} of {total} queries"
    alone = set(case.evidence.challenger_arm.legs) == {GRAPH}
    if entered or alone or not any(case.graph_only.values()):
        return passed(NAME, detail, did_enter=entered, queries=total)
    return failed(NAME, f"{detail}, though the graph leg found some: nothing shows that it could", did_enter=0)


def _entered(case: Case) -> int:
    run, k = case.evidence.challenger_arm.run, case.evidence.k
    return sum(not only.isdisjoint(ordered(run.get(query, ()))[:k]) for query, only in case.graph_only.items())


def _depths(case: Case) -> dict[str, int]:
    legs = case.evidence.challenger_arm.legs
    return {leg: max((len(ranking) for ranking in run.values()), default=0) for leg, run in legs.items()}
