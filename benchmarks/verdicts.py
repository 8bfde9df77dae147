"""How often each verdict, by truth, clusters and correlation within them.

    python benchmarks/verdicts.py [--repetitions N] [--json]

A query's difference is drawn as two kinds of measure have it: of `recall` most queries tie and the others are won or
lost by 1, a half or a quarter; of `ndcg` half of the queries tie and the others move by any amount. Queries of one
cluster share a part of their luck, such that the differences have the intraclass correlation that is asked for; a true
gain turns losses and ties into wins. What decides is the gate's own code. Beside the share of each verdict stands how
often the plain randomisation test, which knows no clusters, finds a gain at the same level.

What must hold (issue 47): where there is no effect, OPEN in at most 5 %; where the gain is .05, CLOSED in at most 5 %
and, where queries are independent, OPEN about as often as the plain test finds it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from hopgate.eval.inference import Differences

ALPHA, WORTHWHILE = 0.05, 0.03
FEWEST_QUERIES, FEWEST_CLUSTERS = 25, 6
SIZES, SHARES = np.array([1.0, 0.5, 0.25]), np.array([0.3, 0.5, 0.2])
# The share of queries that a graph moves, half of them for the worse where it has no effect.
MOVED = {"recall": 0.15, "ndcg": 0.5}
# How many queries each cluster has.
SHAPES = {
    "5 x 60": (60,) * 5,
    "6 x 50": (50,) * 6,
    "10 x 30": (30,) * 10,
    "20 x 15": (15,) * 20,
    "3 x 50, 10 x 5": (50,) * 3 + (5,) * 10,
    "25 x 1": (1,) * 25,
    "100 x 1": (1,) * 100,
    "300 x 1": (1,) * 300,
}
GAINS, CORRELATIONS, KINDS = (0.0, 0.05), (0.0, 0.07, 0.18), ("recall", "ndcg")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """So many queries a cluster, correlated like this within it, with this mean gain."""

    kind: str
    sizes: tuple[int, ...]
    icc: float
    gain: float


def differences(truth: Truth, latent: float, rng: np.random.Generator) -> Floats:
    """Draw one evaluation's differences, cluster by cluster: a normal luck is cut into wins, ties and losses."""
    common = np.repeat(rng.normal(size=len(truth.sizes)), truth.sizes)
    luck = np.sqrt(latent) * common + np.sqrt(1 - latent) * rng.normal(size=len(common))
    place, moved = np.asarray(ndtr(luck), dtype=np.float64), MOVED[truth.kind]
    if truth.kind == "ndcg":  # ties in the middle, and from there the further the more
        inner = (1 - moved) / 2
        size = 0.5 * np.maximum(0.0, np.abs(place - 0.5) - inner) / (0.5 - inner)
        return np.asarray(np.sign(place - 0.5) * size**1.5 + truth.gain * (size > 0) / moved)
    change = truth.gain / float(SIZES @ SHARES) / 2
    won, lost = place > 1 - moved / 2 - change, place < moved / 2 - change
    return np.asarray(rng.choice(SIZES, p=SHARES, size=len(common)) * (won.astype(float) - lost))


@cache
def latent(kind: str, icc: float) -> float:
    """Find the correlation of the luck that gives this one of the differences, by halving."""
    low, high = 0.0, 1.0
    for _ in range(12 if icc else 0):
        middle = (low + high) / 2
        drawn = differences(Truth(kind, (2,) * 200_000, icc, 0.0), middle, np.random.default_rng(0))
        found = float((drawn[::2] * drawn[1::2]).mean() / drawn.var())
        low, high = (middle, high) if found < icc else (low, middle)
    return (low + high) / 2 if icc else 0.0


def judge(found: Differences) -> str:
    """Decide as the gate does for one claim."""
    if found.upper(ALPHA / 2) < WORTHWHILE:
        return "CLOSED"
    enough = len(found.values) >= FEWEST_QUERIES and found.groups >= FEWEST_CLUSTERS
    return "OPEN" if enough and found.lower(ALPHA / 2) > 0 else "INCONCLUSIVE"


def row(truth: Truth, repetitions: int) -> dict[str, float | str | int]:
    """Judge so many evaluations of one truth."""
    rng = np.random.default_rng([*truth.sizes, round(1e3 * truth.icc), round(1e3 * truth.gain)])
    names = np.repeat(np.arange(len(truth.sizes)), truth.sizes).astype(str).tolist()
    verdicts: Counter[str] = Counter()
    plain = second = 0
    means = []
    for _ in range(repetitions):
        values = differences(truth, latent(truth.kind, truth.icc), rng)
        found = Differences.of(values, names)
        verdicts[judge(found)] += 1
        second += found.groups >= FEWEST_CLUSTERS and found.randomised_p(rounds=1_000) <= ALPHA / 2
        alone = replace(found, clusters=tuple(str(query) for query in range(len(values))))
        plain += alone.randomised_p(rounds=1_000) <= ALPHA / 2
        means.append(found.mean)
    return {
        "kind": truth.kind,
        "icc": truth.icc,
        "gain": truth.gain,
        **{name: verdicts[name] / repetitions for name in ("OPEN", "CLOSED", "INCONCLUSIVE")},
        "second": second / repetitions,
        "plain": plain / repetitions,
        "mean": round(float(np.mean(means)), 4),
    }


def rows(repetitions: int) -> Iterator[dict[str, float | str | int]]:
    """Every truth; one query a cluster has no correlation."""
    for kind in KINDS:
        for gain in GAINS:
            for shape, sizes in SHAPES.items():
                for icc in CORRELATIONS if max(sizes) > 1 else (0.0,):
                    yield {"shape": shape, **row(Truth(kind, sizes, icc, gain), repetitions)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(list(rows(options.repetitions))))
        return
    print(f"{'kind':7} {'shape':15} {'icc':>4} {'gain':>5} {'OPEN':>7} {'CLOSED':>7} {'INCONCL.':>9}", end="")
    print(f" {'by signs of clusters':>21} {'of queries':>11} {'mean':>7}")
    for each in rows(options.repetitions):
        print(f"{each['kind']:7} {each['shape']:15} {each['icc']:4.2f} {each['gain']:5.2f} ", end="")
        print(f"{each['OPEN']:7.1%} {each['CLOSED']:7.1%} {each['INCONCLUSIVE']:9.1%} ", end="")
        print(f"{each['second']:21.1%} {each['plain']:11.1%} {each['mean']:7.4f}", flush=True)


if __name__ == "__main__":
    main()
