"""How often each verdict, by truth and number of queries.

    python benchmarks/verdicts.py [--repetitions N] [--gate FOLDER ...] [--json]

Queries are simulated by the ranks of their relevant memories, so that recall at two depths, nDCG and MRR come out of
one and the same list, discrete and with as many ties as real ones. Each query has 1, 2 or 4 relevant memories; the
base finds three in four of them in its top ten. A graph *touches* a share of the queries: there the ranks are drawn
anew from the same distribution, which is churn without effect on any mean. A gain moves what is outside the top ten
into it; a harm does the reverse. Calibrated on hopgate's own lists (docs/measurements.md: standard deviation of
recall@10 differences .18 to .27). What decides is the gate's own code: levels, limits, control and rule.

With `--gate` the lists are those of saved gates (`hopgate gate … --out FOLDER`), drawn with replacement, and the truth
is that there is nothing to find: a *null graph*, where one of the tuned shuffles plays the real graph among the others;
and *arms swapped*, where each query's base and challenger change places by a coin.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopgate.eval import load_gate
from hopgate.eval.data.runs import Run
from hopgate.eval.gate.compare import Harm
from hopgate.eval.gate.plan import SHUFFLES, Policy
from hopgate.eval.gate.verdict import outcome
from hopgate.eval.measures import score_all
from hopgate.eval.statistics import above, below, can_decide, control_outcome, randomisation_p, rank_p, shared

QUERIES = (15, 30, 50, 100, 300)
RELEVANT, SHARES = np.array([1, 2, 4]), np.array([0.3, 0.5, 0.2])
FOUND = 0.75  # share of the relevant in the base's top ten
ABSENT = 1_000
TYPES = np.array([0.40, 0.25, 0.20, 0.15])
_TOP = 1.0 / np.arange(1, 11) ** 0.8
_DISCOUNT = 1.0 / np.log2(np.arange(2, 12))

WIDTHS = {"open": 6, "closed": 7, "inconclusive": 9, "invalid": 8, "closed_as_harmful": 10}
Ranks = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """What is so.

    Parameters
    ----------
    name : str
    gain : float
        Mean gain at recall@10, outside the harmed slice.
    harm : float
        Mean loss in the harmed slice (one query in four).
    shared : float
        Gain that shuffles of the graph have too: a re-weighted dense leg.
    touched : float
        Share of the queries whose ranks are drawn anew.
    """

    name: str
    gain: float = 0.0
    harm: float = 0.0
    shared: float = 0.0
    touched: float = 0.15


TRUTHS = (
    Truth("no effect"),
    Truth("gain .03", gain=0.03),
    Truth("gain .05", gain=0.05),
    Truth("gain .10", gain=0.10),
    Truth("gain .10, harm .10 in one slice", gain=0.10, harm=0.10),
    Truth("gain .10, harm .20 in one slice", gain=0.10, harm=0.20),
    Truth("noise graph that re-weights dense, .05", shared=0.05, touched=0.1),
    Truth("noise graph that re-weights dense, .10", shared=0.10, touched=0.1),
)


@dataclass(frozen=True)
class Sample:
    """Per-query differences by measure (the first is the primary), slices, recall@10; shuffles on demand."""

    differences: Floats
    slices: tuple[NDArray[np.bool_], ...]
    real: Floats
    shuffles: Callable[[], Floats]


def draw_ranks(shape: tuple[int, ...], rng: np.random.Generator) -> Ranks:
    """Ranks of relevant memories as a base finds them."""
    inside = rng.choice(10, p=_TOP / _TOP.sum(), size=shape) + 1
    outside = np.where(rng.random(shape) < 0.6, rng.integers(11, 51, shape), ABSENT)
    return np.where(rng.random(shape) < FOUND, inside, outside)


def measures(ranks: Ranks, exists: NDArray[np.bool_]) -> Floats:
    """Give recall@10, recall@5, nDCG@10 and MRR, a column each."""
    ranks = np.where(exists, ranks, ABSENT)
    # Two relevant memories never share a place: the later one moves down.
    ranks = np.sort(ranks, axis=-1)
    for j in range(1, ranks.shape[-1]):
        ranks[..., j] = np.maximum(ranks[..., j], np.minimum(ranks[..., j - 1] + 1, ABSENT))
    count = exists.sum(axis=-1)
    gain = np.where(ranks <= 10, _DISCOUNT[np.minimum(ranks, 10) - 1], 0.0).sum(axis=-1)
    ideal = np.cumsum(_DISCOUNT)[count - 1]
    best = ranks[..., 0]
    return np.stack(
        [
            (ranks <= 10).sum(axis=-1) / count,
            (ranks <= 5).sum(axis=-1) / count,
            gain / ideal,
            np.where(best < ABSENT, 1.0 / best, 0.0),
        ],
        axis=-1,
    )


def draw(truth: Truth, n: int, rng: np.random.Generator) -> Sample:
    """One evaluation of n queries."""
    exists = np.arange(4) < rng.choice(RELEVANT, p=SHARES, size=n)[:, None]
    kind = rng.choice(len(TYPES), p=TYPES, size=n)
    slices = (*(kind == k for k in range(len(TYPES))), rng.random(n) < 0.6, rng.random(n) < 0.45)
    slices = (np.ones(n, bool), *slices, ~slices[-2])
    base = draw_ranks((n, 4), rng)
    # Gains and harms act on all graphs that have them at the same memories: a dense leg re-weighted is the same leg.
    lot, place = rng.random((n, 4)), rng.integers(1, 11, (n, 4))

    def graph(gain: float, harm: float) -> Ranks:
        ranks = np.where((rng.random(n) < truth.touched)[:, None], draw_ranks((n, 4), rng), base)
        harmed = (kind == 1) & (harm > 0)
        moved = np.where((ranks > 10) & (lot < gain / (1 - FOUND)) & ~harmed[:, None], place, ranks)
        return np.where((ranks <= 10) & (lot < harm / FOUND) & harmed[:, None], ABSENT, moved)

    real = measures(graph(truth.gain + truth.shared, truth.harm), exists)

    def shuffles() -> Floats:  # only a gain is asked for its cause
        return np.stack([measures(graph(truth.shared, 0.0), exists)[:, 0] for _ in range(SHUFFLES)])

    return Sample(real - measures(base, exists), slices, real[:, 0], shuffles)


def judge(sample: Sample, policy: Policy) -> tuple[str, str]:
    """Give verdict and reason, by the gate's own functions, without the intervals that nobody reads here."""
    claim = sample.differences[:, 0]
    columns = sample.differences.shape[1]
    harms = [
        (part, j) for i, part in enumerate(sample.slices) for j in range(columns) if (i, j) != (0, 0) and part.any()
    ]
    counted = can_decide([int(part.sum()) for part, _ in harms], policy.alpha, policy.margin)
    levels = shared(policy.alpha, sum(counted))
    states = []
    for (part, j), counts in zip(harms, counted, strict=True):
        values = sample.differences[part, j]
        # Whether a harm that is not shown is excluded or open changes no verdict.
        states.append(Harm.SHOWN if counts and below(values, -policy.margin, levels.harm) else Harm.OPEN)
    gains = above(claim, 0.0, levels.claim) and randomisation_p(claim, permutations=2_000) <= policy.alpha
    excluded = below(claim, policy.worthwhile, levels.claim)
    control = None
    if gains and not excluded:
        others = sample.shuffles()
        p = rank_p(float(sample.real.mean()), list(others.mean(axis=1)))
        control = control_outcome(
            sample.real - others.mean(axis=0), p, alpha=policy.alpha, worthwhile=policy.worthwhile
        )
    verdict, because = outcome(gains=gains, worthwhile_excluded=excluded, harms=states, control=control)
    return verdict.value, because


