"""Incremental resolution: which concept does a new mention mean? Its neighbours decide; nothing is re-clustered.

An exact name decides. Otherwise the neighbours found by name and by embedding are scored as in the global
canonicalisation, and two thresholds make three bands: merge, ask, new. Only the middle band may ask a model; without
one the mention stays apart and is listed as ambiguous.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise import blocking
from hopgate.graph.canonicalise.features import evidence
from hopgate.graph.canonicalise.score import Scored, Scoring, with_same_expansion
from hopgate.graph.canonicalise.units import ContextMention, Units
from hopgate.graph.names.normal import normalise


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention might mean: its names, how often it is mentioned, and how close it is by embedding.

    `closeness` is in 0..1 on the scale of `hopgate.graph.canonicalise.closeness`, None where it is not known.
    """

    id: Hashable
    names: tuple[str, ...]
    kind: str | None = None
    mentions: int = 1
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class NameDecision:
    """What to do with a mention: `concept` is whom to merge with or to ask about, None for a new concept."""

    action: Literal["merge", "ask", "new"]
    concept: Hashable | None
    score: float
    reason: str


@dataclass(frozen=True)
class Resolver:
    """Resolution by two thresholds.

    The upper one is the threshold of the global canonicalisation, so that a graph that grew and one that was rebuilt
    agree. Between the two a model may be asked.

    Examples
    --------
    >>> known = [Candidate(1, ("Marilyn Monroe",), mentions=9), Candidate(2, ("James Dean",))]
    >>> Resolver().resolve(ContextMention("marilyn  monroe"), known)
    NameDecision(action='merge', concept=1, score=1.0, reason='same name')
    >>> [Resolver().resolve(ContextMention(name), known).action for name in ("Monroe", "Berlin")]
    ['merge', 'new']
    """

    merge: float = 0.5
    ask: float = 0.35
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        if not 0 <= self.ask <= self.merge <= 1:
            raise HopgateError(f"thresholds must be 0 <= ask <= merge <= 1, not ask {self.ask} and merge {self.merge}")

    def resolve(self, mention: ContextMention, candidates: Sequence[Candidate]) -> NameDecision:
        """Decide for one mention; ties go to the candidate mentioned more, then to the first."""
        exact = _namesakes(mention, candidates)
        if len(exact) == 1:
            return NameDecision("merge", exact[0].id, 1.0, "same name")
        if exact:
            best = max(exact, key=lambda candidate: (candidate.kind == mention.kind, candidate.mentions))
            return NameDecision("ask", best.id, 1.0, f"{len(exact)} concepts have this name")
        scored = self.scores(mention, candidates)
        if not scored:
            return NameDecision("new", None, 0.0, "no neighbour")
        order = sorted(range(len(scored)), key=lambda at: (-scored[at], -candidates[at].mentions, at))
        best, score = candidates[order[0]], scored[order[0]]
        if score < self.ask:
            return NameDecision("new", None, score, f"nearest is {best.names[0]!r}")
        second = scored[order[1]] if len(order) > 1 else 0.0
        if score >= self.merge > second:
            return NameDecision("merge", best.id, score, f"like {best.names[0]!r}")
        reason = "two are near enough" if second >= self.merge else "between the thresholds"
        return NameDecision("ask", best.id, score, f"{reason}: {best.names[0]!r}")

    def scores(self, mention: ContextMention, candidates: Sequence[Candidate]) -> list[float]:
        """Score each candidate: the average over its names, weighted as in the global canonicalisation.

        The candidates together are the corpus: a short name that several of them could expand is shared among them.
        """
        if not candidates:
            return []
        owners = [at for at, candidate in enumerate(candidates) for _ in candidate.names]
        units = _units(mention, candidates)
        i, j = (side.astype(np.int64) for side in np.triu_indices(len(units), 1))
        near = np.full(len(i), np.nan, dtype=np.float32)
        near[: len(owners)] = [candidates[at].closeness for at in owners]  # the mention's pairs come first
        longer, spelt = blocking.expansions(units.names), blocking.acronyms(units.names)
        columns, strongest = evidence(units, i, j, longer, spelt, near, self.scoring.fit)
        scored = with_same_expansion(Scored(i, j, self.scoring.combine(columns, units, i, j), columns), strongest)
        weights = np.sqrt(units.counts[1:])
        total = np.bincount(owners, weights, minlength=len(candidates))
        summed = np.bincount(owners, weights * scored.score[: len(owners)], minlength=len(candidates))
        return [float(score) for score in summed / total]


def _namesakes(mention: ContextMention, candidates: Sequence[Candidate]) -> list[Candidate]:
    wanted = normalise(mention.name)
    return [candidate for candidate in candidates if wanted in map(normalise, candidate.names)]


def _units(mention: ContextMention, candidates: Sequence[Candidate]) -> Units:
    """The mention first, then every name of every candidate; a concept's mentions belong mostly to its first name."""
    spellings, kinds, counts = [mention.name], [mention.kind], [1.0]
    for candidate in candidates:
        for place, name in enumerate(candidate.names, start=1):
            spellings.append(name)
            kinds.append(candidate.kind)
            counts.append(max(1.0, candidate.mentions / place**2))
    return Units(
        names=tuple(map(normalise, spellings)),
        kinds=tuple(kinds),
        counts=np.array(counts),
        spellings=tuple(spellings),
        contexts=tuple(Counter() for _ in spellings),
        of_mention=np.zeros(0, dtype=np.int64),
    )
