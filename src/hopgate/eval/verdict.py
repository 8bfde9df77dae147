"""The verdict, pure: evidence in, one claim for each part of the graph out, with what to do about it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from hopgate.errors import HopgateError
from hopgate.eval.checks import Check, Status, check_all
from hopgate.eval.evidence import CONCEPTS, RUNS, TITLES, Cost, Evidence, Rung
from hopgate.eval.inference import Differences, Pooled, holm, pooled, rank_p, spent
from hopgate.eval.plan import LEAST_CLUSTERS

IMAGINED = 0.25
"""The gain that one more imagined question has where harm is looked for: a few that lost by chance are no harm."""
NO_CONTROL = "it was not compared with shuffled graphs"


class Verdict(StrEnum):
    """What a gate decides."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


@dataclass(frozen=True)
class Control:
    """A part beside its shuffles: their means, the part's own, and the chance of being first among them by luck."""

    own: float
    shuffled: tuple[float, ...]
    p: float

    def __str__(self) -> str:
        drawn = len(self.shuffled)
        reached = round(self.p * (drawn + 1)) - 1
        return f"{reached or 'none'} of {drawn} shuffled graphs {'does' if reached == 1 else 'do'} as well"


@dataclass(frozen=True)
class Claim:
    """What is decided about one part of the graph: its arm over the strongest of those that it must beat."""

    part: str
    arm: str
    over: str
    verdict: Verdict
    reason: str
    difference: float  # of the primary measure
    interval: tuple[float, float]  # of the difference, at the level that decides
    error: float  # of the difference, at most 1; where every question has the same, that of one question more
    p: float  # the largest one-sided p over all arms that must be beaten, adjusted for the other parts
    randomised_p: float  # the second opinion over the strongest: signs of whole clusters exchanged
    queries: int
    clusters: int
    icc: float
    design_effect: float
    needed: tuple[int, int]  # queries and clusters that would decide about the worthwhile gain
    cost: Cost
    control: Control | None
    harmed: tuple[str, ...]  # the slices that lose
    by_cluster: Mapping[str, float] = field(repr=False)  # the mean gain in each

    @property
    def title(self) -> str:
        """The part in words."""
        return TITLES.get(self.part, self.part)


