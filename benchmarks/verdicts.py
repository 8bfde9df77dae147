"""How often each verdict, by truth, clusters and correlation within them, through the gate's own `judge`.

    python benchmarks/verdicts.py [--repetitions N]

A question's difference is drawn as two measures have it: at `recall@10` most questions tie and the others are won or
lost by 1, a half or a quarter; at `ndcg@10` half of them tie and the others move by any amount. Questions of a cluster
share a part of their luck, such that the differences have the intraclass correlation that is asked for; a true gain
makes wins of losses and ties. Lists are made that differ by just so much, and judged as one part of a graph without
anything to shuffle: no control helps against an OPEN by chance. `skewed` is what no symmetric luck shows: many small
wins and few large losses, without effect in the mean. `three parts` are three claims without effect in one gate.

Beside the share of each verdict stands how often the plain randomisation test, which knows no clusters, finds a gain
at the same level. What must hold (issue 47): without effect OPEN in at most 5 %; with a gain of .05 CLOSED in at most
5 % and, where questions are independent, OPEN about as often as the plain test finds it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from hopgate.eval.data.dataset import Query
from hopgate.eval.evidence import RUNS, Arm, Evidence, Rung
from hopgate.eval.inference import Differences
from hopgate.eval.plan import Plan
from hopgate.eval.verdict import Verdict, judge

SIZES, SHARES = np.array([1.0, 0.5, 0.25]), np.array([0.3, 0.5, 0.2])
# The share of questions that a graph moves, half of them for the worse where it has no effect.
MOVED = {"recall@10": 0.15, "ndcg@10": 0.5}
# How many questions each cluster has.
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
GAINS, CORRELATIONS = (0.0, 0.05), (0.0, 0.07, 0.18)
SKEWED = "skewed"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """So many questions a cluster, correlated like this within it, with this mean gain, and so many parts like this."""

    measure: str
    sizes: tuple[int, ...]
    icc: float = 0.0
    gain: float = 0.0
    parts: int = 1


def differences(truth: Truth, latent: float, rng: np.random.Generator) -> Floats:
    """Draw one evaluation's differences, cluster by cluster: a normal luck is cut into wins, ties and losses."""
    common = np.repeat(rng.normal(size=len(truth.sizes)), truth.sizes)
    luck = np.sqrt(latent) * common + np.sqrt(1 - latent) * rng.normal(size=len(common))
    place = np.asarray(ndtr(luck), dtype=np.float64)
    if truth.measure == SKEWED:
        return np.asarray(np.where(place < 0.02, -1.0, np.where(place > 0.92, 0.25, 0.0)))
    moved = MOVED[truth.measure]
    if truth.measure == "ndcg@10":  # ties in the middle, and from there the further the more
        inner = (1 - moved) / 2
        size = 0.5 * np.maximum(0.0, np.abs(place - 0.5) - inner) / (0.5 - inner)
        return np.asarray(np.sign(place - 0.5) * size**1.5 + truth.gain * (size > 0) / moved)
    change = truth.gain / float(SIZES @ SHARES) / 2
    won, lost = place > 1 - moved / 2 - change, place < moved / 2 - change
    return np.asarray(rng.choice(SIZES, p=SHARES, size=len(common)) * (won.astype(float) - lost))


@cache
def latent(measure: str, icc: float) -> float:
    """Find the correlation of the luck that gives this one of the differences, by halving."""
    low, high = 0.0, 1.0
    for _ in range(12 if icc else 0):
        middle = (low + high) / 2
        drawn = differences(Truth(measure, (2,) * 200_000, icc), middle, np.random.default_rng(0))
        found = float((drawn[::2] * drawn[1::2]).mean() / drawn.var())
        low, high = (middle, high) if found < icc else (low, middle)
    return (low + high) / 2 if icc else 0.0


@cache
def lists(measure: str) -> tuple[Floats, list[tuple[list[str], list[str]]]]:
    """Pairs of lists of ten for a question, and what the second has more than the first."""
    filler = [f"x{place}" for place in range(10)]
    if measure == "ndcg@10":  # one answer, at any place or none
        value = [1 / np.log2(at + 2) for at in range(10)] + [0.0]
        ranked = [[*filler[:at], "a", *filler[at:]][:10] for at in range(11)]
    else:  # of four answers so many
        value = [many / 4 for many in range(5)]
        ranked = [[*(f"a{number}" for number in range(many)), *filler[many:]] for many in range(5)]
    return np.array([after - before for before, after in product(value, value)]), list(product(ranked, ranked))


