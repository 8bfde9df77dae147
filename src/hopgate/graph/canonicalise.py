"""Many names in, one concept for those that mean the same: all at once, or one new name against known concepts.

Pairs of names are joined by agglomerative clustering with a guard against chaining: a pair that nothing proposed counts
as unlike (0), so that two groups join only when most of their pairs score high. Bare connected components, where one
pair is enough, collapse unrelated concepts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.extract.rules.words import comparison_form, words
from hopgate.graph.likeness import (
    KINDS,
    ContextMention,
    FloatArray,
    IntArray,
    NameVectors,
    Scored,
    Units,
    candidate_pairs,
    closeness,
    distinct,
    evidence,
    likeness,
    shared_item,
    units,
    vector_neighbours,
    weighted_overlap,
    with_same_expansion,
)
from hopgate.graph.names import normalise

__all__ = [
    "FLOOR",
    "Candidate",
    "Canonicalisation",
    "Canonicaliser",
    "Cluster",
    "ContextMention",
    "Decision",
    "MergeExplanation",
    "Units",
    "canonicalise_relations",
    "closeness",
]

# Scores below this count as 0: they are most of the pairs, and too low to bring an average near a threshold.
NEGLIGIBLE = 0.1
# No concept has more names than this.
MOST_NAMES = 256
FLOOR = 0.2
"""Groups less alike than this are never joined."""


@dataclass(frozen=True, slots=True)
class Join:
    """Two groups became one. Units are numbered 0..n-1 and the k-th merge makes group n+k, as in scipy."""

    left: int
    right: int
    score: float


def agglomerate(scored: Scored, weights: NDArray[np.float64], floor: float = FLOOR) -> list[Join]:
    """Join the most alike groups first, down to `floor`; never more than `MOST_NAMES` units in one.

    Groups are as alike as their pairs are on average, each unit weighing `weights` (what its mentions are worth);
    scores of successive merges never rise, so that a tree cut higher is the clustering at that threshold.
    """
    # The weighted sum of scores between two groups.
    near: dict[int, dict[int, float]] = {}
    weight: dict[int, float] = dict(enumerate(weights.tolist()))
    size = dict.fromkeys(weight, 1)
    for a, b, score in _that_matter(scored, floor, len(weights)):
        near.setdefault(a, {})[b] = near.setdefault(b, {})[a] = weight[a] * weight[b] * score

    def joinable(a: int, b: int, link: float) -> Iterator[tuple[float, int, int]]:
        alike = link / (weight[a] * weight[b])
        if alike >= floor:
            yield -alike, a, b

    heap = [entry for a, links in near.items() for b, link in links.items() if a < b for entry in joinable(a, b, link)]
    heapq.heapify(heap)
    merges: list[Join] = []
    while heap:
        score, a, b = heapq.heappop(heap)
        if a not in size or b not in size or size[a] + size[b] > MOST_NAMES:
            continue  # one of them is part of a larger group by now, or the two would be too many
        new = len(weights) + len(merges)
        merges.append(Join(a, b, -score))
        weight[new] = weight[a] + weight[b]
        size[new] = size.pop(a) + size.pop(b)
        links = near[new] = near.pop(a)
        for other, link in near.pop(b).items():
            links[other] = links.get(other, 0.0) + link
        del links[a], links[b]
        for other, link in links.items():
            back = near[other]
            back.pop(a, None)
            back.pop(b, None)
            back[new] = link
            for entry in joinable(other, new, link):
                heapq.heappush(heap, entry)
    return merges


def _that_matter(scored: Scored, floor: float, count: int) -> Iterator[tuple[int, int, float]]:
    """The pairs that may decide a merge: groups are as alike as the most alike of their pairs, at most.

    So a unit with no pair at the floor stays alone, and how alike it is to others is of no matter. Most are such.
    """
    score = scored.score.astype(np.float64)
    merging = np.zeros(count, dtype=bool)
    # A little lower than the floor: to weigh a score and divide by the weights again may round it up.
    high = score >= floor * (1 - 1e-9)
    merging[scored.i[high]] = merging[scored.j[high]] = True
    kept = np.flatnonzero((score >= NEGLIGIBLE) & merging[scored.i] & merging[scored.j])
    return zip(scored.i[kept].tolist(), scored.j[kept].tolist(), score[kept].tolist(), strict=True)


def cut(merges: list[Join], count: int, threshold: float) -> IntArray:
    """Label each of `count` units by its cluster at a threshold; labels are 0.. in order of first unit."""
    parent = list(range(count + len(merges)))
    for made, merge in enumerate(merges, start=count):
        if merge.score >= threshold:
            parent[merge.left] = parent[merge.right] = made
    for group in reversed(range(len(parent))):  # a parent's number is larger than its children's
        parent[group] = parent[parent[group]]
    _, first, labels = np.unique(np.array(parent[:count], dtype=np.int64), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[labels].astype(np.int64)


Embed = Callable[[Sequence[str]], FloatArray]

# Only so many names are embedded, those with most mentions first; the rest are compared as strings. A name takes about
# 7 ms of a core with bge-small, so that this costs 15 s on two cores.
MAX_EMBEDDED = 4096


@dataclass(frozen=True)
class Canonicaliser:
    """Canonicalisation of names: all of them for a backfill, or one that is new.

    Parameters
    ----------
    threshold : float
        Groups of names at least this alike become one concept.
    ask : float
        A new name at least this alike to a concept, but below the threshold, is to be asked about.

    Examples
    --------
    >>> names = ("Marilyn Monroe", "Monroe", "James Dean")
    >>> result = Canonicaliser().fit([ContextMention(name) for name in names])
    >>> [cluster.names for cluster in result.clusters()]
    [('Marilyn Monroe', 'Monroe'), ('James Dean',)]
    >>> known = [Candidate(1, ("Marilyn Monroe",), mentions=9), Candidate(2, ("James Dean",))]
    >>> Canonicaliser().resolve(ContextMention("marilyn  monroe"), known)
    Decision(action='merge', concept=1, score=1.0)
    >>> [Canonicaliser().resolve(ContextMention(name), known).action for name in ("Monroe", "Berlin")]
    ['merge', 'new']
    """

    threshold: float = 0.5
    ask: float = 0.35

    def fit(self, mentions: Sequence[ContextMention], embed: Embed | None = None) -> Canonicalisation:
        """Cluster the mentions' names; `embed` gives unit rows for names, such as an embedder's `documents`."""
        return self.fit_units(units(mentions), embed)

    def fit_units(self, given: Units, embed: Embed | None = None, floor: float = FLOOR) -> Canonicalisation:
        """Cluster names whose mentions were gathered already, as a store has them.

        Groups less alike than `floor` are not joined: at the threshold that saves what only `rethreshold` would ask.
        """
        vectors = None
        if embed is not None and len(given) >= 2:
            known = np.sort(np.argsort(-given.counts, kind="stable")[:MAX_EMBEDDED]).astype(np.int64)
            vectors = NameVectors(_embedded(embed, [given.spellings[unit] for unit in known]), known)
        i, j = candidate_pairs(given, vectors)
        near = np.full(len(i), np.nan, dtype=np.float32) if vectors is None else vectors.near(i, j)
        scored = _scored(given, i, j, near)
        # By the square root of their mentions aliases follow the name most used and do not vanish beside it.
        merges = agglomerate(scored, np.sqrt(given.counts), floor=floor)
        return Canonicalisation(given, scored, tuple(merges), self.threshold)

    def resolve(self, mention: ContextMention, candidates: Sequence[Candidate]) -> Decision:
        """Decide which concept a new mention means; ties go to the candidate mentioned more, then to the first.

        The candidates are scored as in `fit`, and two thresholds make three bands: merge, ask, new. Only the middle one
        may ask a person or a model.
        """
        if not 0 <= self.ask <= self.threshold <= 1:
            raise HopgateError(
                f"thresholds must be 0 <= ask <= threshold <= 1, not ask {self.ask} and threshold {self.threshold}"
            )
        if not candidates:
            return Decision("new", None, 0.0)
        scores = self._candidate_scores(mention, candidates)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], -candidates[at].mentions, at))
        best, score = candidates[order[0]], scores[order[0]]
        if score < self.ask:
            return Decision("new", None, score)
        second = scores[order[1]] if len(order) > 1 else 0.0
        # Where two are near enough somebody is asked which.
        return Decision("merge" if score >= self.threshold > second else "ask", best.id, score)

    def _candidate_scores(self, mention: ContextMention, candidates: Sequence[Candidate]) -> list[float]:
        """Score each candidate: the average over its names, weighted as in `fit`.

        The candidates together are the corpus: a short name that several of them could expand is shared among them.
        """
        named = [(at, row, place, name) for at, row in enumerate(candidates) for place, name in enumerate(row.names)]
        owners = [at for at, *_ in named]
        # A concept's mentions belong mostly to its first name.
        counts = [max(1.0, row.mentions / (place + 1) ** 2) for _, row, place, _ in named]
        spellings = (mention.name, *(name for *_, name in named))
        given = Units(
            names=tuple(map(normalise, spellings)),
            kinds=(mention.kind, *(row.kind for _, row, *_ in named)),
            counts=np.array([1.0, *counts]),
            spellings=spellings,
            places=(frozenset(),) * len(spellings),
            of_mention=np.zeros(0, dtype=np.int64),
        )
        i, j = (side.astype(np.int64) for side in np.triu_indices(len(given), 1))
        near = np.full(len(i), np.nan, dtype=np.float32)
        near[: len(owners)] = [row.closeness for _, row, *_ in named]  # the mention's pairs come first
        scores = _scored(given, i, j, near).score[: len(owners)]
        total = np.bincount(owners, np.sqrt(counts), len(candidates))
        return list((np.bincount(owners, np.sqrt(counts) * scores, len(candidates)) / total).tolist())


def _scored(given: Units, i: IntArray, j: IntArray, near: FloatArray) -> Scored:
    columns, strongest = evidence(given, i, j, near)
    return with_same_expansion(Scored(i, j, likeness(columns, given, i, j), columns), strongest)


def _embedded(embed: Embed, names: list[str]) -> FloatArray:
    vectors = np.asarray(embed(names), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(names) or not np.isfinite(vectors).all():
        raise HopgateError(
            f"the embedder gave {vectors.shape} for {len(names)} names: it must give one finite row a name"
        )
    return vectors


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention might mean: its names, how often it is mentioned, and how close it is by embedding.

    `closeness` is in 0..1 on the scale of `hopgate.graph.canonicalise.closeness`, None where it is not known.
    """

    id: int
    names: tuple[str, ...]
    kind: str | None = None
    mentions: int = 1
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a mention: `concept` is whom to merge with or to ask about, None for a new concept."""

    action: Literal["merge", "ask", "new"]
    concept: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """The names of one concept: first its canonical name, the most mentioned; of equals the longest."""

    label: int
    names: tuple[str, ...]
    mentions: int


@dataclass(frozen=True, slots=True)
class MergeExplanation:
    """Why two names are, or are not, one concept.

    `direct` is the score of the two names themselves (None where no block proposed the pair), and `evidence` what it is
    made of.
    """

    merged: bool
    direct: float | None
    evidence: dict[str, float]


@dataclass(frozen=True)
class Canonicalisation:
    """Clusters of mentions at a threshold, with the pairs and merges that made them: an object to interrogate.

    Examples
    --------
    >>> names = ["John Lennon", "John Lennon", "John Winston Lennon", "Lennon", "Berlin"]
    >>> result = Canonicaliser().fit([ContextMention(name) for name in names])
    >>> result.labels_.tolist(), result.why("Lennon", "John Lennon").evidence["expansion"]
    ([0, 0, 0, 0, 1], 1.0)
    >>> result.least_similar(0)
    ('John Winston Lennon', 'Lennon', 0.8333)
    >>> result.rethreshold(0.95).labels_.tolist()
    [0, 0, 0, 1, 2]
    """

    units: Units = field(repr=False)
    scored: Scored = field(repr=False)
    merges: tuple[Join, ...] = field(repr=False)
    threshold: float

    @cached_property
    def _labels(self) -> IntArray:
        """The cluster of each unit (name and kind)."""
        return cut(list(self.merges), len(self.units), self.threshold)

    @cached_property
    def _members(self) -> list[list[int]]:
        members: dict[int, list[int]] = {}
        for unit, label in enumerate(self._labels.tolist()):
            members.setdefault(label, []).append(unit)
        return list(members.values())

    @cached_property
    def _rows(self) -> dict[tuple[int, int], int]:
        """The row of each scored pair."""
        return {pair: row for row, pair in enumerate(zip(self.scored.i.tolist(), self.scored.j.tolist(), strict=True))}

    @property
    def labels_(self) -> IntArray:
        """The cluster of each mention, numbered in order of first mention."""
        return self._labels[self.units.of_mention] if len(self.units) else self.units.of_mention

    def rethreshold(self, threshold: float) -> Canonicalisation:
        """Cut the same tree elsewhere; nothing is scored again."""
        return replace(self, threshold=threshold)

    def clusters(self) -> list[Cluster]:
        """List the concepts, by label."""
        given = self.units
        clusters = []
        for label, members in enumerate(self._members):
            ranked = sorted(members, key=lambda at: (-given.counts[at], -len(given.spellings[at]), given.spellings[at]))
            names = dict.fromkeys(given.spellings[unit] for unit in ranked)
            clusters.append(Cluster(label, tuple(names), int(given.counts[members].sum())))
        return clusters

    def least_similar(self, label: int) -> tuple[str, str, float]:
        """Give the two names of a cluster that are least alike, and their score (0 where no block proposed them)."""
        members = self._members[label] if 0 <= label < len(self._members) else []
        if len(members) < 2:
            raise HopgateError(f"cluster {label} has fewer than two names: nothing to compare")
        scores = {pair: self._score(*pair) or 0.0 for pair in combinations(members, 2)}
        a, b = min(scores, key=lambda pair: (scores[pair], pair))
        return self.units.spellings[a], self.units.spellings[b], round(scores[a, b], 4)

    def why(self, first: str, second: str) -> MergeExplanation:
        """Explain why two names merged, or why they did not."""
        for name in (first, second):
            if normalise(name) not in self.units.names:
                raise HopgateError(f"no mention is called {name!r}")
        a, b = sorted(self.units.names.index(normalise(name)) for name in (first, second))
        row = self._rows.get((a, b))
        columns = {} if row is None else dict(zip(KINDS, self.scored.evidence[row].tolist(), strict=True))
        evidence = {kind: round(value, 4) for kind, value in columns.items() if value > 0}
        return MergeExplanation(bool(self._labels[a] == self._labels[b]), self._score(a, b), evidence)

    def _score(self, a: int, b: int) -> float | None:
        row = self._rows.get((a, b))
        return None if row is None else float(self.scored.score[row])

    def __str__(self) -> str:
        several = sum(len(members) > 1 for members in self._members)
        return (
            f"{len(self.labels_)} mentions, {len(self.units)} names, {len(self._members)} concepts "
            f"({several} with several names) at threshold {self.threshold}"
        )


# Relations of the same meaning, brought together; the raw ones are kept. As in Extract-Define-Canonicalize (Zhang and
# Soh, 2024) they are compared by embeddings beside their words, for words alone (led, headed) often share nothing.

# Forms of to be and to have, which carry the tense of a relation and not its meaning.
_AUXILIARY = words("be is are was were been being am has have had do does did will would")
# Words that turn a relation's meaning or its direction around: relations that differ in one are different.
_TURNING = words("not no never non by to from before after of former ex")


def canonicalise_relations(
    counts: Mapping[str, int], embed: Embed | None = None, threshold: float = 0.6
) -> dict[str, str]:
    """Cluster relations by their words and embeddings; give each its canonical one, the most frequent of its cluster.

    Parameters
    ----------
    counts : mapping of str to int
        How often each was extracted.
    embed : callable, optional
        Gives unit rows for texts, such as an embedder's `documents`.
    threshold : float
        Those of a cluster are at least this alike on average.

    Examples
    --------
    >>> born = canonicalise_relations({"was born in": 2, "born in": 1, "works at": 1})
    >>> born["born in"], born["works at"]
    ('was born in', 'works at')
    """
    raws = list(counts)
    if not raws:
        return {}
    scored = _scored_relations(raws, None if embed is None else _embedded(embed, raws))
    labels = cut(agglomerate(scored, np.ones(len(raws)), floor=threshold), len(raws), threshold).tolist()
    first: dict[int, str] = {}
    for raw, label in sorted(zip(raws, labels, strict=True), key=lambda pair: (-counts[pair[0]], len(pair[0]))):
        first.setdefault(label, raw)
    return {raw: first[label] for raw, label in zip(raws, labels, strict=True)}


def _scored_relations(raws: list[str], rows: FloatArray | None) -> Scored:
    wordings = [frozenset(normalise(raw.replace("_", " ")).split()) for raw in raws]
    bags = [frozenset(comparison_form(word) for word in own - _AUXILIARY) or own for own in wordings]
    blocks = [shared_item(bags)]
    vectors = None if rows is None else NameVectors(rows, np.arange(len(raws)))
    if vectors is not None:
        blocks.append(vector_neighbours(vectors))
    i, j = distinct(blocks)
    overlap = weighted_overlap(bags, i, j)
    near = np.zeros(len(i), dtype=np.float32) if vectors is None else vectors.near(i, j)
    # "has insurance" and "has health insurance" name two things that one has, however alike the words.
    has = [raw.startswith("has ") for raw in raws]
    turned = [
        bool((wordings[a] ^ wordings[b]) & _TURNING) or (has[a] and has[b] and bags[a] != bags[b])
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    score = (np.where(turned, 0.5, 1.0) * np.maximum(overlap, near)).astype(np.float32)
    return Scored(i, j, score, np.zeros((len(i), len(KINDS)), dtype=np.float32))
