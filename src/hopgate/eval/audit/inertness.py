"""(2) How often the graph changed the top k."""

from __future__ import annotations

from typing import Any

from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.data.runs import Run, ordered

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
    runs = _tops(case)
    for query in case.evidence.qrels:
        with_graph, without = (ordered(run.get(query, ())) for run in runs)
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


def _tops(case: Case) -> tuple[Run, Run]:
    """The challenger's run, and what it would be without the graph leg."""
    arm = case.evidence.challenger_arm
    if arm.fuser_value is None:
        return arm.run, case.evidence.base_arm.run
    lists, queries = arm.leg_lists(case.evidence.importance), case.evidence.qrels
    without = fused_run(arm.fuser_value.reweighed(graph=0), lists, queries)
    return fused_run(arm.fuser_value, lists, queries), without
