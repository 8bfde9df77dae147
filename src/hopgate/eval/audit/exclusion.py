"""(3) No candidate is filtered from the pool by leg."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.gate.evidence import GRAPH

NAME = "exclusion"
# A graph leg that by chance alone should have met the other legs this often and never did was kept apart from them:
# with 5 meetings expected, none happens once in e^5 ≈ 150 times, and related lists meet more often than chance.
EXPECTED = 5.0


def exclusion(case: Case) -> Check:
    """Compare what every leg found with what fusion got, and look for a graph leg that never meets the others."""
    arm = case.evidence.subject
    if not arm.legs:
        return skipped(NAME, "no lists of legs were given, and none was fused")
    dropped: dict[str, int] = {}
    hit = 0
    for query in case.evidence.qrels:
        lost = {
            leg: len(arm.as_found(leg, query) - {name for name, _ in arm.legs.get(leg, {}).get(query, ())})
            for leg in arm.found
        }
        hit += any(lost.values())
        for leg, count in lost.items():
            dropped[leg] = dropped.get(leg, 0) + count
    dropped = {leg: count for leg, count in dropped.items() if count}
    total = len(case.evidence.qrels)
    if dropped:
        what = ", ".join(f"{count:,} of the {leg} leg" for leg, count in dropped.items())
        return failed(
            NAME,
            f"candidates were found and kept out of fusion on {hit} of {total} queries: {what}",
            dropped=dropped,
            queries_hit=hit,
        )
    met, expected = _meetings(case)
    figures: dict[str, Any] = {"met": met, "expected_by_chance": round(expected, 2)}
    if met == 0 and expected >= EXPECTED:
        detail = (
            f"on {total} queries the graph leg never returned a memory that another leg found, where chance alone "
            f"would have done so {expected:.0f} times: it was kept apart from them"
        )
        return failed(NAME, detail, **figures)
    detail = f"every candidate that a leg found was fused; the graph leg met the others {met:,} times"
    return passed(NAME, detail, **figures)


def _meetings(case: Case) -> tuple[int, float]:
    """Ids that the graph leg shares with the others, and how many chance would give in a corpus of that size."""
    arm = case.evidence.subject
    met, expected = 0, 0.0
    for query in case.evidence.qrels:
        graph = arm.as_found(GRAPH, query)
        others = set().union(*(arm.as_found(leg, query) for leg in arm.legs if leg != GRAPH))
        met += len(graph & others)
        if case.evidence.corpus_size:
            expected += len(graph) * len(others) / case.evidence.corpus_size
    return met, expected
