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
    arm, k = case.evidence.challenger_arm, case.evidence.k
    if not arm.uses_graph:
        return skipped(
            NAME, "the configuration chosen gives the graph leg weight 0, so it cannot be expected to change the top k"
        )
    if not case.queries_with_graph_hits:
        return skipped(NAME, "the graph leg found nothing on any query, so it had nothing to change the top k with")
    moved = swapped = 0
    for query in case.evidence.qrels:
        with_graph, without = _tops(case, query)
        moved += with_graph[:k] != without[:k]
        swapped += set(with_graph[:k]) != set(without[:k])
    total = len(case.evidence.qrels)
    detail = (
        f"the graph leg found something on {case.queries_with_graph_hits} of {total} queries, changed the top {k} on "
        f"{moved} and its members on {swapped}"
    )
    figures: dict[str, Any] = {
        "queries": total,
        "with_graph_hits": case.queries_with_graph_hits,
        "changed": moved,
        "swapped": swapped,
    }
    return passed(NAME, detail, **figures) if moved else failed(NAME, f"{detail}: it has no effect at all", **figures)


def _tops(case: Case, query: str) -> tuple[list[str], list[str]]:
    arm = case.evidence.challenger_arm
    if arm.fuser_value is None:
        return ordered(arm.run.get(query, ())), ordered(case.evidence.base_arm.run.get(query, ()))
    lists = arm.lists(query)
    importance = dict(case.evidence.importance)
    tops = []
    for legs in (lists, {leg: ranking for leg, ranking in lists.items() if leg != GRAPH}):
        hits = arm.fuser_value.fuse(legs)
        tops.append([hit.id for hit in (arm.prior_value.apply(hits, importance) if arm.prior_value else hits)])
    return tops[0], tops[1]
