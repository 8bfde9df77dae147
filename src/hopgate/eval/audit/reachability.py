"""(1) Whether a graph-only candidate could reach the top k, by bound and on the queries' actual lists."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.data.runs import ordered
from hopgate.eval.gate.evidence import GRAPH
from hopgate.recall.reach import bound, on_lists
from hopgate.recall.reach.needed import in_words

NAME = "reachability"


def reachability(case: Case) -> Check:
    """Prove that the challenger's fusion lets a graph-only candidate in, or show that it cannot."""
    arm, k = case.evidence.subject, case.evidence.k
    if GRAPH not in arm.legs:
        return failed(NAME, f"{arm.name!r} comes without the lists of its graph leg: nothing proves it was heard")
    if not arm.listens_to_graph:
        return skipped(NAME, "the configuration chosen gives the graph leg weight 0: it claims nothing for the graph")
    entered = _entered(case)
    if arm.fusing is None:
        return _by_runs(case, entered)
    by_bound = bound(arm.fusing, k=k, depths=_depths(case), prior=arm.importance)
    lists = {query: arm.lists(query) for query in case.evidence.qrels}
    seen = on_lists(arm.fusing, lists, k=k, prior=arm.importance, importance=case.evidence.importance)
    total, wanted = len(lists), case.evidence.policy.reachable
    figures: dict[str, Any] = {
        "bound": by_bound.to_dict(),
        "lists": seen.to_dict(),
        "queries": total,
        "could_enter": seen.entering,
        "did_enter": entered,
    }
    detail = (
        f"by bound, the graph weight needed in {arm.fusing!r} is {in_words(by_bound.favourable.best)} at best; on the "
        f"actual lists a graph-only memory could enter the top {k} on {seen.entering} of {total} queries and did on "
        f"{entered}"
    )
    if seen.entering < max(1, wanted * total):
        return failed(NAME, f"{detail}: at this weight the graph leg cannot be heard", **figures)
    return passed(NAME, detail, **figures)


def _by_runs(case: Case, entered: int) -> Check:
    total = len(case.evidence.qrels)
    detail = f"a graph-only memory entered the top {case.evidence.k} on {entered} of {total} queries"
    alone = set(case.evidence.subject.legs) == {GRAPH}
    if entered or alone or not any(case.graph_only.values()):
        return passed(NAME, detail, did_enter=entered, queries=total)
    return failed(NAME, f"{detail}, though the graph leg found some: nothing shows that it could", did_enter=0)


def _entered(case: Case) -> int:
    run, k = case.evidence.subject.run, case.evidence.k
    return sum(not only.isdisjoint(ordered(run.get(query, ()))[:k]) for query, only in case.graph_only.items())


def _depths(case: Case) -> dict[str, int]:
    legs = case.evidence.subject.legs
    return {leg: max((len(ranking) for ranking in run.values()), default=0) for leg, run in legs.items()}
