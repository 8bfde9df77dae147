"""Many names in, one concept for those that mean the same: all at once, or one new name against known concepts.

Pairs of names are joined by agglomerative clustering with a guard against chaining: a pair that nothing proposed counts
as unlike (0), so that two groups join only when most of their pairs score high. Bare connected components, where one
pair is enough, collapse unrelated concepts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import numpy as np

from hopgate.errors import HopgateError
from hopgate.graph import likeness
from hopgate.graph.likeness import KINDS, ContextMention, FloatArray, IntArray, Scored, Units
from hopgate.graph.names import WORDS, comparison_form, normalise

__all__ = ["Candidate", "Canonicaliser", "ContextMention", "canonicalise_relations"]

Embed = Callable[[Sequence[str]], FloatArray]
"""Gives unit rows for names, such as an embedder's `documents`."""

# Scores below this count as 0: they are most of the pairs, and too low to bring an average near a threshold.
NEGLIGIBLE = 0.1
# No concept has more names than this.
MOST_NAMES = 256
# Only so many names are embedded, those with most mentions first; the rest are compared as strings. A name takes about
# 7 ms of a core with bge-small, so that this costs 15 s on two cores.
MAX_EMBEDDED = 4096


def agglomerate(scored: Scored, units: int, threshold: float) -> IntArray:
    """Join the most alike groups first, down to a threshold; give each unit's group, from 0 in order of first unit.

    Groups are as alike as their pairs are on average. No group gets more than `MOST_NAMES` units.
    """
    members = {unit: [unit] for unit in range(units)}
    # The sum of scores between two groups.
    near: dict[int, dict[int, float]] = {}
    heap: list[tuple[float, int, int]] = []

    def offer(a: int, b: int, total: float) -> None:
        alike = total / (len(members[a]) * len(members[b]))
        if alike >= threshold:
            heapq.heappush(heap, (-alike, a, b))

    # Groups are as alike as the most alike of their pairs, at most: a unit with no pair at the threshold stays alone,
    # as most do.
    score, merging = scored.score.astype(np.float64), np.zeros(units, dtype=bool)
    high = score >= threshold
    merging[scored.i[high]] = merging[scored.j[high]] = True
    kept = np.flatnonzero((score >= NEGLIGIBLE) & merging[scored.i] & merging[scored.j])
    for a, b, alike in zip(scored.i[kept].tolist(), scored.j[kept].tolist(), score[kept].tolist(), strict=True):
        near.setdefault(a, {})[b] = near.setdefault(b, {})[a] = alike
        offer(a, b, alike)
    numbers = count(units)
    while heap:
        _, a, b = heapq.heappop(heap)
        if a not in members or b not in members or len(members[a]) + len(members[b]) > MOST_NAMES:
            continue  # one of them is part of a larger group by now, or the two would be too many
        new = next(numbers)
        members[new] = members.pop(a) + members.pop(b)
        totals = near[new] = near.pop(a)
        for other, total in near.pop(b).items():
            totals[other] = totals.get(other, 0.0) + total
        del totals[a], totals[b]
        for other, total in totals.items():
            back = near[other]
            back.pop(a, None)
            back.pop(b, None)
            back[new] = total
            offer(other, new, total)
    labels = np.empty(units, dtype=np.int64)
    for label, group in enumerate(sorted(members.values(), key=min)):
        labels[group] = label
    return labels


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention might mean: its names, and how often it is mentioned."""

    id: int
    names: tuple[str, ...]
    kind: str | None = None
    mentions: int = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a mention: `concept` is whom to merge with or to ask about, None for a new concept."""

    action: Literal["merge", "ask", "new"]
    concept: int | None
    score: float


