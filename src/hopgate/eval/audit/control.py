"""(10) The graph beats a degree-preserving shuffle of itself: what helps is its structure."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case, beats
from hopgate.eval.audit.check import Check, failed, passed, skipped

NAME = "control"


def control(case: Case) -> Check:
    """Compare the challenger with itself on a shuffled graph; only a gain needs explaining."""
    if not case.gains:
        return skipped(NAME, "the challenger does not beat the base, so there is no gain whose cause is in question")
    claim = case.control
    if claim is None:
        return failed(NAME, "there is no arm with a shuffled graph, so the gain may be a re-weighted base leg")
    low, high = claim.interval
    detail = (
        f"against its shuffled graph the challenger scores {claim.difference:+.3f} at {claim.measure} "
        f"({low:+.3f} to {high:+.3f}, corrected p {claim.p_holm:.4f})"
    )
    figures: dict[str, Any] = {"difference": claim.difference, "interval": [low, high], "p_holm": claim.p_holm}
    if beats(claim, case.evidence.policy.alpha):
        return passed(NAME, detail, **figures)
    # Half of the gain over the base at most: the shuffle explains the rest, and more queries would not change that.
    if claim.difference <= case.primary.difference / 2:
        return failed(NAME, f"{detail}: most of the gain does not come from the graph's structure", **figures)
    return failed(NAME, f"{detail}: too few queries to tell them apart", undecided=True, **figures)
