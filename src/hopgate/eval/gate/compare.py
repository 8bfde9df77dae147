"""Two arms, one measure, one slice: the difference, its interval and p, and what is known of a harm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.eval.gate.evidence import Arm, Evidence
from hopgate.eval.gate.plan import Policy
from hopgate.eval.measures import Measure, score_all
from hopgate.eval.slices import Slice
from hopgate.eval.statistics import (
    above,
    below,
    can_decide,
    holm,
    lower_limit,
    queries_needed,
    randomisation_p,
    shared,
    smallest_effect,
    spread,
    upper_limit,
)
from hopgate.scale.engine import Engine, map_batches, with_shared

Role = Literal["primary", "rival", "control", "harm", "other"]
Values = Mapping[str, Mapping[Measure, Mapping[str, float]]]
"""Arm → measure → query → value."""

SHUFFLED = "shuffled-graph"
"""The mean of the challenger's shuffles, where it stands beside the arms."""
# Differences are rounded to so many decimals before anything: noise of floating point is no win.
DECIMALS = 9
# The spread of a slice with fewer queries is taken from all queries.
FEW = 30


class Harm(StrEnum):
    """What is known of a loss beyond the margin; NOT_ASKED where the comparison is no harm comparison."""

    SHOWN = "shown"
    EXCLUDED = "excluded"
    OPEN = "open"
    NOT_ASKED = ""


