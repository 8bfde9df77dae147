"""(9) The base was tuned with the same effort as the challenger."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed
from hopgate.eval.gate.evidence import Tuning

NAME = "fairness"


def fairness(case: Case) -> Check:
    """Compare how many configurations each arm tried, and on which queries."""
    tuning = case.evidence.tuning
    ours, theirs = (tuning.get(name, Tuning()) for name in (case.evidence.challenger, case.evidence.base))
    mine, base = len(ours.tried), len(theirs.tried)
    figures: dict[str, Any] = {"challenger_tried": mine, "base_tried": base}
    if mine <= 1 and base <= 1:
        return passed(NAME, "neither the base nor the challenger was tuned", **figures)
    counts = f"the challenger tried {mine} configurations, the base {base}"
    if base < mine:
        return failed(NAME, f"{counts}: the base must be tuned with the same effort", **figures)
    if ours.queries and ours.queries != theirs.queries:
        return failed(NAME, f"{counts}, but not on the same queries", **figures)
    return passed(NAME, f"{counts}, on the same queries", **figures)