def row(truth: Truth, n: int, repetitions: int, policy: Policy, seed: int) -> dict[str, object]:
    """Shares of the verdicts for one truth and number of queries."""
    rng = np.random.default_rng([seed, n, *truth.name.encode()])
    return shares(truth.name, n, (draw(truth, n, rng) for _ in range(repetitions)), policy)


def shares(truth: str, n: int, samples: Iterable[Sample], policy: Policy) -> dict[str, object]:
    """Judge every sample; give how often each verdict came."""
    found = []
    moments = []
    for sample in samples:
        found.append(judge(sample, policy))
        moments.append((sample.differences[:, 0].mean(), sample.differences[:, 0].var()))
    mean, var = np.mean(moments, axis=0)

    def share(what: str, why: str = "") -> float:
        return round(sum(f[0] == what and why in ("", f[1]) for f in found) / len(found), 4)

    return {
        "truth": truth,
        "queries": n,
        **{each.lower(): share(each) for each in ("OPEN", "CLOSED", "INCONCLUSIVE", "INVALID")},
        "closed_as_harmful": share("CLOSED", "harm"),
        "closed_though_gains": share("CLOSED", "less than worthwhile"),
        "control_undecided": share("INCONCLUSIVE", "control"),
        "mean": round(float(mean), 4),
        "sd": round(float(np.sqrt(var)), 3),
    }