@dataclass(frozen=True)
class Canonicaliser:
    """Canonicalisation of names: all of them for a backfill, or one that is new.

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

    threshold: float = 0.5  # groups of names at least this alike become one concept
    ask: float = 0.35  # A new name at least this alike to a concept, but below the threshold, is to be asked about

    def fit(self, mentions: Sequence[ContextMention], embed: Embed | None = None) -> Canonicalisation:
        """Cluster the mentions' names, which are also compared by embedding where there is one."""
        units, unit_of = likeness.units(mentions)
        near = likeness.NOT_EMBEDDED
        if embed is not None and len(units) >= 2:
            known = np.sort(np.argsort(-units.counts, kind="stable")[:MAX_EMBEDDED]).astype(np.int64)
            near = likeness.vector_neighbours(embed([units.spellings[unit] for unit in known]), known)
        i, j = likeness.candidate_pairs(units, near)
        scored = likeness.scored(units, i, j, near.of(i, j))
        labels = agglomerate(scored, len(units), self.threshold)
        return Canonicalisation(units, scored, labels, unit_of, self.threshold)

    def resolve(self, mention: ContextMention, candidates: Sequence[Candidate]) -> Decision:
        """Decide which concept a new mention means; ties go to the candidate mentioned more, then to the first.

        The candidates are scored as in `fit`, and two thresholds make three bands: merge, ask, new. Only the middle one
        may ask a person or a model.
        """
        if not candidates:
            return Decision("new", None, 0.0)
        scores = _candidate_scores(mention, candidates)
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], -candidates[at].mentions, at))
        best, score = candidates[order[0]], scores[order[0]]
        if score < self.ask:
            return Decision("new", None, score)
        second = scores[order[1]] if len(order) > 1 else 0.0
        # Where two are near enough somebody is asked which.
        return Decision("merge" if score >= self.threshold > second else "ask", best.id, score)


def _candidate_scores(mention: ContextMention, candidates: Sequence[Candidate]) -> list[float]:
    """Score each candidate: the average over its names, as in `fit`.

    The candidates together are the corpus: a short name that several of them could expand is shared among them.
    """
    named = [(at, row, place, name) for at, row in enumerate(candidates) for place, name in enumerate(row.names)]
    owners = [at for at, *_ in named]
    # A concept's mentions belong mostly to its first name.
    counts = [max(1.0, row.mentions / (place + 1) ** 2) for _, row, place, _ in named]
    spellings = (mention.name, *(name for *_, name in named))
    units = Units(
        names=tuple(map(normalise, spellings)),
        kinds=(mention.kind, *(row.kind for _, row, *_ in named)),
        counts=np.array([1.0, *counts]),
        spellings=spellings,
        places=(frozenset(),) * len(spellings),
    )
    i, j = (side.astype(np.int64) for side in np.triu_indices(len(units), 1))
    # The mention's pairs come first.
    scores = likeness.scored(units, i, j, np.zeros(len(i), np.float32)).score[: len(owners)]
    return list((np.bincount(owners, scores, len(candidates)) / np.bincount(owners)).tolist())


@dataclass(frozen=True, slots=True)
class Cluster:
    """The names of one concept: first its canonical name, the most mentioned; of equals the longest."""

    names: tuple[str, ...]
    mentions: int


@dataclass(frozen=True, slots=True)
class MergeExplanation:
    """Whether two names are one concept, and by kind what makes them alike; nothing where no block proposed them."""

    merged: bool
    evidence: dict[str, float]


