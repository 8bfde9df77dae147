"""How much each walk counts for this query: a small regression over what is known before the answer.

The shares are a softmax over the walks that have a start, linear in standardised numbers about the query. The numbers
of the regression are in `shares.json`; how they were made is in docs/research/neighbours.md, and
`benchmarks/fit_shares.py` makes others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import Shares
from hopgate.graph.walk.seeds import Scored, mentioned_in
from hopgate.graph.walk.walk_graph import WalkGraph, top_k

REASONS = 3
# How far down lists are compared.
TOP = 10


class Mixture(NamedTuple):
    """How much each walk counts, the strongest reasons for it, and what was known; neither where shares were given."""

    shares: Shares
    reasons: tuple[str, ...] = ()
    known: Mapping[str, float] = {}

    def in_words(self) -> str:
        """The shares and their reasons in one line.

        Examples
        --------
        >>> Mixture((0.7, 0.3, 0.0), ("the query names little",)).in_words()
        'memories 70 %, names 30 %, facts 0 %: the query names little'
        """
        named = zip(("memories", "names", "facts"), self.shares, strict=True)
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in named)
        return f"{shares}: {'; '.join(self.reasons)}" if self.reasons else shares


class ShareModel(NamedTuple):
    """The regression's numbers.

    Parameters
    ----------
    features : sequence of str
        What it looks at, in order.
    words : mapping
        What a low and a high value of each means, in words.
    mean, scale : sequence of float
        What each is standardised by; beyond `clip` standard deviations it counts no more.
    intercept, weights : sequence
        One number, and one number a feature, for the walks from memories, names and facts.

    Examples
    --------
    >>> words = {"names": ("the query names little", "the query names several things")}
    >>> model = ShareModel(["names"], words, [1.0], [0.5], 3.0, [0.0, 0.0, 0.0], [[-1.0], [1.0], [0.0]])
    >>> model.mixture({"names": 1.0}, (True, True, False)).shares
    (0.5, 0.5, 0.0)
    >>> model.mixture({"names": 0.0}, (True, True, False)).reasons
    ('the query names little',)
    """

    features: Sequence[str]
    words: Mapping[str, Sequence[str]]
    mean: Sequence[float]
    scale: Sequence[float]
    clip: float
    intercept: Sequence[float]
    weights: Sequence[Sequence[float]]

    def mixture(self, known: Mapping[str, float], started: Sequence[bool]) -> Mixture:
        """Decide the shares of the walks that started; a number that is not known counts as usual."""
        used = np.asarray(started, bool)
        if not used.any():
            return Mixture((0.0, 0.0, 0.0))
        values = [known.get(name, mean) for name, mean in zip(self.features, self.mean, strict=True)]
        z = np.clip((np.array(values) - self.mean) / self.scale, -self.clip, self.clip)
        weights = np.array(self.weights)
        logit = np.where(used, weights @ z + self.intercept, -np.inf)
        odds = np.exp(logit - logit.max())
        memories, names, facts = (odds / odds.sum()).round(6).tolist()
        first = int(odds.argmax())
        others = [walk for walk in np.flatnonzero(used).tolist() if walk != first]
        # A walk that is alone leads nobody, and has no reasons.
        lead = (weights[first] - weights[others or [first]].mean(axis=0)) * z
        strongest = [at for at in np.argsort(-lead)[:REASONS].tolist() if lead[at] > 0]
        reasons = tuple(self.words[self.features[at]][int(z[at] > 0)] for at in strongest)
        return Mixture((memories, names, facts), reasons, known)


@cache
def bundled_model() -> ShareModel:
    """The model that comes with the package."""
    return ShareModel(**json.loads(files("hopgate.graph.walk").joinpath("shares.json").read_text()))


def walk_features(
    graph: WalkGraph, walks: NDArray[np.float64], *, names: Sequence[int], base: Sequence[int], facts: Sequence[float]
) -> dict[str, float]:
    """Describe the walks and where they start.

    Parameters
    ----------
    walks : array of shape (memories, 3)
        As `source_walks` gives them.
    names : sequence of int
        The concepts that the query names.
    base : sequence of int
        The base's first memories, numbered as in the graph; -1 for those that it does not have.
    facts : sequence of float
        The cosines of the nearest facts, best first.
    """
    memories = max(2, graph.memories)
    rare = [log(memories / max(1, mentioned_in(graph, concept))) / log(memories) for concept in names]
    first = [set(top_k(walks[:, column], TOP).tolist()) for column in range(3)]
    entropy = [_entropy(walks[:, column]) for column in range(3)]
    near = [(0, cosine) for cosine in facts]
    return {
        "names": log(1 + len(names)),
        "name_rarity": min(1.0, max(0.0, *rare, 0.0)),
        "fact_margin": _drop(near, 5),
        "fact_spread": _drop(near, 20),
        "name_memory_overlap": len(first[1] & first[0]) / TOP,
        "fact_memory_overlap": len(first[2] & first[0]) / TOP,
        "name_fact_overlap": len(first[1] & first[2]) / TOP,
        "memory_base_overlap": len(first[0] & set(base[:TOP])) / TOP,
        "memory_entropy": entropy[0],
        "name_entropy": entropy[1],
        "fact_entropy": entropy[2],
    }


def leg_features(legs: Mapping[str, Scored], base: Scored, facts: Sequence[float]) -> dict[str, float]:
    """Describe the base legs' lists; a leg that did not run says nothing.

    Examples
    --------
    >>> leg_features({"dense": [(1, 0.8), (2, 0.7)]}, [(1, 1.0)], [0.75])["fact_minus_memory"].__round__(2)
    -0.05
    """
    features = {"base_spread": _drop(base, TOP)}
    dense, lexical = legs.get("dense"), legs.get("lexical")
    if dense:
        near = dense[0][1]
        features |= {
            "nearest_memory": near,
            "dense_margin": _drop(dense, 2),
            "dense_spread": _drop(dense, TOP),
            "nearest_fact": facts[0] if facts else 0.6,
            "fact_minus_memory": facts[0] - near if facts else -0.1,
        }
    if lexical is not None:
        best = max(lexical[0][1] if lexical else 0.0, 1e-9)
        # A memory without any of the words scores 0.
        features |= {
            "lexical_margin": _drop(lexical, 2, least=0.0) / best,
            "lexical_spread": _drop(lexical, TOP, least=0.0) / best,
        }
    if dense and lexical is not None:
        features["lexical_dense_overlap"] = len({m for m, _ in dense[:TOP]} & {m for m, _ in lexical[:TOP]}) / TOP
    return features


def _drop(scored: Scored, place: int, *, least: float | None = None) -> float:
    """By how much the score at a place, counted from 1, lies below the first; below `least` where the list ends."""
    if not scored:
        return 0.0
    last = scored[place - 1][1] if len(scored) >= place else scored[-1][1] if least is None else least
    return scored[0][1] - last


def _entropy(walk: NDArray[np.float64]) -> float:
    mass = walk[walk > 0]
    mass = mass / mass.sum() if mass.size else mass
    return float(-(mass * np.log(mass)).sum())