@dataclass(frozen=True)
class Judgement:
    """Everything that a gate decided, recomputable from its evidence."""

    evidence: Evidence = field(repr=False)
    checks: tuple[Check, ...]
    claims: tuple[Claim, ...]
    level: float  # what earlier looks have left of the declared chance of an OPEN without an effect
    fingerprint: str = ""

    @property
    def main(self) -> Claim:
        """The claim of the headline: that about the concept graph, or else the only one."""
        return next((claim for claim in self.claims if claim.part == CONCEPTS), self.claims[-1])

    @property
    def verdict(self) -> Verdict:
        """The verdict of the headline."""
        return self.main.verdict

    @property
    def opened(self) -> tuple[str, ...]:
        """The parts that opened."""
        return tuple(claim.part for claim in self.claims if claim.verdict is Verdict.OPEN)

    @property
    def recommended(self) -> str:
        """The arm to use: of the last concepts that opened, else of all together, of threads, or without a graph."""
        opened = [claim for claim in self.claims if claim.verdict is Verdict.OPEN]
        if not opened:
            return self.evidence.strongest(self.evidence.bases)
        return sorted(opened, key=lambda claim: (claim.part != "threads", claim.part != CONCEPTS))[-1].arm

    @property
    def headline(self) -> str:
        """What was found, about what, and at what cost, in one paragraph of at most ten numbers."""
        main, evidence = self.main, self.evidence
        name = f"{main.title}, {main.arm}," if main.part == RUNS else main.title
        if main.verdict is Verdict.INVALID:
            return f"INVALID: {main.reason}. The figures mean nothing."
        measure = evidence.plan.primary
        low, high = main.interval
        gloss = ", the share of the answers that is found," if measure.name == "recall" else ""
        words = {
            Verdict.OPEN: f"{name} earns its place",
            Verdict.CLOSED: f"{name} does not earn its place",
            Verdict.INCONCLUSIVE: f"whether {name} earns its place is not decided",
        }[main.verdict]
        parts = [
            f"{main.verdict.value}: {words}. {measure}{gloss} changes by {main.difference:+.3f} "
            f"({low:+.3f} to {high:+.3f}) over {main.over}, "
            f"on {main.queries} questions in {main.clusters} groups; {main.reason}."
        ]
        if main.part != RUNS:
            parts.append(f"Cost: {main.cost}.")
        others = [claim.title for claim in self.claims if claim is not main and claim.verdict is Verdict.OPEN]
        if others:
            parts.append(f"What opened{', too' if main.verdict is Verdict.OPEN else ''}: {', '.join(others)}.")
        if evidence.plan.about == "these":
            parts.append("This is about further questions on these conversations, not about others.")
        if evidence.plan.deviations:
            parts.append(f"Declared: {', '.join(evidence.plan.deviations)}.")
        return " ".join(parts)

    @property
    def todo(self) -> str:
        """What to do now."""
        main, evidence = self.main, self.evidence
        failed = [check for check in self.checks if check.status is Status.FAIL]
        if failed:
            return f"mend what the check of {failed[0].name} found, and run the gate again"
        if self.opened:
            how = " (hopgate gate --store --apply sets it)" if evidence.arms[self.recommended].configuration else ""
            return f"use {self.recommended}{how}"
        if main.verdict is Verdict.CLOSED:
            return f"do without {main.title}: use {self.recommended}"
        queries, groups = main.needed
        return (
            f"go on with {self.recommended}; to decide about a gain of {evidence.plan.worthwhile:g}, judge some "
            f"{queries:,} new questions in {groups:,} groups"
        )

    @property
    def looks(self) -> str:
        """Which look at these questions this was, as far as it is known."""
        look = self.evidence.look
        if not look:
            return "looks at these questions are not counted here"
        if look == 1:
            return "no look at these questions is recorded here before this one"
        return f"look {look} at these questions: the level that is left is {self.level:.3g}"

    @cached_property
    def values(self) -> dict[str, dict[str, float]]:
        """Arm → measure → mean over the reported queries, but for shuffled graphs."""
        evidence = self.evidence
        shuffled = {name for rung in evidence.rungs for name in rung.shuffled}
        return {
            name: {str(measure): evidence.mean(name, measure) for measure in evidence.measures}
            for name in evidence.arms
            if name not in shuffled
        }

    def to_dict(self) -> dict[str, Any]:
        """Give what a program may read of it."""
        return {
            "verdict": self.verdict.value,
            "headline": self.headline,
            "todo": self.todo,
            "fingerprint": self.fingerprint,
            "base": self.evidence.strongest(self.evidence.bases),
            "challenger": self.main.arm,
            "recommended": {"arm": self.recommended, "fuser": self.evidence.arms[self.recommended].configuration},
            "look": self.evidence.look,
            "level": self.level,
            "arms": self.values,
            "claims": [
                {**asdict(claim), "cost": {**asdict(claim.cost), "in_words": str(claim.cost)}} for claim in self.claims
            ],
            "checks": [asdict(check) for check in self.checks],
        }


def judge(evidence: Evidence) -> Judgement:
    """Decide, from evidence alone.

    A part opens where, at the level that the looks before have left, it gains over every arm without it (an
    intersection of tests costs no level), no guarded slice is harmed, and it is first among its shuffles. It is closed
    where a worthwhile gain is excluded, or where its shuffles do as well.
    """
    if not evidence.reported:
        raise HopgateError("no judged question has an answer: judge some, or lower --relevant-from")
    if not evidence.rungs:
        raise HopgateError("there is no graph to judge: run hopgate build")
    checks, alpha = check_all(evidence), evidence.plan.alpha
    level = spent(alpha, evidence.look) if evidence.look else alpha
    groups = [evidence.clusters[name] for name in evidence.reported]
    compared = {name for rung in evidence.rungs for name in (rung.arm, *rung.over)}
    values = {name: np.array([*evidence.values(name).values()]) for name in compared}
    gains = [
        {other: Differences.of(values[rung.arm] - values[other], groups) for other in rung.over}
        for rung in evidence.rungs
    ]
    ps = holm([max(gain.p_above() for gain in over.values()) for over in gains])
    tests = zip(evidence.rungs, gains, ps, strict=True)
    return Judgement(evidence, checks, tuple(_claim(evidence, checks, level, *test) for test in tests), level)


