"""The verdict, pure: evidence in, one claim for each part of the graph out, with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from hopgate.errors import HopgateError
from hopgate.eval.checks import Check, Status, check_all
from hopgate.eval.evidence import CONCEPTS, NO_COST, RUNS, TITLES, Cost, Evidence, Rung
from hopgate.eval.inference import Differences, Pooled, holm, pooled, rank_p, spent
from hopgate.eval.plan import LEAST_CLUSTERS
from hopgate.recall.fusers import FUSERS

IMAGINED = 0.25
"""The gain that one more imagined question has where harm is looked for: a few that lost by chance are no harm."""


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


@dataclass(frozen=True)
class Claim:
    """What is decided about one part of the graph: its arm over the strongest of those that it must beat.

    Parameters
    ----------
    interval : pair of floats
        Of the difference of the primary measure, at the level that decides.
    p, randomised_p : float
        The largest one-sided p over all arms that must be beaten, adjusted for the other parts; and the second opinion
        over the strongest: signs of whole clusters exchanged.
    needed : (int, int)
        Queries and clusters that would decide about the worthwhile gain.
    by_cluster : mapping of cluster to float
        The mean gain in each.
    """

    part: str
    arm: str
    over: str
    verdict: Verdict
    reason: str
    difference: float
    interval: tuple[float, float]
    p: float
    randomised_p: float
    queries: int
    clusters: int
    icc: float
    design_effect: float
    needed: tuple[int, int]
    cost: Cost = NO_COST
    control: Control | None = None
    harmed: tuple[str, ...] = ()
    by_cluster: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The part in words."""
        return TITLES.get(self.part, self.part)


