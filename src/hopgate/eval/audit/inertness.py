"""(2) How often the graph changed the top k."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.data.runs import ordered
from hopgate.eval.gate.evidence import GRAPH

NAME = "inertness"


def inertness(case: Case) -> Check:
    """Fuse again without the graph leg and count what changes; without a known fuser, compare with the base arm."""
    arm, k = case.evidence.subject, case.evidence.k
    if not arm.listens_to_graph:
        return skipped(NAME, "the configuration chosen gives the graph leg weight 0, so there is nothing to be inert")
    if not case.graph_speaks:
        return skipped(NAME, "the graph leg found nothing on any query, so there was nothing to change the top k with")
    moved = swapped = 0
    for query in case.evidence.qrels:
        with_graph, without = _tops(case, query)
        moved += with_graph[:k] != without[:k]
        swapped += set(with_graph[:k]) != set(without[:k])
    total = len(case.evidence.qrels)
    detail = (
        f"the graph leg found something on {case.graph_speaks} of {total} queries, changed the top {k} on {moved} and "
        f"its members on {swapped}"
    )
    figures: dict[str, Any] = {
        "queries": total,
        "spoke": case.graph_speaks,
        "changed": moved,
        "swapped": swapped,
    }
    return passed(NAME, detail, **figures) if moved else failed(NAME, f"{detail}: it has no effect at all", **figures)


def _tops(case: Case, query: str) -> tuple[list[str], list[str]]:
    arm = case.evidence.subject
    if arm.fusing is None:
        base = case.evidence.arms[case.evidence.base]
        return ordered(arm.run.get(query, ())), ordered(base.run.get(query, ()))
    lists = arm.lists(query)
    importance = dict(case.evidence.importance)
    tops = []
    for legs in (lists, {leg: ranking for leg, ranking in lists.items() if leg != GRAPH}):
        hits = arm.fusing.fuse(legs)
        tops.append([hit.id for hit in (arm.importance.apply(hits, importance) if arm.importance else hits)])
    return tops[0], tops[1]
