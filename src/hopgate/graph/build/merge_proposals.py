"""Names that may be one concept, each with why it is thought so and with the pair that speaks most against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.graph.canonicalise import Canonicaliser, ContextMention
from hopgate.graph.names import normalise
from hopgate.store.graph import concept_rows
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.concept_rows import Concept

# Of a concept with many names so many are compared.
NAMES = 30


@dataclass(frozen=True, slots=True)
class MergeProposal:
    """Two concepts that may be one.

    Parameters
    ----------
    name, near : str
        The name that was left undecided, and the one it resembles.
    score : float
        How alike resolution found them, in 0..1.
    one, other : Concept
        The concepts they belong to: `one` would stay.
    evidence : dict of str to float
        What makes the names alike, by kind.
    least_similar : tuple of str, str and float
        The two names, one of each concept, that are least alike, and how much they are.
    """

    name: str
    near: str
    score: float
    one: Concept
    other: Concept
    evidence: dict[str, float]
    least_similar: tuple[str, str, float]


def merge_proposals(connection: Connection[Any], *, limit: int) -> list[MergeProposal]:
    """List the undecided names, the most alike first."""
    proposals = []
    for pair in concept_rows.ambiguous(connection, limit=limit):
        one = concept_rows.find(connection, normalise(pair.near), pair.near, View((pair.scope,)))
        other = concept_rows.get(connection, pair.concept_id)
        evidence, least = compared(pair.near, pair.name, _names(one), _names(other))
        proposals.append(MergeProposal(pair.name, pair.near, pair.score, one, other, evidence, least))
    return proposals


def compared(
    near: str, name: str, ones: Sequence[str], others: Sequence[str]
) -> tuple[dict[str, float], tuple[str, str, float]]:
    """Say what makes two names alike, and which two names of two concepts are least alike.

    Examples
    --------
    >>> evidence, least = compared("New York City", "NYC", ["New York City", "New York"], ["NYC"])
    >>> sorted(evidence), least[:2]
    (['initials'], ('New York', 'NYC'))
    """
    mentions = [ContextMention(each) for each in dict.fromkeys((near, name, *ones, *others))]
    result = Canonicaliser().fit(mentions)
    pairs = [(a, b, result.why(a, b).direct or 0.0) for a in ones for b in others]
    first, second, score = min(pairs, key=lambda pair: (pair[2], pair[0], pair[1]))
    return result.why(near, name).evidence, (first, second, round(float(score), 4))


def _names(concept: Concept) -> list[str]:
    return [concept.name, *(alias for alias in concept.aliases if alias != concept.name)][:NAMES]
