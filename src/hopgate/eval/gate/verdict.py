"""OPEN, CLOSED, INCONCLUSIVE or INVALID: the same kind of evidence for gains and for harms.

    OPEN           the gain's lower limit lies above 0, no harm is shown, and the control passes
    CLOSED         a harm is shown, or the gain's upper limit lies below the worthwhile gain
    INVALID        a check is broken
    INCONCLUSIVE   anything else, with the number of queries needed

A harm is *shown* where its whole simultaneous interval lies below −margin, *excluded* where none of it does, else
*open*. An open harm speaks neither for nor against: it is listed, with the largest loss that is not excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hopgate.eval.audit import Case, Check, Status
from hopgate.eval.gate.compare import Comparison, Harm
from hopgate.eval.statistics import ControlOutcome


class Verdict(StrEnum):
    """The four verdicts."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


# Of the harms that are open, so many are named in the paragraph; the report lists all.
NAMED_HARMS = 2


@dataclass(frozen=True)
class GateDecision:
    """The decision of the gate.

    Parameters
    ----------
    verdict : Verdict
    because : str
        In a word what it rests on: checks, harm, no worthwhile gain, less than worthwhile, gain, ….
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
    because: str
    reason: str
    chosen: str
    failed: tuple[str, ...] = ()
    queries_needed: int | None = None


def outcome(
    *,
    gains: bool,
    worthwhile_excluded: bool,
    harms: Sequence[Harm],
    control: ControlOutcome | None,
    strict: bool = False,
) -> tuple[Verdict, str]:
    """Give the verdict on a test whose checks pass, and in a word what it rests on.

    Parameters
    ----------
    control : ControlOutcome, optional
        Of the graph among its shuffles; None where there is no graph to shuffle.
    strict : bool
        Whether every harm must be excluded.

    Examples
    --------
    >>> outcome(gains=True, worthwhile_excluded=False, harms=[Harm.OPEN], control=ControlOutcome.PASSES)
    (<Verdict.OPEN: 'OPEN'>, 'gain')
    """
    rules = (
        (gains and control is ControlOutcome.FAILS, Verdict.INVALID, "control"),
        (Harm.SHOWN in harms, Verdict.CLOSED, "harm"),
        (worthwhile_excluded and gains, Verdict.CLOSED, "less than worthwhile"),
        (worthwhile_excluded, Verdict.CLOSED, "no worthwhile gain"),
        (not gains, Verdict.INCONCLUSIVE, "no gain shown, none excluded"),
        (control is ControlOutcome.UNDECIDED, Verdict.INCONCLUSIVE, "control"),
        (strict and Harm.OPEN in harms, Verdict.INCONCLUSIVE, "harm not excluded"),
        (True, Verdict.OPEN, "gain"),
    )
    return next((verdict, because) for holds, verdict, because in rules if holds)


def decide(case: Case, checks: Sequence[Check]) -> GateDecision:
    """Weigh the audit first, then the claim, then what it costs elsewhere."""
    base = case.evidence.base_arm.configuration
    broken = [check for check in checks if check.status is Status.FAIL and not check.undecided]
    if broken:
        return _invalid(broken, base)
    policy = case.evidence.policy
    verdict, because = outcome(
        gains=case.gains,
        worthwhile_excluded=case.worthwhile_excluded,
        harms=[harm.state for harm in case.harms],
        control=case.among.outcome if case.gains and case.among else None,
        strict=policy.every_harm_excluded,
    )
    if verdict is Verdict.OPEN:
        return GateDecision(verdict, because, _open(case, checks), case.evidence.challenger_arm.configuration)
    if verdict is Verdict.CLOSED:
        failed = ("harm",) if because == "harm" else ()
        return GateDecision(verdict, because, _closed(case, because), base, failed)
    undecided = tuple(check.name for check in checks if check.status is Status.FAIL)
    needed = queries_needed(case, because)
    return GateDecision(verdict, because, _inconclusive(case, because, needed, checks), base, undecided, needed)


def queries_needed(case: Case, because: str) -> int:
    """Give the number of queries that would decide what was not."""
    claim, policy = case.primary, case.evidence.policy
    if because == "harm not excluded":
        return max(harm.needed(policy.margin) for harm in case.harms if harm.state is Harm.OPEN)
    asked = [c for c in case.comparisons if c.role == "control"] if because == "control" else []
    rivals = [c for c in case.comparisons if c.role == "rival" and c.interval[0] <= 0]
    needs = [each.needed(max(policy.worthwhile, each.difference)) for each in [*(asked or [claim]), *rivals]]
    return max(claim.n + 1, *needs)


def _invalid(broken: Sequence[Check], base: str) -> GateDecision:
    names = " and ".join(", ".join(check.name for check in broken).rsplit(", ", 1))
    what = " ".join(f"{check.name.capitalize()}: {check.detail}." for check in broken)
    reason = (
        f"This test cannot say whether the graph helps: it fails {names}. {what} Correct what is named and run it "
        f"again; until then its figures mean nothing for or against the graph."
    )
    return GateDecision(Verdict.INVALID, "checks", reason, base, tuple(check.name for check in broken))


def _closed(case: Case, because: str) -> str:
    claim, policy = case.primary, case.evidence.policy
    if because == "harm":
        cost = "; ".join(in_words(harm) for harm in case.harms if harm.state is Harm.SHOWN)
        both = f"The graph helps and harms: {in_words(claim)}, but" if case.gains else "The graph harms:"
        return (
            f"{both} {cost}. That is a loss shown to be more than the {policy.margin:g} that is put up with. Keep the "
            f"gate closed, or use the graph only for the queries it helps."
        )
    found = (
        f"The graph helps, by less than the {policy.worthwhile:g} that was declared worthwhile"
        if because == "less than worthwhile"
        else f"Validly tested, the graph does not bring the {policy.worthwhile:g} that was declared worthwhile"
    )
    return (
        f"{found}: {in_words(claim)}. Keep the gate closed and recall as it is; re-open it only with another graph, "
        f"walk or kind of query, not with more of the same."
    )


def _inconclusive(case: Case, because: str, needed: int, checks: Sequence[Check]) -> str:
    claim = case.primary
    why = " ".join(f"{c.name.capitalize()}: {c.detail}." for c in checks if c.status is Status.FAIL)
    if because == "harm not excluded":
        why = "The plan asks that every harm be excluded, and not every one is." + _open_harms(case)
    reason = (
        f"The test is valid but cannot decide: {in_words(claim)}. {why} Judge about {needed:,} queries of this kind "
        f"(there are {claim.n}) and run it again; leave recall as it is until then."
    )
    return reason.replace("  ", " ")


def _open(case: Case, checks: Sequence[Check]) -> str:
    arm, among = case.evidence.challenger_arm, case.among
    against = (
        f" It is number {among.place} of {among.shuffles + 1} among shuffled graphs that were tuned like it, "
        f"{among.difference:+.3f} over their mean."
        if among
        else ""
    )
    passing = sum(check.status is Status.PASS for check in checks)
    return (
        f"The graph helps: {in_words(case.primary)}.{against} {passing} of {len(checks)} checks pass and none fails; "
        f"no declared measure or slice is shown to lose more than {case.evidence.policy.margin:g}.{_open_harms(case)} "
        f"Ship {arm.name} as configured here: {arm.configuration}."
    )


def _open_harms(case: Case) -> str:
    """The harms that are neither shown nor excluded, those first that look worst."""
    margin = case.evidence.policy.margin
    still = sorted((harm for harm in case.harms if harm.state is Harm.OPEN), key=lambda harm: harm.interval[0])
    if not still:
        return ""
    named = "; ".join(
        f"a loss of up to {-harm.interval[0]:.2f} at {harm.measure} on {harm.slice} ({harm.n} queries, about "
        f"{harm.needed(margin):,} would settle it)"
        for harm in still[:NAMED_HARMS]
    )
    more = f", and {len(still) - NAMED_HARMS} more" if len(still) > NAMED_HARMS else ""
    return f" Not excluded: {named}{more}."


def in_words(comparison: Comparison) -> str:
    """One comparison as a clause."""
    low, high = comparison.interval
    ours, theirs = comparison.values
    part = "" if comparison.slice == "all" else f" on {comparison.slice}"
    return (
        f"{comparison.measure}{part} is {ours:.3f} with {comparison.challenger} against {theirs:.3f} with "
        f"{comparison.base} ({comparison.difference:+.3f}, {low:+.3f} to {high:+.3f}; {comparison.wins} won, "
        f"{comparison.ties} tied, {comparison.losses} lost)"
    )
