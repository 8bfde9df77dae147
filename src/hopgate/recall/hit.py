"""What recall returns: a memory, its place, and on demand why it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hopgate.memory import Memory

if TYPE_CHECKING:
    from hopgate.graph.walk.paths import PathPart
    from hopgate.recall.outdated import HitFact
    from hopgate.recall.rerank import RerankCost


@dataclass(frozen=True, slots=True)
class LegPart:
    """One leg's part in a hit: the memory's rank in its list (none: not listed), its real score, and what that adds.

    A leg that could not see the memory has no score of it, and is expected to add so much.
    """

    rank: int | None
    score: float | None
    contribution: float


@dataclass(frozen=True, slots=True)
class Passage:
    """The part of a long memory that speaks for it: characters from `start` up to `end` of its content."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A word of the query that is matched better than in other candidates."""

    word: str
    score: float  # by how much the match is better than usual, discounted where it came over an arc
    by: str  # whose words matched it: the memory itself, or one that it is joined to
    part: str = ""  # the part of the graph that joins them; empty where the memory's own words matched

    def to_dict(self) -> dict[str, Any]:
        """The match as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.word} ← {self.by} ({self.part})" if self.part else self.word


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory.

    Parameters
    ----------
    rank : int
        Its place, from 1.
    score : float
        (the legs' contributions + what is granted for legs that could not see the memory + bonus) × prior; the
        cross-encoder reorders and leaves it as it is.
    similarity : float, optional
        How near it is to the query, whatever else was found, at most 1: the mean over the query's words of their best
        match among its tokens; in a store without tokens the cosine of its vector. None where it has neither.
    cosine : float, optional
        Of its vector and the query's.
    legs : mapping of leg name to LegPart
        The legs that could see it and say something.
    path : tuple of str
        For the graph leg: seed concept → relation → concept → memory.
    path_parts : tuple of PathPart
        The same path, each part with its kind and its id, to draw it.
    unseen : mapping of leg name to float
        The legs that could not see the memory (no vector, sensitive, not linked), and what it was granted in the place
        of each.
    in_graph : bool
        Whether the graph has it.
    as_of : str
        For the graph leg: as of when it walked and why, where the query itself says so.
    rerank_score : float, optional
        What the cross-encoder gave the memory, where it is on and came to it.
    rerank_cost : RerankCost, optional
        What the cross-encoder read for this query and how long it took; the same for all hits of a query.
    matches : tuple of WordMatch
        The query's words that late interaction found matched, each by the memory's own or, over an arc, by another's.
    facts : tuple of HitFact
        What the memory is evidence for, and whether it holds.
    outdated : bool
        Whether all that the query asks about of it is over; what ended it stands above it then, where it is a hit.
    passage : Passage, optional
        Of a long memory the passage that speaks for it: the cross-encoder's best, else the nearest by vector.
    """

    rank: int
    external_id: str
    score: float
    memory: Memory
    similarity: float | None = None
    cosine: float | None = None
    legs: Mapping[str, LegPart] = field(default_factory=dict)
    bonus: float = 0.0
    prior: float = 1.0
    rerank_score: float | None = None
    path: tuple[str, ...] = ()
    unseen: Mapping[str, float] = field(default_factory=dict)
    in_graph: bool = True
    as_of: str = ""
    rerank_cost: RerankCost | None = None
    passage: Passage | None = None
    path_parts: tuple[PathPart, ...] = ()
    matches: tuple[WordMatch, ...] = ()
    facts: tuple[HitFact, ...] = ()
    outdated: bool = False

    @property
    def over(self) -> str:
        """What is over of an outdated memory, in words: `NAS runs on atlas, over since 2024-02-02 by n7`."""
        return "; ".join(str(fact) for fact in self.facts if fact.over) if self.outdated else ""

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain values; what was not asked for or did not happen is left out."""
        values: dict[str, Any] = {
            "rank": self.rank,
            "_id": self.external_id,
            "score": self.score,
            "content": self.memory.content,
            "importance": self.memory.importance,
            "scope": self.memory.scope,
            "created_at": self.memory.created_at.isoformat() if self.memory.created_at else None,
            "tags": list(self.memory.tags),
            "category": self.memory.category,
            "extra": self.memory.extra,
            "similarity": self.similarity,
            "cosine": self.cosine,
        }
        if self.legs:
            values["legs"] = {name: asdict(part) for name, part in self.legs.items()}
            values |= {"bonus": self.bonus, "prior": self.prior, "unseen": dict(self.unseen), "in_graph": self.in_graph}
        optional = {
            "rerank_score": self.rerank_score,
            "rerank_cost": self.rerank_cost and self.rerank_cost.to_dict(),
            "passage": self.passage and asdict(self.passage),
            "path": list(self.path) or None,
            "facts": [fact.to_dict() for fact in self.facts] or None,
            "outdated": self.outdated or None,
            "matches": [match.to_dict() for match in self.matches] or None,
            "as_of": self.as_of or None,
        }
        return values | {name: value for name, value in optional.items() if value is not None}
