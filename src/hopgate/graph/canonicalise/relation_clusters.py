"""Relations of the same meaning, brought together; the raw ones are kept.

As in Extract-Define-Canonicalize (Zhang & Soh, 2024) relations are compared by embeddings beside their words, for
words alone (led, headed) often share nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.graph.canonicalise import blocking
from hopgate.graph.canonicalise.closeness import closeness
from hopgate.graph.canonicalise.cluster import agglomerate, cut
from hopgate.graph.canonicalise.features import KINDS
from hopgate.graph.canonicalise.overlap import weighted_jaccard
from hopgate.graph.canonicalise.score import Scored
from hopgate.graph.canonicalise.units import FloatArray
from hopgate.graph.names.normal import normalise


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Forms of to be and to have, which carry the tense of a relation and not its meaning.
_AUXILIARY = _words("be is are was were been being am has have had do does did will would")
# Words that turn a relation's meaning or its direction around: relations that differ in one are different.
_TURNING = _words("not no never non by to from before after of former ex")


@dataclass(frozen=True)
class Relations:
    """The canonical relation of each raw one, and how alike the two are.

    Examples
    --------
    >>> found = canonicalise_relations(["was born in", "born in", "works at", "was born in"])
    >>> found.canonical["born in"], found.canonical["works at"]
    ('was born in', 'works at')
    """

    canonical: Mapping[str, str]
    scores: Mapping[str, float] = field(repr=False)


def canonicalise_relations(
    relations: Sequence[str],
    embed: Callable[[Sequence[str]], FloatArray] | None = None,
    threshold: float = 0.6,
) -> Relations:
    """Cluster relations by complete linkage over their words and embeddings; the most frequent gives its name.

    Parameters
    ----------
    relations : sequence of str
        As extracted, once for every time they were.
    embed : callable, optional
        Gives unit rows for texts, such as an embedder's `documents`.
    threshold : float
        The least similar two of a cluster are at least this alike.
    """
    counts = Counter(relations)
    raws = list(counts)
    if not raws:
        return Relations({}, {})
    scored = _scored(raws, None if embed is None else np.asarray(embed(raws), dtype=np.float32))
    merges = agglomerate(scored, np.ones(len(raws)), "complete", floor=min(threshold, 0.2))
    labels = cut(merges, len(raws), threshold).tolist()
    pairs = {
        (a, b): score for a, b, score in zip(scored.i.tolist(), scored.j.tolist(), scored.score.tolist(), strict=True)
    }
    members: dict[int, list[int]] = {}
    for at, label in enumerate(labels):
        members.setdefault(label, []).append(at)
    canonical, scores = {}, {}
    for at, raw in enumerate(raws):
        best = max(members[labels[at]], key=lambda other: (counts[raws[other]], -len(raws[other]), -other))
        canonical[raw] = raws[best]
        scores[raw] = 1.0 if best == at else pairs[min(at, best), max(at, best)]
    return Relations(canonical, scores)


def _scored(raws: list[str], vectors: FloatArray | None) -> Scored:
    words = [frozenset(normalise(raw.replace("_", " ")).split()) for raw in raws]
    bags = [frozenset(comparison_form(word) for word in one - _AUXILIARY) or one for one in words]
    blocks = [blocking.shared_item(bags)]
    if vectors is None:
        i, j = blocking.pairs(blocks)
        near = np.zeros(len(i), dtype=np.float32)
    else:
        scale = closeness(vectors)
        i, j = blocking.pairs([*blocks, blocking.vector_neighbours(vectors, np.arange(len(raws)), scale)])
        near = scale(np.einsum("ij,ij->i", vectors[i], vectors[j]))
    overlap = weighted_jaccard(bags, i, j)
    # "has insurance" and "has health insurance" name two things that one has, however alike the words.
    has = [raw in ROLE_RELATIONS for raw in raws]
    turned = [
        bool((words[a] ^ words[b]) & _TURNING) or (has[a] and has[b] and bags[a] != bags[b])
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    score = (np.where(turned, 0.5, 1.0) * np.maximum(overlap, near)).astype(np.float32)
    columns = np.zeros((len(i), len(KINDS)), dtype=np.float32)
    columns[:, 1], columns[:, 5] = overlap, near
    return Scored(i, j, score, columns)
