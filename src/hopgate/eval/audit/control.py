"""(10) The graph stands above degree-preserving shuffles of itself, each tuned like it: what helps is its structure."""

from __future__ import annotations

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.statistics import ControlOutcome

NAME = "control"


def control(case: Case) -> Check:
    """Ask where the challenger stands among its shuffles; only a gain needs explaining."""
    if not case.gains:
        return skipped(NAME, "no gain over the base is shown, so there is none whose cause is in question")
    found = case.among
    if found is None:
        return failed(NAME, "there is no shuffled graph to compare with, so the gain may be a re-weighted base leg")
    low, high = found.interval
    detail = (
        f"the graph is number {found.place} of {found.shuffles + 1} among its shuffles, each tuned like it (p "
        f"{found.p:.3f}), and scores {found.difference:+.3f} over their mean at {case.primary.measure} ({low:+.3f} to "
        f"{high:+.3f})"
    )
    if found.outcome is ControlOutcome.PASSES:
        return passed(NAME, detail, **found.to_dict())
    if found.outcome is ControlOutcome.FAILS:
        return failed(NAME, f"{detail}: the gain does not come from the graph's structure", **found.to_dict())
    fewest = round(1 / case.evidence.policy.rank_level)
    why = (
        f"fewer than {fewest - 1} shuffles can never show more"
        if found.shuffles < fewest - 1
        else "too little to tell them apart"
    )
    return failed(NAME, f"{detail}: {why}", undecided=True, **found.to_dict())
