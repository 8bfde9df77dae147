"""Two arms, one measure, one slice: the difference, its interval and p, and the effect that could have been found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.gate.evidence import Evidence
from hopgate.eval.gate.plan import Policy
from hopgate.eval.measures import Measure, score_all
from hopgate.eval.slices import Slice
from hopgate.eval.statistics import bca_interval, holm, queries_needed, randomisation_p, smallest_effect, spread

Role = Literal["primary", "control", "harm", "other"]
Values = Mapping[str, Mapping[Measure, Mapping[str, float]]]
"""Arm → measure → query → value."""


@dataclass(frozen=True)
class Comparison:
    """A paired comparison; the difference is challenger minus base.

    `role` says what it is for: the primary claim, the shuffled control, a check that nothing is harmed, or for the
    reader only. `p_holm` is corrected within the claims (primary and control) or within the others.
    """

    challenger: str
    base: str
    measure: str
    slice: str
    role: Role
    n: int
    values: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    spread: float
    detectable: float

    def needed(self, effect: float) -> int:
        """Give the number of queries that would show such an effect four times in five."""
        return queries_needed(self.spread, effect)

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of the report."""
        return {**asdict(self), "arms": [self.challenger, self.base]}


def paired(
    challenger: Mapping[str, float], base: Mapping[str, float], queries: Iterable[str], policy: Policy
) -> dict[str, Any]:
    """Compare per-query values over some queries.

    Examples
    --------
    >>> result = paired({"a": 1.0, "b": 0.5}, {"a": 0.5, "b": 0.5}, ["a", "b"], Policy())
    >>> result["difference"], result["wins"], result["ties"], result["losses"]
    (0.25, 1, 1, 0)
    """
    names = sorted(queries)
    ours = np.array([challenger[name] for name in names], dtype=np.float64)
    theirs = np.array([base[name] for name in names], dtype=np.float64)
    differences = ours - theirs
    sd = spread(differences)
    return {
        "n": len(names),
        "values": (float(ours.mean()) if names else 0.0, float(theirs.mean()) if names else 0.0),
        "difference": float(differences.mean()) if names else 0.0,
        "interval": _interval(differences, sd, policy),
        "p": randomisation_p(differences, permutations=policy.permutations, seed=policy.seed),
        "wins": int((differences > 1e-9).sum()),
        "ties": int((np.abs(differences) <= 1e-9).sum()),
        "losses": int((differences < -1e-9).sum()),
        "spread": sd,
        "detectable": min(1.0, smallest_effect(sd, len(names), alpha=policy.alpha)),
    }


def _interval(differences: NDArray[np.float64], sd: float, policy: Policy) -> tuple[float, float]:
    """BCa; where all differences are equal so are all resamples, and the interval comes from the assumed spread."""
    if differences.size > 1 and np.ptp(differences) < 1e-12:
        half = 1.96 * sd / float(np.sqrt(differences.size))
        return max(-1.0, float(differences[0]) - half), min(1.0, float(differences[0]) + half)
    return bca_interval(differences, confidence=1 - policy.alpha, resamples=policy.resamples, seed=policy.seed)


def per_query(evidence: Evidence) -> Values:
    """Score every arm by every measure, query by query."""
    measures = (evidence.primary, *evidence.measures)
    return {name: score_all(arm.run, evidence.qrels, measures) for name, arm in evidence.arms.items()}


def compare_all(evidence: Evidence, values: Values) -> list[Comparison]:
    """Make the declared comparisons, Holm-corrected by family; the primary one is the first."""

    def compared(role: Role, base: str, measure: Measure, part: Slice, name: str = evidence.challenger) -> Comparison:
        result = paired(values[name][measure], values[base][measure], evidence.selected[part], evidence.policy)
        return Comparison(name, base, str(measure), repr(part), role, p_holm=result["p"], **result)

    primary, first = evidence.primary, next(iter(evidence.selected))
    claims = [compared("primary", evidence.base, primary, first)]
    if evidence.control:
        claims.append(compared("control", evidence.control, primary, first))
    others = [
        compared("harm", evidence.base, measure, part)
        for part, queries in evidence.selected.items()
        for measure in (primary, *evidence.measures)
        if queries and (measure, part) != (primary, first)
    ]
    others += [
        compared("other", evidence.base, primary, first, name)
        for name in evidence.arms
        if name not in (evidence.challenger, evidence.base)
    ]
    return [*_corrected(claims), *_corrected(others)]


def _corrected(family: list[Comparison]) -> list[Comparison]:
    corrected = holm([comparison.p for comparison in family])
    return [replace(comparison, p_holm=p) for comparison, p in zip(family, corrected, strict=True)]
