"""What the synthetic corpus is made of, beside its memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from hopgate.memory import Memory


@dataclass(frozen=True, slots=True)
class WorldFact:
    """One true statement of the world, with when it held and when it was recorded.

    Parameters
    ----------
    valid_from, valid_to : date, optional
        The half-open interval ``[valid_from, valid_to)`` in which it holds; None is open.
    evidence : tuple of str
        The memories that state it, the earliest first.
    recorded_at : date
        When it became known: the day of the earliest of them.
    end_recorded_at : date, optional
        When its end became known: the day its successor was recorded.
    dated : bool
        Whether the memory's text names the day it began.
    """

    subject: str
    relation: str
    object: str
    subject_type: str
    object_type: str
    valid_from: date | None
    valid_to: date | None
    evidence: tuple[str, ...]
    recorded_at: date
    end_recorded_at: date | None = None
    dated: bool = False

    def holds(self, as_of: date, known_at: date | None = None) -> bool:
        """Whether it holds as of a day, by what was known at the end of another (by default: by all there is).

        Examples
        --------
        >>> moved, recorded = date(2025, 3, 1), date(2025, 3, 9)
        >>> fact = WorldFact(
        ...     "Gitea", "runs on", "birch", "service", "host", None, moved, ("m1",), date(2025, 1, 1), recorded)
        >>> fact.holds(date(2025, 3, 5)), fact.holds(date(2025, 3, 5), known_at=date(2025, 3, 8))
        (False, True)
        """
        if known_at is not None and known_at < self.recorded_at:
            return False
        began = self.valid_from is None or self.valid_from <= as_of
        end_is_known = known_at is None or (self.end_recorded_at is not None and self.end_recorded_at <= known_at)
        over = self.valid_to is not None and end_is_known and self.valid_to <= as_of
        return began and not over


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with its stratum and what answers it.

    Parameters
    ----------
    metadata : dict
        ``type`` and ``stratum`` (the same word), ``hops``, ``answer``; ``as_of`` and ``known_at`` where asked.
    evidence : tuple of tuple of str
        For each hop, in order, the memories that state it.
    bridges : tuple of str
        The concepts that join consecutive hops: one fewer than hops.
    """

    id: str
    text: str
    metadata: dict[str, Any] = field(hash=False)
    evidence: tuple[tuple[str, ...], ...] = ()
    bridges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corpus:
    """The whole synthetic corpus of one seed.

    Parameters
    ----------
    qrels : dict
        Split (``dev``, ``test``) → query id → memory id → 1.
    triples : list of dict
        The rows of ``triples.jsonl``: facts and mentions as a perfect extractor would give them, none sensitive.
    facts : list of WorldFact
        The timeline: every fact that was ever true.
    canaries : dict
        Sensitive memory id → the words that occur in that memory and nowhere else.
    single_valued : frozenset of str
        Relations of which a subject has one object at a time: a newer one supersedes.
    """

    memories: list[Memory]
    queries: list[Question]
    qrels: dict[str, dict[str, dict[str, int]]]
    triples: list[dict[str, Any]]
    facts: list[WorldFact]
    canaries: dict[str, tuple[str, ...]]
    single_valued: frozenset[str]
