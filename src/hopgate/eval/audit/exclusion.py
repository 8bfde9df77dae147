"""(3) No candidate is filtered from the pool by leg."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.gate.evidence import GRAPH

NAME = "exclusion"
# A graph leg that shares no id with the other legs, where chance alone would share this many, was kept apart from them:
# with 5 expected, none happens once in e^5 ≈ 150 times, and related lists share more ids than chance.
EXPECTED_SHARED = 5.0


def exclusion(case: Case) -> Check:
    """Compare what every leg found with what fusion got, and look for a graph leg that shares no id with the others."""
    arm = case.evidence.challenger_arm
    if not arm.legs:
        return skipped(NAME, "no lists of legs were given, and none was fused")
    dropped: dict[str, int] = {}
    queries_hit = 0
    for query in case.evidence.qrels:
        lost = {
            leg: len(arm.found_ids(leg, query) - {memory for memory, _ in arm.legs.get(leg, {}).get(query, ())})
            for leg in arm.found
        }
        queries_hit += any(lost.values())
        for leg, count in lost.items():
            dropped[leg] = dropped.get(leg, 0) + count
    dropped = {leg: count for leg, count in dropped.items() if count}
    total = len(case.evidence.qrels)
    if dropped:
        what = ", ".join(f"{count:,} of the {leg} leg" for leg, count in dropped.items())
        return failed(
            NAME,
            f"candidates were found and kept out of fusion on {queries_hit} of {total} queries: {what}",
            dropped=dropped,
            queries_hit=queries_hit,
        )
    shared, expected = _shared_ids(case)
    figures: dict[str, Any] = {"shared": shared, "expected_by_chance": round(expected, 2)}
    if shared == 0 and expected >= EXPECTED_SHARED:
        detail = (
            f"on {total} queries the graph leg never returned a memory that another leg found, where chance alone "
            f"would have done so {expected:.0f} times: it was kept apart from them"
        )
        return failed(NAME, detail, **figures)
    detail = f"every candidate that a leg found was fused; {shared:,} of the graph leg's were found by others too"
    return passed(NAME, detail, **figures)


def _shared_ids(case: Case) -> tuple[int, float]:
    """Ids that the graph leg shares with the others, and how many chance would give in a corpus of that size."""
    arm = case.evidence.challenger_arm
    shared, expected = 0, 0.0
    for query in case.evidence.qrels:
        graph, others = arm.found_ids(GRAPH, query), arm.found_by_others(GRAPH, query)
        shared += len(graph & others)
        if case.evidence.corpus_size:
            expected += len(graph) * len(others) / case.evidence.corpus_size
    return shared, expected
