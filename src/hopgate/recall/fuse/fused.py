"""What fusion gives: one scored candidate, the protocol of a fuser, and the one order that ties are broken in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

Id = TypeVar("Id", int, str)
Leg: TypeAlias = Sequence[tuple[Id, float]]
"""A ranked list of (id, score), best first, no id twice."""
_ID, _SCORE = itemgetter(0), itemgetter(1)
NOTHING: Mapping[str, float] = MappingProxyType({})
"""What a memory is granted that every leg could see."""


class Fused(NamedTuple, Generic[Id]):
    """A candidate of the pool after fusion.

    A named tuple rather than a frozen dataclass: a query makes hundreds, and these are made in less than half the time.

    Parameters
    ----------
    id : int or str
        The memory.
    score : float
        ``(total([*contributions.values(), *granted.values()]) + bonus) * prior``.
    contributions : mapping of leg name to float
        What each leg that lists the memory adds to the score.
    ranks : mapping of leg name to int
        The memory's rank in each of those legs, from 1.
    bonus : float
        What an exact match added.
    prior : float
        What the importance prior multiplied by.
    granted : mapping of leg name to float
        What it is given in the place of each leg that could not see it, see `recall.fuse.unseen`.

    Examples
    --------
    >>> hit = Fused("m1", 1.5, {"lexical": 0.5}, {"lexical": 1}, granted={"dense": 1.0})
    >>> hit.scale
    3.0
    """

    id: Id
    score: float
    contributions: Mapping[str, float]
    ranks: Mapping[str, int]
    bonus: float = 0.0
    prior: float = 1.0
    granted: Mapping[str, float] = NOTHING

    @property
    def scale(self) -> float:
        """By what the legs that could see the memory were scaled for those that could not; 1 where all could."""
        seen = total(self.contributions.values())
        return total([*self.contributions.values(), *self.granted.values()]) / seen if self.granted and seen else 1.0


@runtime_checkable
class Fuser(Protocol):
    """Pool → one ranking. A fuser is a frozen value whose `repr` is its identity.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> isinstance(RRF(), Fuser)
    True
    """

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of every leg it knows, 0 for a leg that is off."""
        ...

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ...
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        ...


def active(fuser: Fuser) -> tuple[str, ...]:
    """Name the legs that have a weight above 0: the others need not be run at all.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> active(RRF(graph=0))
    ('lexical', 'dense')
    """
    return tuple(name for name, weight in fuser.weights.items() if weight > 0)


def total(contributions: Iterable[float]) -> float:
    """Add contributions, smallest first.

    The order depends on the values alone, so that neither the order of the legs nor equal ranks swapped between legs
    of equal weight change a bit. (The builtin `sum` compensates from Python 3.12 on: two versions would differ.)

    Examples
    --------
    >>> total([0.3, 0.1, 0.2]) == total([0.2, 0.3, 0.1])
    True
    """
    result = 0.0
    for value in sorted(contributions):
        result += value
    return result


def ranked(hits: Iterable[Fused[Id]]) -> list[Fused[Id]]:
    """Sort by score, best first; ties by id, ascending.

    Hits that all come from one and the same leg alone break ties by that leg's own order instead: a leg alone is
    never reordered.

    Examples
    --------
    >>> tied = [Fused("b", 1.0, {"dense": 1.0}, {"dense": 1}), Fused("a", 1.0, {"dense": 1.0}, {"dense": 2})]
    >>> [hit.id for hit in ranked(tied)]
    ['b', 'a']
    >>> [hit.id for hit in ranked([*tied, Fused("c", 1.0, {"graph": 1.0}, {"graph": 1})])]
    ['a', 'b', 'c']
    """
    pool = list(hits)
    legs: set[str] = set()
    for hit in pool:
        legs.update(hit.ranks)
        if len(legs) > 1:
            break
    if len(legs) == 1:
        (alone,) = legs
        pool.sort(key=lambda hit: hit.ranks[alone])
    else:
        pool.sort(key=_ID)
    # Sorting keeps the order of equals, also from the end.
    pool.sort(key=_SCORE, reverse=True)
    return pool
