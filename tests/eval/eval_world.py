"""Runs with known answers: each question has ten answers, and an arm finds as many of them as it is told."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hopgate.eval.data.dataset import Query
from hopgate.eval.evidence import Arm, Evidence, Rung
from hopgate.eval.plan import Plan

KNOWN = ("pass", "read out of the memories")
FREE = {"lexical": (40, 40), "graph": (40, 40)}
GOLD = 10


def run_of(found: Sequence[int], name: str = "") -> dict[str, list[str]]:
    """A run whose recall@10 is a tenth of each number; what else it lists is its own."""
    return {
        f"q{at}": [f"q{at}-{place}" for place in range(count)]
        + [f"{name}{at}-x{place}" for place in range(GOLD - count)]
        for at, count in enumerate(found)
    }


def evidence(
    base: Sequence[int], challenger: Sequence[int], *, groups: Sequence[Any] | None = None, shuffled: int = 39,
    plan: Plan | None = None, metadata: Mapping[str, Any] | None = None, **more: Any,
) -> Evidence:  # fmt: skip
    """Evidence of one claim about the concept graph; shuffled graphs do as the base does."""
    groups = range(len(base)) if groups is None else groups
    queries = {
        f"q{at}": Query(
            f"q{at}", f"Where is the key of the {at}th red door?", {"cluster": f"c{group}", **(metadata or {})}
        )
        for at, group in enumerate(groups)
    }
    arms = {
        "base": Arm(run_of(base, "b"), "RRF", FREE),
        "graph": Arm(run_of(challenger, "g"), "RRF", FREE),
        **{f"shuffled {seed}": Arm(run_of(base)) for seed in range(shuffled)},
    }
    given = {
        "qrels": {f"q{at}": {f"q{at}-{place}": 1 for place in range(GOLD)} for at in range(len(base))},
        "arms": arms,
        "bases": ("base",),
        "rungs": (Rung("concepts", "graph", ("base",), tuple(arms)[2:]),),
        "provenance": KNOWN,
        **more,
    }
    return Evidence("a set", plan or Plan(), queries, **given)


def gains(
    count: int, gain: float, *, seed: int = 0, spread: float = 2.0, groups: int = 0, icc: float = 0.0
) -> tuple[list[int], list[int]]:
    """Base and challenger as answers found of ten, with this mean gain in tenths; those of a group agree."""
    rng = np.random.default_rng(seed)
    of_group = rng.normal(0, spread * icc**0.5, max(1, groups))
    own = rng.normal(0, spread * (1 - icc) ** 0.5, count)
    group = np.arange(count) % groups if groups else np.arange(count)
    base = rng.integers(2, 9, count)
    change = gain + own + (of_group[group] if groups else 0)
    return base.tolist(), np.clip(np.rint(base + change), 0, GOLD).astype(int).tolist()