@dataclass(frozen=True)
class Comparison:
    """A paired comparison; the difference is challenger minus base.

    Parameters
    ----------
    role : str
        What it is for: the primary claim, another base that must be beaten too (rival), the mean of the shuffles
        (control), a check that nothing is harmed, or for the reader only.
    interval, level
        Each end of the interval lies beyond the truth with a chance of at most `level`: α/2 for a claim, a share of
        α/2 for a harm.
    p, p_holm : float
        Of the randomisation test, and Holm-corrected over all comparisons here: a second opinion, not what decides.
    counts : bool
        Whether it took a share of the level; a slice with too few queries to decide anything does not.
    state : Harm
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
    level: float
    counts: bool = True
    state: Harm = Harm.NOT_ASKED

    def needed(self, effect: float) -> int:
        """Give the number of queries that would show such an effect four times in five, at the comparison's level."""
        return queries_needed(self.spread, effect, level=self.level)

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of the report."""
        return {**asdict(self), "state": self.state.value, "arms": [self.challenger, self.base]}


def differences(
    challenger: Mapping[str, float], base: Mapping[str, float], queries: Iterable[str]
) -> NDArray[np.float64]:
    """Give challenger minus base, one a query in the order of their ids.

    Examples
    --------
    >>> differences({"a": 0.1 + 0.2}, {"a": 0.3}, ["a"]).tolist()
    [0.0]
    """
    found = np.array([challenger[name] - base[name] for name in sorted(queries)], dtype=np.float64)
    return np.round(found, DECIMALS) + 0.0


def paired(
    challenger: Mapping[str, float], base: Mapping[str, float], queries: Iterable[str], policy: Policy, level: float
) -> dict[str, Any]:
    """Compare per-query values over some queries, with limits at a one-sided level.

    Examples
    --------
    >>> result = paired({"a": 1.0, "b": 0.5}, {"a": 0.5, "b": 0.5}, ["a", "b"], Policy(), 0.025)
    >>> result["difference"], result["wins"], result["ties"], result["losses"]
    (0.25, 1, 1, 0)
    """
    names = sorted(queries)
    found = differences(challenger, base, names)
    sd = spread(found)
    means = [sum(values[name] for name in names) / max(1, len(names)) for values in (challenger, base)]
    return {
        "n": len(names),
        "values": (means[0], means[1]),
        "difference": float(found.mean()) if names else 0.0,
        "interval": (lower_limit(found, level), upper_limit(found, level)),
        "p": randomisation_p(found, permutations=policy.permutations, seed=policy.seed),
        "wins": int((found > 0).sum()),
        "ties": int((found == 0).sum()),
        "losses": int((found < 0).sum()),
        "spread": sd,
        "detectable": smallest_effect(sd, len(names), level=level),
        "level": level,
    }


def harm_state(found: ArrayLike, margin: float, level: float) -> Harm:
    """Say what the differences of one slice and measure tell about a loss beyond the margin.

    Examples
    --------
    >>> harm_state([-1.0] * 30 + [0.0] * 30, 0.02, 0.001).value, harm_state([0.0] * 14 + [-1.0], 0.02, 0.001).value
    ('shown', 'open')
    """
    if below(found, -margin, level):
        return Harm.SHOWN
    return Harm.EXCLUDED if above(found, -margin, level) else Harm.OPEN


def per_query(evidence: Evidence) -> Values:
    """Score every arm by every measure, query by query."""
    measures = (evidence.primary, *evidence.measures)
    return {
        name: {measure: score_all(measure, arm.run, evidence.qrels) for measure in measures}
        for name, arm in evidence.arms.items()
    }


def per_shuffle(evidence: Evidence, shuffles: Sequence[Arm]) -> NDArray[np.float64]:
    """Score every shuffle by the primary measure: one row a shuffle, one column a query in the order of their ids."""
    rows = [score_all(evidence.primary, arm.run, evidence.qrels) for arm in shuffles]
    queries = sorted(evidence.first_slice)
    return np.array([[row[query] for query in queries] for row in rows], dtype=np.float64)


class _Pair(NamedTuple):
    """What is asked of two arms, and what for."""

    role: Role
    name: str
    base: str
    measure: Measure
    part: Slice


def compare_all(
    evidence: Evidence, values: Values, shuffles: NDArray[np.float64], engine: Engine | None = None
) -> list[Comparison]:
    """Make the declared comparisons; the primary one is the first.

    Parameters
    ----------
    engine : Engine, optional
        Who draws the randomisations, where it is not this process.
    """
    policy, primary = evidence.policy, evidence.primary
    first = next(iter(evidence.selected))
    harms = [
        (measure, part)
        for part, queries in evidence.selected.items()
        for measure in (primary, *evidence.measures)
        if queries and (measure, part) != (primary, first)
    ]
    counted = can_decide([len(evidence.selected[part]) for _, part in harms], policy.alpha, policy.margin)
    levels = shared(policy.alpha, sum(counted))

    mine = evidence.challenger
    pairs = [_Pair("primary", mine, evidence.base, primary, first)]
    pairs += [_Pair("rival", mine, rival, primary, first) for rival in evidence.rivals]
    if len(shuffles):
        queries = sorted(evidence.first_slice)
        mean = dict(zip(queries, shuffles.mean(axis=0).tolist(), strict=True))
        values = {**values, SHUFFLED: {primary: mean}}
        pairs.append(_Pair("control", mine, SHUFFLED, primary, first))
    begin = len(pairs)
    pairs += [_Pair("harm", mine, evidence.base, measure, part) for measure, part in harms]
    others = [name for name in evidence.arms if name not in (mine, evidence.base)]
    pairs += [_Pair("other", name, evidence.base, primary, first) for name in others]
    asked = [
        (
            values[pair.name][pair.measure],
            values[pair.base][pair.measure],
            evidence.selected[pair.part],
            levels.harm if pair.role == "harm" else levels.claim,
        )
        for pair in pairs
    ]
    results = list(map_batches(engine or Engine(), with_shared(_paired_at, policy), asked))
    found = [
        Comparison(pair.name, pair.base, str(pair.measure), repr(pair.part), pair.role, p_holm=result["p"], **result)
        for pair, result in zip(pairs, results, strict=True)
    ]

    def moved(measure: Measure, queries: Iterable[str]) -> NDArray[np.float64]:
        return differences(values[evidence.challenger][measure], values[evidence.base][measure], queries)

    for at, ((measure, part), counts) in enumerate(zip(harms, counted, strict=True), start=begin):
        state = harm_state(moved(measure, evidence.selected[part]), policy.margin, levels.harm) if counts else Harm.OPEN
        sd = found[at].spread if found[at].n >= FEW else spread(moved(measure, evidence.qrels))
        found[at] = replace(found[at], counts=counts, state=state, spread=sd)
    corrected = holm([comparison.p for comparison in found])
    return [replace(comparison, p_holm=p) for comparison, p in zip(found, corrected, strict=True)]


def _paired_at(
    policy: Policy, asked: tuple[Mapping[str, float], Mapping[str, float], frozenset[str], float]
) -> dict[str, Any]:
    challenger, base, queries, level = asked
    return paired(challenger, base, queries, policy, level)