@dataclass(frozen=True)
class Canonicalisation:
    """Clusters of mentions at a threshold, with the scored pairs that made them: an object to interrogate.

    Examples
    --------
    >>> names = ["John Lennon", "John Lennon", "John Winston Lennon", "Lennon", "Berlin"]
    >>> result = Canonicaliser().fit([ContextMention(name) for name in names])
    >>> result.labels_.tolist(), result.why("Lennon", "John Lennon").evidence["expansion"]
    ([0, 0, 0, 0, 1], 1.0)
    """

    units: Units = field(repr=False)
    scored: Scored = field(repr=False)
    labels: IntArray = field(repr=False)
    unit_of: IntArray = field(repr=False)
    threshold: float

    @property
    def labels_(self) -> IntArray:
        """The cluster of each mention, numbered in order of first mention; `labels` are those of names."""
        return self.labels[self.unit_of]

    def clusters(self) -> list[Cluster]:
        """List the concepts, by label."""
        units, names = self.units, self.units.spellings
        groups: list[list[int]] = [[] for _ in range(int(self.labels.max(initial=-1)) + 1)]
        for unit in sorted(range(len(units)), key=lambda at: (-units.counts[at], -len(names[at]), names[at])):
            groups[self.labels[unit]].append(unit)
        return [
            Cluster(tuple(dict.fromkeys(names[unit] for unit in group)), int(units.counts[group].sum()))
            for group in groups
        ]

    def why(self, first: str, second: str) -> MergeExplanation:
        """Explain why two names merged, or why they did not."""
        for name in (first, second):
            if normalise(name) not in self.units.names:
                raise HopgateError(f"no mention is called {name!r}")
        a, b = sorted(self.units.names.index(normalise(name)) for name in (first, second))
        evidence = {
            kind: round(value, 4)
            for row in np.flatnonzero((self.scored.i == a) & (self.scored.j == b))
            for kind, value in zip(KINDS, self.scored.evidence[row].tolist(), strict=True)
            if value > 0
        }
        return MergeExplanation(bool(self.labels[a] == self.labels[b]), evidence)

    def __str__(self) -> str:
        sizes = np.bincount(self.labels)
        return (
            f"{len(self.unit_of)} mentions, {len(self.units)} names, {len(sizes)} concepts "
            f"({np.count_nonzero(sizes > 1)} with several names) at threshold {self.threshold}"
        )


# Relations of the same meaning, brought together; the raw ones are kept. As in Extract-Define-Canonicalize (Zhang and
# Soh, 2024) they are compared by embeddings beside their words, for words alone (led, headed) often share nothing.


def canonicalise_relations(
    counts: Mapping[str, int], embed: Embed | None = None, threshold: float = 0.6
) -> dict[str, str]:
    """Cluster relations by their words and embeddings; give each its canonical one, the most frequent of its cluster.

    `counts` says how often each was extracted; those of a cluster are at least `threshold` alike on average.
    """
    raws = list(counts)
    if not raws:
        return {}
    scored = _scored_relations(raws, embed)
    labels = agglomerate(scored, len(raws), threshold).tolist()
    first: dict[int, str] = {}
    for raw, label in sorted(zip(raws, labels, strict=True), key=lambda pair: (-counts[pair[0]], len(pair[0]))):
        first.setdefault(label, raw)
    return {raw: first[label] for raw, label in zip(raws, labels, strict=True)}


def _scored_relations(raws: list[str], embed: Embed | None) -> Scored:
    wordings = [frozenset(normalise(raw.replace("_", " ")).split()) for raw in raws]
    bags = [frozenset(comparison_form(word) for word in words - WORDS["auxiliary"]) or words for words in wordings]
    near = likeness.NOT_EMBEDDED
    if embed is not None and len(raws) >= 2:
        near = likeness.vector_neighbours(embed(raws), np.arange(len(raws)))
    i, j = likeness.distinct((likeness.shared_item(bags), near.pairs))
    alike = np.maximum(likeness.weighted_overlap(bags, i, j), near.of(i, j))
    # "has insurance" and "has health insurance" name two things that one has, however alike the words.
    has = [raw.startswith("has ") for raw in raws]
    turned = [
        bool((wordings[a] ^ wordings[b]) & WORDS["turning"]) or (has[a] and has[b] and bags[a] != bags[b])
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    score = (np.where(turned, 0.5, 1.0) * alike).astype(np.float32)
    return Scored(i, j, score, np.zeros((len(i), len(KINDS)), dtype=np.float32))