@dataclass(frozen=True)
class Judgement:
    """Everything that a gate decided, recomputable from its evidence.

    `level` is what earlier looks have left of the declared chance of an OPEN without an effect.
    """

    evidence: Evidence = field(repr=False)
    checks: tuple[Check, ...]
    claims: tuple[Claim, ...]
    level: float
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
        if opened:
            opened.sort(key=lambda claim: (claim.part != "threads", claim.part != CONCEPTS))
            return opened[-1].arm
        arms, bases = self.evidence.arms, self.evidence.bases
        fusers = [name for name in bases if arms[name].configuration.partition("(")[0] in FUSERS]
        return strongest(self.evidence, fusers or bases)

    @cached_property
    def values(self) -> dict[str, dict[str, float]]:
        """Arm → measure → mean over the reported queries."""
        return {
            name: {str(measure): self.evidence.mean(arm.run, measure) for measure in self.evidence.measures}
            for name, arm in self.evidence.arms.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Give what a program may read of it."""
        from hopgate.eval.report import headline, todo

        return {
            "verdict": self.verdict.value,
            "headline": headline(self),
            "todo": todo(self),
            "fingerprint": self.fingerprint,
            "base": strongest(self.evidence, self.evidence.bases),
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
    checks, tests = check_all(evidence), _tests(evidence)
    return Judgement(evidence, checks, tuple(test.claim(checks) for test in tests), tests[0].level)


def promising(evidence: Evidence) -> tuple[str, ...]:
    """Give the parts that would open but for their control: only these need shuffles."""
    if any(check.status in (Status.FAIL, Status.SHORT) for check in check_all(evidence)):
        return ()
    return tuple(test.rung.part for test in _tests(evidence) if test.p < test.level / 2 and not test.harmed)


def strongest(evidence: Evidence, names: Sequence[str]) -> str:
    """Give the arm with the highest mean of the primary measure, the first of equals."""
    return max(names, key=lambda name: sum(evidence.values(evidence.arms[name].run).values()))


def over_sets(judgements: Sequence[Judgement]) -> dict[str, Pooled]:
    """Put the claims of several data sets together, part by part: a random-effects mean (Hartung and Knapp)."""
    valid = [judgement for judgement in judgements if judgement.verdict is not Verdict.INVALID]
    tests = [test for judgement in valid for test in _tests(judgement.evidence) if test.nearest.groups > 1]
    alpha, found = min(judgement.level for judgement in judgements), {}
    for part in dict.fromkeys(test.rung.part for test in tests):
        nearest = [test.nearest for test in tests if test.rung.part == part]
        if len(nearest) >= 2:
            # Where every difference is the same its error is that of one more question, not none.
            errors = [each.error or each.imagining(1.0).error for each in nearest]
            found[part] = pooled([each.mean for each in nearest], errors, alpha)
    return found


def _tests(evidence: Evidence) -> list[_Test]:
    """A test of each rung, its p adjusted for the others."""
    tests = [_Test(evidence, rung) for rung in evidence.rungs]
    for test, p in zip(tests, holm([test.p for test in tests]), strict=True):
        test.p = p
    return tests


class _Test:
    """One rung's differences over every arm that it must beat; each side of an interval has half of the level."""

    def __init__(self, evidence: Evidence, rung: Rung) -> None:
        self.evidence, self.rung, plan = evidence, rung, evidence.plan
        self.level = spent(plan.alpha, evidence.look) if evidence.look else plan.alpha
        groups = tuple(evidence.clusters[name] for name in evidence.reported)
        own = evidence.values(evidence.arms[rung.arm].run)
        self.over: dict[str, Differences] = {}
        for other in rung.over:
            theirs = evidence.values(evidence.arms[other].run)
            self.over[other] = Differences.of([own[name] - theirs[name] for name in evidence.reported], groups)
        self.hardest = min(self.over, key=lambda name: self.over[name].mean)
        self.nearest = self.over[self.hardest]
        self.p = max(each.p_above(0.0) for each in self.over.values())

    @cached_property
    def upper(self) -> float:
        """What the gain over the best of the others is below, whichever of them is the best."""
        return min(each.upper(self.level / 2 / len(self.over)) for each in self.over.values())

    @cached_property
    def harmed(self) -> tuple[str, ...]:
        """The guarded slices that are shown to lose, at one level for all of them."""
        guarded = {"all": frozenset(self.evidence.reported), **self.evidence.slices}
        found = []
        for name, held in guarded.items():
            inside = [place for place, query in enumerate(self.evidence.reported) if query in held]
            if len(inside) >= 2:
                part = Differences(self.nearest.values[inside], tuple(self.nearest.clusters[at] for at in inside))
                if part.upper(self.level / 2 / len(guarded), imagined=IMAGINED) < 0:
                    found.append(name)
        return tuple(found)

    @cached_property
    def control(self) -> Control | None:
        if not self.rung.shuffled:
            return None
        own = self.evidence.mean(self.evidence.arms[self.rung.arm].run)
        means = tuple(self.evidence.mean(run) for run in self.rung.shuffled)
        return Control(own, means, rank_p(own, means))

    def claim(self, checks: Sequence[Check]) -> Claim:
        """Decide about the rung, and put together what is told of it."""
        nearest, plan = self.nearest, self.evidence.plan
        by_cluster: dict[str, list[float]] = {}
        for value, group in zip(nearest.values.tolist(), nearest.clusters, strict=True):
            by_cluster.setdefault(group, []).append(value)
        return Claim(
            self.rung.part,
            self.rung.arm,
            self.hardest,
            *self._decided(checks),
            difference=nearest.mean,
            interval=nearest.interval(self.level),
            p=self.p,
            randomised_p=nearest.randomised_p(plan.seed),
            queries=len(nearest.values),
            clusters=nearest.groups,
            icc=nearest.icc,
            design_effect=nearest.design_effect,
            # Of a first look, as new questions are; and enough to exclude the gain over each of these arms.
            needed=nearest.needed(plan.worthwhile, spent(plan.alpha, 1) / 2 / len(self.over)),
            cost=self.rung.cost,
            control=self.control,
            harmed=self.harmed,
            by_cluster={group: float(np.mean(own)) for group, own in by_cluster.items()},
        )

    def _decided(self, checks: Sequence[Check]) -> tuple[Verdict, str]:  # noqa: PLR0911 - one line a reason
        """The verdict with the first reason that applies."""
        over, worthwhile, control = self.hardest, self.evidence.plan.worthwhile, self.control
        of_status = {check.status: check.finding for check in reversed(checks)}
        if Status.FAIL in of_status:
            return Verdict.INVALID, f"the test is not valid: {of_status[Status.FAIL]}"
        if self.harmed:
            return Verdict.CLOSED, f"it loses on {', '.join(self.harmed)} questions against {over}"
        if self.upper < worthwhile and self.nearest.groups >= LEAST_CLUSTERS:
            return Verdict.CLOSED, f"a gain of {worthwhile:g} over {over} is excluded"
        if Status.SHORT in of_status:
            return Verdict.INCONCLUSIVE, of_status[Status.SHORT]
        if self.p >= self.level / 2:
            return Verdict.INCONCLUSIVE, f"neither a gain over {over} is shown nor one of {worthwhile:g} excluded"
        if self.rung.part == RUNS:
            return Verdict.OPEN, f"it gains over {over}; there is nothing in it to shuffle"
        if control is None:
            return Verdict.INCONCLUSIVE, "it was not compared with shuffled graphs"
        drawn = len(control.shuffled)
        reached = round(control.p * (drawn + 1)) - 1
        alike = f"{reached or 'none'} of {drawn} shuffled graphs {'does' if reached == 1 else 'do'} as well"
        # A strict alpha does not ask for more shuffles than there are: the gain is what it is the level of.
        if reached and control.p > self.evidence.plan.alpha:
            return Verdict.CLOSED, alike
        return Verdict.OPEN, f"it gains over {over}, and {alike}"