def evidence(truth: Truth, parts: list[Floats], rng: np.random.Generator) -> Evidence:
    """Make lists that differ by just so much, for each part an arm without and one with it."""
    measure = "recall@10" if truth.measure == SKEWED else truth.measure
    apart, pairs = lists(measure)
    names = [f"q{number}" for number in range(sum(truth.sizes))]
    groups = np.repeat(np.arange(len(truth.sizes)), truth.sizes).astype(str).tolist()
    gold = {"a": 1} if measure == "ndcg@10" else {f"a{number}": 1 for number in range(4)}
    arms: dict[str, Arm] = {}
    for part, values in enumerate(parts):
        # Of pairs that differ by the same, any: questions that tie are found by both or by neither.
        nearest = (np.abs(apart - values[:, None]) + 1e-6 * rng.random((len(names), len(apart)))).argmin(axis=1)
        chosen = [
            tuple([f"{name} {memory}" for memory in one] for one in pairs[place])
            for name, place in zip(names, nearest.tolist(), strict=True)
        ]
        for side, arm in enumerate((f"base {part}", f"part {part}")):
            runs = {name: both[side] for name, both in zip(names, chosen, strict=True)}
            arms[arm] = Arm(runs, configuration="RRF(k=60)")
    return Evidence(
        title="drawn",
        plan=Plan(measure=measure),
        queries={
            name: Query(name, f"{name} asks", metadata={"cluster": group})
            for name, group in zip(names, groups, strict=True)
        },
        qrels={name: {f"{name} {memory}": grade for memory, grade in gold.items()} for name in names},
        arms=arms,
        bases=("base 0",),
        rungs=tuple(Rung(RUNS, f"part {i}", (f"base {i}",)) for i in range(len(parts))),
    )


def row(truth: Truth, repetitions: int) -> dict[str, float | str | int]:
    """Judge so many evaluations of one truth; OPEN where any part is."""
    rng = np.random.default_rng([*truth.sizes, round(1e3 * truth.icc), round(1e3 * truth.gain)])
    verdicts: Counter[Verdict] = Counter()
    plain, means = 0, []
    for _ in range(repetitions):
        parts = [differences(truth, latent(truth.measure, truth.icc), rng) for _ in range(truth.parts)]
        judgement = judge(evidence(truth, parts, rng))
        found = {claim.verdict for claim in judgement.claims}
        verdicts[min(found, key=list(Verdict).index)] += 1
        alone = Differences.of(parts[0], [str(query) for query in range(len(parts[0]))])
        plain += alone.randomised_p(rounds=1_000) <= judgement.level / 2
        means.append(judgement.claims[0].difference)
    return {
        "measure": truth.measure,
        "icc": truth.icc,
        "gain": truth.gain,
        **{name.value: verdicts[name] / repetitions for name in Verdict},
        "plain": plain / repetitions,
        "mean": round(float(np.mean(means)), 4),
    }


def rows(repetitions: int) -> Iterator[dict[str, float | str | int]]:
    """Every truth; one question a cluster has no correlation."""
    for measure, gain, (shape, sizes) in product(MOVED, GAINS, SHAPES.items()):
        for icc in CORRELATIONS if max(sizes) > 1 else (0.0,):
            yield {"shape": shape, **row(Truth(measure, sizes, icc, gain), repetitions)}
    for shape in ("10 x 30", "300 x 1"):
        yield {"shape": f"{shape}, 3 parts", **row(Truth("recall@10", SHAPES[shape], parts=3), repetitions)}
    for shape in ("10 x 30", "25 x 1", "100 x 1", "300 x 1"):
        yield {"shape": shape, **row(Truth(SKEWED, SHAPES[shape]), repetitions)}


def main() -> None:
    """Print a row after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    for each in rows(parser.parse_args().repetitions):
        print(json.dumps(each), flush=True)


if __name__ == "__main__":
    main()
