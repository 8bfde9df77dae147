"""Walk from every source at once, mix the walks and rank memories by them: pure, so that a control can repeat it.

How much each walk counts is a softmax over the walks that have a start, linear in standardised numbers about the query,
all known before the answer. The numbers of that small regression are in `shares.json`; how they were made is in
docs/measurements.md, and `benchmarks/fit_shares.py` makes others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import Shares, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.seeds import NEAR_FACTS, NearFact, Scored, Starts, mentioned_in, starts
from hopgate.graph.walk.walk_graph import WalkGraph, top_k

REASONS = 3
# How far down lists are compared.
TOP = 10


class QuerySeeds(NamedTuple):
    """What a query found to start from, by the store's own ids: it holds for any graph of the same memories.

    The concepts that it names, the edges near it with their cosines, best first, and how much of the walk from memories
    starts at each.
    """

    concepts: list[int]
    facts: list[tuple[int, float]]
    mass: dict[int, float]


class Seeded(NamedTuple):
    """A query's seeds as nodes of one graph; `linked` are the memories of the mass that the graph has."""

    names: list[int]
    facts: list[NearFact]
    mass: dict[int, float]
    linked: dict[int, int]
    starts: Starts

    @property
    def blind(self) -> frozenset[int]:
        """Where walks should start and cannot: memories that the graph does not have."""
        return frozenset(self.mass.keys() - self.linked.keys())


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


class WalkRanking(NamedTuple):
    """The memories that walks visit most, the scores of all that they started from, and how walks were mixed."""

    hits: list[tuple[int, float]]
    scores: dict[int, float]
    mixture: Mixture


def seeded(matrix: GraphMatrix, found: QuerySeeds) -> Seeded:
    """Place a query's seeds in a graph; what it does not have is left out."""
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(found.concepts) if at >= 0]
    rows = matrix.edge_rows([edge for edge, _ in found.facts])
    facts = [
        NearFact(int(matrix.edge_source[row]), int(matrix.edge_target[row]), cosine)
        for row, (_, cosine) in zip(rows, found.facts, strict=True)
        if row >= 0
    ][:NEAR_FACTS]
    places = dict(zip(found.mass, matrix.memories(list(found.mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: found.mass[memory] for memory, at in linked.items()}
    begun = starts(graph, memories=inside, names=names, facts=facts)
    return Seeded(names, facts, found.mass, linked, begun)


def source_walks(
    graph: WalkGraph, start: Starts, walk: Walk | None = None, *, near: bool = False
) -> NDArray[np.float64]:
    """Walk from each source that found something, side by side; give the share of walks at every memory.

    A column a source: it sums to 1, or to 0 where its walk starts nowhere; that of memories to less where a part of the
    base's mass is outside the graph. Where only the first `walk.depth` memories of each walk must be right (`near`) a
    large graph is walked near the seeds alone.
    """
    walk = walk or Walk()
    mass = start.columns.sum(axis=0)
    used = np.flatnonzero(mass > 0)
    restarts = start.columns[:, used] / mass[used]
    # A column after the other in memory: what follows looks at one walk at a time.
    walks = np.zeros((graph.memories, len(mass)), order="F")
    whole = list(range(len(used)))
    if near and not walk.degree_correction:
        for column, restart in enumerate(restarts.T):
            scores = near_walks(graph, restart, damping=walk.damping, top=walk.depth)
            if scores is not None:
                walks[:, used[column]] = scores[: graph.memories]
                whole.remove(column)
    if whole:
        solved = pagerank(graph, restarts[:, whole], damping=walk.damping, tolerance=walk.tolerance)
        walks[:, used[whole]] = solved[: graph.memories]
    if walk.degree_correction:
        walks *= graph.divisor[: graph.memories, None] ** -walk.degree_correction
    # Each memory's share of what is at memories. Mass outside the graph stays where it is: of the walk from memories
    # the rest is what the graph gets.
    part = np.minimum(mass, 1.0)
    there = walks.sum(axis=0)
    walks *= part / np.where(there > 0, there * part + (1 - part), 1.0)
    return walks


def ranked_by_walks(
    matrix: GraphMatrix,
    found: Seeded,
    walks: NDArray[np.float64],
    walk: Walk,
    base: Scored,
    legs: Mapping[str, Scored],
    *,
    allowed: NDArray[np.bool_] | None = None,
) -> WalkRanking:
    """Mix the walks as it is set, or by what is known of this query, and rank memories by where they are.

    The adaptive mixture looks at the base's ranking and its legs' lists.
    """
    if walk.shares != "adaptive":
        mixture = Mixture(walk.shares)
    else:
        first = [found.linked.get(memory, -1) for memory, _ in base[:TOP]]
        cosines = [fact.similarity for fact in found.facts]
        known = walk_features(matrix.graph, walks, names=found.names, base=first, facts=cosines)
        known |= leg_features(legs, base, cosines)
        mixture = bundled_model().mixture(known, [bool(each.any()) for each in walks.T])
    mixed = mixed_walks(walks, mixture.shares)
    best = top_k(mixed, walk.depth, allowed=allowed).tolist()
    hits = [(int(matrix.memory_ids[node]), float(mixed[node])) for node in best]
    return WalkRanking(hits, pool_scores(mixed, found.linked, found.mass), mixture)


def mixed_walks(walks: NDArray[np.float64], shares: Shares) -> NDArray[np.float64]:
    """Mix the walks: one score a memory. Those that start nowhere leave their shares to the others."""
    used = np.where(walks.any(axis=0), np.asarray(shares, float), 0.0)
    mixed = np.zeros(len(walks))
    for column, share in enumerate(used / (used.sum() or 1.0)):
        # Added up here: as a product of matrices so narrow a one takes ten times as long.
        if share:
            mixed += share * walks[:, column]
    return mixed


def pool_scores(scores: NDArray[Any], linked: Mapping[int, int], mass: Mapping[int, float]) -> dict[int, float]:
    """Score every memory that walks started from; one that the graph does not have gets what its mass is worth.

    A memory that is sensitive, new or without links was not seen by the walk, which is not the same as being far: it
    gets its mass times what a linked memory of the pool has for its own on average (its mass itself where none is
    linked). Measured on half-built stores: docs/measurements.md.

    `linked` gives the places in `scores` of those memories that the graph has, `mass` where walks from memories start.
    """
    started = sum(mass[memory] for memory in linked if memory in mass)
    arrived = sum(float(scores[at]) for memory, at in linked.items() if memory in mass)
    worth = arrived / started if started > 0 else 1.0
    return {
        memory: float(scores[linked[memory]]) if memory in linked else worth * of_memory
        for memory, of_memory in mass.items()
    }


# How much each walk counts.


class ShareModel(NamedTuple):
    """The regression's numbers: what it looks at, and what a low and a high value of each means in words.

    Each is standardised by its mean and scale, and counts no more beyond `clip` standard deviations. The intercept has
    one number, and the weights have one number a feature, for the walks from memories, names and facts.
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
    """Describe the walks of `source_walks` and where they start.

    By the concepts that the query names, the base's first memories (-1 for those that the graph does not have), and the
    cosines of the nearest facts, best first.
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
    """Describe the base legs' lists; a leg that did not run says nothing."""
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