class RealLists:
    """The values of a saved gate, query by query: its base, its challenger and its shuffles."""

    def __init__(self, folder: Path) -> None:
        evidence = load_gate(folder)[0]
        names = sorted(evidence.qrels)
        measured = (evidence.primary, *evidence.measures)

        def values(run: Run) -> Floats:
            scored = {measure: score_all(measure, run, evidence.qrels) for measure in measured}
            return np.array([[scored[measure][name] for measure in measured] for name in names])

        self.name = folder.name
        self.base, self.real = values(evidence.arms[evidence.base].run), values(evidence.challenger_arm.run)
        self.shuffles = np.stack([values(arm.run) for arm in evidence.shuffles])
        self.slices = [np.array([name in part for name in names]) for part in evidence.selected.values()]

    def null_graph(self, n: int, rng: np.random.Generator) -> Sample:
        """One of the shuffles plays the real graph."""
        at, one = rng.integers(0, len(self.base), n), int(rng.integers(len(self.shuffles)))
        played, others = self.shuffles[one][at], np.delete(self.shuffles, one, axis=0)[:, at, 0]
        return Sample(played - self.base[at], tuple(part[at] for part in self.slices), played[:, 0], lambda: others)

    def swapped(self, n: int, rng: np.random.Generator) -> Sample:
        """Base and challenger change places, query by query; the shuffles stand where the base is."""
        at, coin = rng.integers(0, len(self.base), n), rng.random((n, 1)) < 0.5
        first, second = np.where(coin, self.real[at], self.base[at]), np.where(coin, self.base[at], self.real[at])
        others = np.broadcast_to(second[:, 0], (SHUFFLES, n))
        return Sample(first - second, tuple(part[at] for part in self.slices), first[:, 0], lambda: others)


def null_rows(folder: Path, repetitions: int, policy: Policy, seed: int = 0) -> Iterator[dict[str, object]]:
    """Both nulls by every number of queries, on one gate's lists."""
    lists = RealLists(folder)
    for name, drawn in (("null graph", lists.null_graph), ("arms swapped", lists.swapped)):
        for n in QUERIES:
            rng = np.random.default_rng([seed, n, *name.encode()])
            yield shares(f"{lists.name}: {name}", n, (drawn(n, rng) for _ in range(repetitions)), policy)


def rows(repetitions: int, policy: Policy, seed: int = 0) -> Iterator[dict[str, object]]:
    """Every truth by every number of queries."""
    for truth in TRUTHS:
        for n in QUERIES:
            yield row(truth, n, repetitions, policy, seed)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1_000)
    parser.add_argument("--gate", type=Path, nargs="+", default=[], help="folders of saved gates")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found = [each for folder in options.gate for each in null_rows(folder, options.repetitions, Policy())]
    found = found or list(rows(options.repetitions, Policy()))
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'truth':40} {'queries':>7} {'OPEN':>6} {'CLOSED':>7} {'INCONCL.':>9} {'INVALID':>8} {'(harmful)':>10}")
    for each in found:
        shares = [f"{each[name]:{width}.1%}" for name, width in WIDTHS.items()]
        print(f"{each['truth']:40} {each['queries']:>7} {' '.join(shares)}")


if __name__ == "__main__":
    main(sys.argv[1:])