def promising(evidence: Evidence) -> list[str]:
    """Give the parts that would open but for their control: only these need shuffles."""
    return [claim.part for claim in judge(evidence).claims if claim.reason == NO_CONTROL]


def over_sets(judgements: Sequence[Judgement]) -> dict[str, Pooled]:
    """Put the claims of several data sets together, part by part: a random-effects mean (Hartung and Knapp)."""
    by_part: defaultdict[str, list[Claim]] = defaultdict(list)
    for judgement in judgements:
        for claim in judgement.claims:
            if claim.clusters > 1 and judgement.verdict is not Verdict.INVALID:
                by_part[claim.part].append(claim)
    level = min(judgement.level for judgement in judgements)
    return {
        part: pooled([claim.difference for claim in claims], [claim.error for claim in claims], level)
        for part, claims in by_part.items()
        if len(claims) > 1
    }


def _claim(
    evidence: Evidence, checks: Sequence[Check], level: float, rung: Rung, gains: Mapping[str, Differences], p: float
) -> Claim:
    """Decide about a rung by its gains over each arm that it must beat; a side of an interval has half of the level."""
    plan, over = evidence.plan, min(gains, key=lambda name: gains[name].mean)
    gain, control, of_status = gains[over], None, {check.status: check.finding for check in reversed(checks)}
    if rung.shuffled:
        own, means = evidence.mean(rung.arm), tuple(map(evidence.mean, rung.shuffled))
        control = Control(own, means, rank_p(own, means))
    harmed = _harmed(evidence, gain, level)
    # What the gain over the best of the others is below, whichever of them is the best.
    upper = min(each.upper(level / 2 / len(gains)) for each in gains.values())
    excluded = upper < plan.worthwhile and gain.groups >= LEAST_CLUSTERS
    unshown = f"neither a gain over {over} is shown nor one of {plan.worthwhile:g} excluded"
    # A strict alpha does not ask for more shuffles than there are: the gain is what it is the level of.
    alike = control is not None and control.p > max(plan.alpha, 1 / (1 + len(control.shuffled)))
    decisions = (
        (Status.FAIL in of_status, Verdict.INVALID, f"the test is not valid: {of_status.get(Status.FAIL)}"),
        (harmed, Verdict.CLOSED, f"it loses on {', '.join(harmed)} questions against {over}"),
        (excluded, Verdict.CLOSED, f"a gain of {plan.worthwhile:g} over {over} is excluded"),
        (Status.SHORT in of_status, Verdict.INCONCLUSIVE, of_status.get(Status.SHORT, "")),
        (p >= level / 2, Verdict.INCONCLUSIVE, unshown),
        (rung.part == RUNS, Verdict.OPEN, f"it gains over {over}; there is nothing in it to shuffle"),
        (control is None, Verdict.INCONCLUSIVE, NO_CONTROL),
        (alike, Verdict.CLOSED, str(control)),
        (True, Verdict.OPEN, f"it gains over {over}, and {control}"),
    )
    verdict, reason = next((verdict, reason) for applies, verdict, reason in decisions if applies)
    return Claim(
        rung.part,
        rung.arm,
        over,
        verdict,
        reason,
        difference=gain.mean,
        interval=gain.interval(level),
        error=min(1.0, gain.error or gain.imagining(1.0).error),
        p=p,
        randomised_p=gain.randomised_p(plan.seed),
        queries=len(gain.values),
        clusters=gain.groups,
        icc=gain.icc,
        design_effect=gain.design_effect,
        # Of a first look, as new questions are; and enough to exclude the gain over each of these arms.
        needed=gain.needed(plan.worthwhile, spent(plan.alpha, 1) / 2 / len(gains)),
        cost=rung.cost,
        control=control,
        harmed=harmed,
        by_cluster=gain.by_cluster,
    )


def _harmed(evidence: Evidence, gain: Differences, level: float) -> tuple[str, ...]:
    """The guarded slices that are shown to lose, at one level for all of them."""
    guarded = {"all": frozenset(evidence.reported), **evidence.slices}
    names = []
    for name, queries in guarded.items():
        inside = [place for place, query in enumerate(evidence.reported) if query in queries]
        if len(inside) >= 2:
            part = Differences(gain.values[inside], tuple(gain.clusters[place] for place in inside))
            if part.upper(level / 2 / len(guarded), imagined=IMAGINED) < 0:
                names.append(name)
    return tuple(names)
