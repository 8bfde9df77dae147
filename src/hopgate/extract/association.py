"""Which concepts belong together, from the memories that mention both: association, not raw counts.

Normalised pointwise mutual information (Bouma 2009) says how much more often two names meet than chance would have it;
the discount of Pantel and Lin (2002) takes back what PMI gives away to rare pairs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from hopgate.extract.extraction import MENTIONS_TOGETHER, Fact

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True)
class Pruning:
    """Which names say something about the corpus: those in at least `least` memories and at most a share of them.

    Parameters
    ----------
    least : int
        A name in one memory connects nothing.
    share : float
        A name in more than this share connects everything; 2 % is where the prototype cut.
    floor : int
        The upper bound is never below this many memories, so that a small corpus keeps its concepts.

    Examples
    --------
    >>> Pruning().bounds(5452), Pruning().bounds(100)
    ((2, 109), (2, 10))
    """

    least: int = 2
    share: float = 0.02
    floor: int = 10

    def bounds(self, memories: int) -> tuple[int, int]:
        """Return the smallest and largest document frequency that is kept."""
        return self.least, max(self.floor, math.floor(self.share * memories))

    def kept(self, frequencies: Mapping[str, int], memories: int) -> set[str]:
        """Return the names whose document frequency lies within the bounds."""
        least, most = self.bounds(memories)
        return {name for name, count in frequencies.items() if least <= count <= most}


@dataclass(frozen=True)
class Association(Generic[Id]):
    """Two names that memories mention together, how strongly they are associated, and the evidence."""

    left: str
    right: str
    weight: float
    memories: tuple[Id, ...]

    @property
    def fact(self) -> Fact:
        """The association as a fact; its weight is the fact's confidence."""
        return Fact(self.left, MENTIONS_TOGETHER, self.right, confidence=self.weight)


@dataclass(frozen=True)
class Associate:
    """Find associations in a corpus of mentions. Pure and deterministic.

    Parameters
    ----------
    pruning : Pruning
        Which names take part.
    together : int
        Pairs that fewer memories mention together are left out.
    most : int
        A memory's rarest this many names are paired: a clique of all of a long memory's names costs the square.

    Examples
    --------
    >>> mentions = {1: ["NAS", "Immich"], 2: ["NAS", "Immich"], 3: ["NAS", "Ada"], 4: ["Ada"], 5: ["Bob"]}
    >>> [found] = Associate().over(mentions)
    >>> found.left, found.right, round(found.weight, 2), found.memories
    ('Immich', 'NAS', 0.25, (1, 2))
    """

    pruning: Pruning = Pruning()
    together: int = 2
    most: int = 24

    def over(self, mentions: Mapping[Id, Sequence[str]]) -> list[Association[Id]]:
        """Return the associations with a positive weight, strongest first; ties by name."""
        frequencies = Counter(name for names in mentions.values() for name in set(names))
        total = len(mentions)
        kept = self.pruning.kept(frequencies, total)
        evidence: defaultdict[tuple[str, str], list[Id]] = defaultdict(list)
        for memory, names in mentions.items():
            for pair in _pairs(set(names) & kept, frequencies, self.most):
                evidence[pair].append(memory)
        found = [
            Association(left, right, weight, tuple(memories))
            for (left, right), memories in evidence.items()
            if len(memories) >= self.together
            and (weight := association(len(memories), frequencies[left], frequencies[right], total)) > 0
        ]
        return sorted(found, key=lambda one: (-one.weight, one.left, one.right))


def association(together: int, left: int, right: int, total: int) -> float:
    """Return the discounted, normalised pointwise mutual information of two names: 0 for chance or less, below 1.

    Parameters
    ----------
    together, left, right, total : int
        Memories that mention both, the one, the other, and all memories.

    Examples
    --------
    >>> round(association(50, 50, 50, 1000), 3), association(10, 100, 100, 1000), association(2, 2, 2, 2)
    (0.961, 0.0, 0.0)
    """
    if together in (0, total):
        return 0.0
    information = math.log(together * total / (left * right)) / -math.log(together / total)
    rarer = min(left, right)
    return max(0.0, information) * together / (together + 1) * rarer / (rarer + 1)


def _pairs(names: set[str], frequencies: Mapping[str, int], most: int) -> Iterable[tuple[str, str]]:
    rarest = sorted(names, key=lambda name: (frequencies[name], name))[:most]
    return combinations(sorted(rarest), 2)
