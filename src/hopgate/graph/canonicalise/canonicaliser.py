"""Mentions in, clusters of names out: the settings, and the one call that ties block, score and cluster together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise import blocking
from hopgate.graph.canonicalise.closeness import closeness
from hopgate.graph.canonicalise.cluster import FLOOR, Linkage, agglomerate
from hopgate.graph.canonicalise.features import KINDS, evidence
from hopgate.graph.canonicalise.parallel import ParallelTasks
from hopgate.graph.canonicalise.partitions import agglomerate_apart
from hopgate.graph.canonicalise.result import Canonicalisation
from hopgate.graph.canonicalise.score import Scored, Scoring, with_same_expansion
from hopgate.graph.canonicalise.units import ContextMention, FloatArray, IntArray, Units, units
from hopgate.graph.names.normal import tokens

Embed = Callable[[Sequence[str]], FloatArray]


@dataclass(frozen=True)
class Canonicaliser:
    """Global canonicalisation of mentions, for a backfill.

    Parameters
    ----------
    threshold : float
        Groups of names at least this alike become one concept.
    linkage : {"average", "complete"}
        How alike two groups are: by the average of their pairs, or by their least similar pair. In the average a name
        weighs the square root of its mentions, so that aliases follow the name most used but do not vanish beside it.
    max_size : int
        No concept has more names than this.
    max_embedded : int
        Only so many names are embedded, those with most mentions first; the rest are compared as strings. A name takes
        about 7 ms of a core with bge-small, so that the default costs 15 s on two cores.
    scoring : Scoring
        How evidence becomes a score.

    Examples
    --------
    >>> names = ("Marilyn Monroe", "Monroe", "James Dean")
    >>> result = Canonicaliser().fit([ContextMention(name) for name in names])
    >>> [cluster.names for cluster in result.clusters()]
    [('Marilyn Monroe', 'Monroe'), ('James Dean',)]
    """

    threshold: float = 0.5
    linkage: Linkage = "average"
    max_size: int = 256
    max_embedded: int = 4096
    scoring: Scoring = field(default_factory=Scoring)

    def fit(
        self, mentions: Sequence[ContextMention], embed: Embed | None = None, tasks: ParallelTasks | None = None
    ) -> Canonicalisation:
        """Cluster the mentions' names.

        Parameters
        ----------
        embed : callable, optional
            Gives unit rows for names, such as an embedder's `documents`.
        tasks : ParallelTasks, optional
            Who compares and clusters partitions of the names, where it is not this process; to the same result.
        """
        return self.fit_units(units(mentions), embed, tasks)

    def fit_units(
        self, found: Units, embed: Embed | None = None, tasks: ParallelTasks | None = None, floor: float = FLOOR
    ) -> Canonicalisation:
        """Cluster names whose mentions were gathered already, as a store has them.

        Groups less alike than `floor` are not joined: at the threshold that saves what only `rethreshold` would ask.
        """
        scored = self.score(found, embed, tasks)
        weights = np.sqrt(found.counts)
        merges = (
            agglomerate(scored, weights, self.linkage, floor, self.max_size)
            if tasks is None
            else agglomerate_apart(scored, weights, tasks, self.linkage, floor, self.max_size)
        )
        return Canonicalisation(found, scored, tuple(merges), self.threshold)

    def score(self, found: Units, embed: Embed | None = None, tasks: ParallelTasks | None = None) -> Scored:
        """Block and score the pairs of units."""
        if not len(found):
            nothing = np.zeros(0, dtype=np.int64)
            return Scored(nothing, nothing, np.zeros(0, np.float32), np.zeros((0, len(KINDS)), np.float32))
        names = found.names
        longer, spelt = blocking.expansions(names), blocking.acronyms(names)
        blocks: list[Iterable[tuple[int, int]] | IntArray] = [
            blocking.same_name(names),
            blocking.shared_item(map(tokens, names)),
            ((short, long) for group in (longer, spelt) for short, longs in group.items() for long in longs),
            blocking.ngram_neighbours(names, tasks),
        ]
        if embed is None or self.max_embedded < 2 or len(names) < 2:
            i, j = blocking.pairs(blocks)
            near = np.full(len(i), np.nan, dtype=np.float32)
        else:
            known = np.sort(np.argsort(-found.counts, kind="stable")[: self.max_embedded]).astype(np.int64)
            vectors = _embedded(embed, [found.spellings[unit] for unit in known])
            scale = closeness(vectors)
            i, j = blocking.pairs([*blocks, blocking.vector_neighbours(vectors, known, scale)])
            near = _pair_closeness(vectors, known, len(names), i, j, scale)
        columns, strongest = evidence(found, i, j, longer, spelt, near, self.scoring.fit, tasks)
        scored = Scored(i, j, self.scoring.combine(columns, found, i, j), columns)
        return with_same_expansion(scored, strongest)


def _embedded(embed: Embed, names: list[str]) -> FloatArray:
    vectors = np.asarray(embed(names), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(names) or not np.isfinite(vectors).all():
        raise HopgateError(
            f"the embedder gave {vectors.shape} for {len(names)} names: it must give one finite row a name"
        )
    return vectors


def _pair_closeness(
    vectors: FloatArray,
    known: IntArray,
    count: int,
    i: IntArray,
    j: IntArray,
    scale: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Closeness of the pairs by embedding; NaN where a vector is missing."""
    row = np.full(count, -1, dtype=np.int64)
    row[known] = np.arange(len(known))
    near = np.full(len(i), np.nan, dtype=np.float32)
    both = np.flatnonzero((row[i] >= 0) & (row[j] >= 0))
    for part in np.array_split(both, len(both) // 65536 + 1):
        near[part] = scale(np.einsum("ij,ij->i", vectors[row[i[part]]], vectors[row[j[part]]]))
    return near
