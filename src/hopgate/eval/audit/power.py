"""(7) Whether the queries could have shown an effect worth having."""

from __future__ import annotations

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed

NAME = "power"


def power(case: Case) -> Check:
    """Pass where the primary comparison is decided either way, or could have shown a worthwhile effect."""
    claim, policy = case.primary, case.evidence.policy
    figures = {"queries": claim.n, "detectable": claim.detectable, "worthwhile": policy.worthwhile}
    found = f"{claim.detectable:.3f} at {claim.measure}"
    shown = f"with {claim.n} queries a difference of {found} would be found four times in five"
    low, high = claim.interval
    if case.gains or case.worthwhile_excluded:
        excluded = f"below the worthwhile {policy.worthwhile:g} (to {high:.3f})"
        side = excluded if case.worthwhile_excluded else f"above 0 (from {low:.3f})"
        return passed(NAME, f"{shown}, and the interval lies {side}", **figures)
    if claim.detectable <= policy.worthwhile:
        return passed(NAME, f"{shown}, which is less than the worthwhile {policy.worthwhile:g}", **figures)
    effect = max(policy.worthwhile, claim.difference)
    needed = max(claim.n + 1, claim.needed(effect))
    detail = f"{shown}; about {needed:,} queries are needed to find {effect:.3f}"
    return failed(NAME, detail, undecided=True, needed=needed, **figures)
