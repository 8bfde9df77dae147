"""OPEN, CLOSED, INCONCLUSIVE or INVALID, with one paragraph a person can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hopgate.eval.audit import Case, Check, Status
from hopgate.eval.gate.compare import Comparison
from hopgate.eval.gate.plan import Policy

# A mean loss on fewer queries than this, whose interval still holds 0, is noise more often than harm.
MIN_QUERIES_FOR_HARM = 30


class Verdict(StrEnum):
    """The four verdicts."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


@dataclass(frozen=True)
class GateDecision:
    """The decision of the gate.

    Parameters
    ----------
    verdict : Verdict
    reason : str
        One paragraph: what was found, and what to do.
    chosen : str
        The recommended configuration: the challenger's where the gate opens, else the base's.
    failed : tuple of str
        The checks that make it invalid or inconclusive.
    queries_needed : int, optional
        For an inconclusive verdict.
    """

    verdict: Verdict
    reason: str
    chosen: str
    failed: tuple[str, ...] = ()
    queries_needed: int | None = None


def decide(case: Case, checks: Sequence[Check]) -> GateDecision:
    """Weigh the audit first, then the claim, then what it costs elsewhere."""
    base = case.evidence.base_arm.configuration
    invalid = [check for check in checks if check.status is Status.FAIL and not check.undecided]
    undecided = [check for check in checks if check.status is Status.FAIL and check.undecided]
    if invalid:
        return _invalid(invalid, base)
    claim, policy = case.primary, case.evidence.policy
    shown, possible = harms(case.comparisons, policy)
    if claim.n >= policy.fewest and not case.gains and claim.interval[1] < policy.worthwhile:
        return _closed(case, base)
    if case.gains and shown and claim.n >= policy.fewest:
        return _harmful(claim, shown, policy, base)
    if undecided or not case.gains:
        return _inconclusive(case, undecided, base)
    return _possibly_harmful(claim, possible, policy, base) if possible else _open(case, checks)


def harms(comparisons: Sequence[Comparison], policy: Policy) -> tuple[list[Comparison], list[Comparison]]:
    """Give the losses beyond the margin: those that are shown, and those that enough queries cannot exclude."""
    losses = [c for c in comparisons if c.role == "harm" and c.difference < -policy.harm]
    shown = [loss for loss in losses if loss.interval[1] < 0 and loss.n >= policy.fewest]
    return shown, [loss for loss in losses if loss not in shown and loss.n >= MIN_QUERIES_FOR_HARM]


def _invalid(failed: Sequence[Check], base: str) -> GateDecision:
    names = " and ".join(", ".join(check.name for check in failed).rsplit(", ", 1))
    what = " ".join(f"{check.name.capitalize()}: {check.detail}." for check in failed)
    reason = (
        f"This test cannot say whether the graph helps: it fails {names}. {what} Correct what is named and run it "
        f"again; until then its figures mean nothing for or against the graph."
    )
    return GateDecision(Verdict.INVALID, reason, base, tuple(check.name for check in failed))


def _harmful(claim: Comparison, shown: Sequence[Comparison], policy: Policy, base: str) -> GateDecision:
    cost = "; ".join(map(_in_words, shown))
    reason = (
        f"The graph helps and harms: {_in_words(claim)}, but {cost}, which is more than the {policy.harm:g} that is "
        f"accepted. Keep the gate closed, or use the graph only for the queries it helps."
    )
    return GateDecision(Verdict.CLOSED, reason, base, ("harm",))


def _possibly_harmful(claim: Comparison, possible: Sequence[Comparison], policy: Policy, base: str) -> GateDecision:
    cost = "; ".join(map(_in_words, possible))
    needed = max(loss.needed(policy.harm) for loss in possible)
    reason = (
        f"The graph helps ({_in_words(claim)}), but harm elsewhere cannot be excluded: {cost}. Judge about {needed:,} "
        f"queries before shipping it."
    )
    return GateDecision(Verdict.INCONCLUSIVE, reason, base, ("harm",), needed)


def _closed(case: Case, base: str) -> GateDecision:
    claim, policy = case.primary, case.evidence.policy
    worse = claim.interval[1] < 0
    finding = "makes recall worse" if worse else f"does not bring the {policy.worthwhile:g} that would be worth having"
    reason = (
        f"Validly tested, the graph {finding}: {_in_words(claim)}. Keep the gate closed and recall as it is; re-open "
        f"it only with another graph, walk or kind of query, not with more of the same."
    )
    return GateDecision(Verdict.CLOSED, reason, base)


def _inconclusive(case: Case, undecided: Sequence[Check], base: str) -> GateDecision:
    claim, policy = case.primary, case.evidence.policy
    effect = max(policy.worthwhile, claim.difference)
    needed = max(policy.fewest, claim.needed(effect), claim.n + 1)
    if case.gains and case.control and any(check.name == "control" for check in undecided):
        needed = max(claim.n + 1, case.control.needed(max(case.control.difference, policy.worthwhile)))
    why = " ".join(f"{check.name.capitalize()}: {check.detail}." for check in undecided)
    reason = (
        f"The test is valid but cannot decide: {_in_words(claim)}. {why} Judge about {needed:,} queries of this kind "
        f"(there are {claim.n}) and run it again; leave recall as it is until then."
    )
    return GateDecision(Verdict.INCONCLUSIVE, reason.replace("  ", " "), base, tuple(c.name for c in undecided), needed)


def _open(case: Case, checks: Sequence[Check]) -> GateDecision:
    arm, control = case.evidence.challenger_arm, case.control
    against = f" and beats its shuffled graph by {control.difference:.3f}" if control else ""
    passed = sum(check.status is Status.PASS for check in checks)
    margin = case.evidence.policy.harm
    low = [c for c in case.comparisons if c.role == "harm" and c.difference < -margin]
    few = ", ".join(f"{c.measure} on {c.slice} ({c.difference:+.3f}, {c.n} queries)" for c in low)
    watch = f" Watch what so few queries cannot tell: {few}." if low else ""
    reason = (
        f"The graph helps: {_in_words(case.primary)}{against}. {passed} of {len(checks)} checks pass and none fails; "
        f"no declared measure or slice is shown to lose more than {margin:g}.{watch} Ship {arm.name} as configured "
        f"here: {arm.configuration}."
    )
    return GateDecision(Verdict.OPEN, reason, arm.configuration)


def _in_words(comparison: Comparison) -> str:
    low, high = comparison.interval
    ours, theirs = comparison.values
    part = "" if comparison.slice == "all" else f" on {comparison.slice}"
    return (
        f"{comparison.measure}{part} is {ours:.3f} with {comparison.challenger} against {theirs:.3f} with "
        f"{comparison.base} ({comparison.difference:+.3f}, interval {low:+.3f} to {high:+.3f}, corrected p "
        f"{comparison.p_holm:.4f}, {comparison.n} queries)"
    )
