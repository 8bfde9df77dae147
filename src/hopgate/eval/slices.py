"""Slices as values: a named subset of the queries that knows whether it was defined from the runs it will compare."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as member

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.adjacency import Space, adjacent
from hopgate.eval.query import Query
from hopgate.eval.run import Qrels, relevant

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Known:
    """What a slice may look at: queries, gold, the memories' texts, and embedding spaces by name.

    Texts come from the sensitivity guard; a slice by text leaves a query with a sensitive gold memory out.
    """

    queries: Mapping[str, Query]
    qrels: Qrels
    texts: Mapping[str, str] = member(default_factory=dict)
    spaces: Mapping[str, Space] = member(default_factory=dict)


class Slice(ABC):
    """A subset of the judged queries. Slices combine with `|`, `&` and `-`."""

    from_runs: bool = False
    """Whether it was defined by what the compared runs found or missed."""

    @property
    def spaces(self) -> frozenset[str]:
        """The embedding spaces it looks at."""
        return frozenset()

    @abstractmethod
    def holds(self, query: Query, known: Known) -> bool:
        """Say whether a query belongs to it."""

    def select(self, known: Known) -> frozenset[str]:
        """Give the ids of the judged queries that belong to it."""
        return frozenset(name for name in known.qrels if self.holds(known.queries[name], known))

    def __or__(self, other: Slice) -> Slice:
        return Both("|", self, other)

    def __and__(self, other: Slice) -> Slice:
        return Both("&", self, other)

    def __sub__(self, other: Slice) -> Slice:
        return Both("-", self, other)


@dataclass(frozen=True)
class All(Slice):
    """Every judged query."""

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Say yes."""
        return True

    def __repr__(self) -> str:
        return "all"


@dataclass(frozen=True)
class Type(Slice):
    """Queries of one type.

    Examples
    --------
    >>> Type("bridge") - Hops(3)
    type=bridge - hops=3
    """

    value: str

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the type."""
        return query.type == self.value

    def __repr__(self) -> str:
        return f"type={self.value}"


@dataclass(frozen=True)
class Stratum(Slice):
    """Queries of one stratum: exact, paraphrase or multi-hop."""

    value: str

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the stratum."""
        return query.stratum == self.value

    def __repr__(self) -> str:
        return f"stratum={self.value}"


@dataclass(frozen=True)
class Hops(Slice):
    """Queries of this many hops, or of at least as many.

    Examples
    --------
    >>> Hops(2), Hops(2, or_more=True)
    (hops=2, hops>=2)
    """

    value: int
    or_more: bool = False

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the hops; a query that does not tell is left out."""
        return query.hops is not None and (query.hops >= self.value if self.or_more else query.hops == self.value)

    def __repr__(self) -> str:
        return f"hops{'>=' if self.or_more else '='}{self.value}"


@dataclass(frozen=True)
class Overlap(Slice):
    """Queries of whose words at most this share stands in the best-matching gold memory: what words alone cannot find.

    Examples
    --------
    >>> Overlap(0.3)
    overlap<=0.3
    """

    at_most: float

    def holds(self, query: Query, known: Known) -> bool:
        """Compare the words of the query with those of each gold memory."""
        words = _words(query.text)
        gold = relevant(known.qrels[query.id])
        if not words or not gold <= known.texts.keys():
            return False
        return max(len(words & _words(known.texts[name])) / len(words) for name in gold) <= self.at_most

    def __repr__(self) -> str:
        return f"overlap<={self.at_most:g}"


@dataclass(frozen=True)
class NonAdjacent(Slice):
    """Multi-hop queries whose gold memories do not hang together in an embedding space.

    Two memories are adjacent when either is among the other's nearest `neighbours`. The slice holds the queries whose
    gold cannot be walked through by such steps alone: some hop is a jump that similarity does not make. The space
    must not be the one under test, or the slice would favour the graph by construction; the audit looks.

    Examples
    --------
    >>> NonAdjacent("minilm")
    non-adjacent(minilm, 10)
    """

    space: str
    neighbours: int = 10

    @property
    def spaces(self) -> frozenset[str]:
        """The space it looks at."""
        return frozenset({self.space})

    def holds(self, query: Query, known: Known) -> bool:
        """Try to walk through the gold memories by adjacent steps."""
        if self.space not in known.spaces:
            raise HopgateError(f"the slice {self} needs vectors of the embedding space {self.space!r}")
        space = known.spaces[self.space]
        rows = [space.rows[name] for name in sorted(relevant(known.qrels[query.id])) if name in space.rows]
        return len(rows) > 1 and not _connected(adjacent(space.vectors, rows, self.neighbours))

    def __repr__(self) -> str:
        return f"non-adjacent({self.space}, {self.neighbours})"


@dataclass(frozen=True)
class Picked(Slice):
    """Queries named one by one; say so when a run's hits or misses picked them.

    Examples
    --------
    >>> Picked("base misses", frozenset({"q1"}), from_runs=True).from_runs
    True
    """

    name: str
    ids: frozenset[str] = member(repr=False)
    from_runs: bool = False

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Look the id up."""
        return query.id in self.ids

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Recorded(Slice):
    """A slice as a saved gate keeps it: its name, its queries, and how it was defined."""

    name: str
    ids: frozenset[str] = member(repr=False)
    from_runs: bool = False
    looked_at: frozenset[str] = frozenset()

    @property
    def spaces(self) -> frozenset[str]:
        """The spaces it looked at."""
        return self.looked_at

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Look the id up."""
        return query.id in self.ids

    def __repr__(self) -> str:
        return self.name


_RULES: Mapping[str, Callable[[bool, bool], bool]] = {
    "|": lambda left, right: left or right,
    "&": lambda left, right: left and right,
    "-": lambda left, right: left and not right,
}


@dataclass(frozen=True)
class Both(Slice):
    """Two slices put together; it was defined from the runs when either was."""

    rule: str
    left: Slice
    right: Slice

    @property
    def from_runs(self) -> bool:  # type: ignore[override]
        """Whether either part was defined from the runs."""
        return self.left.from_runs or self.right.from_runs

    @property
    def spaces(self) -> frozenset[str]:
        """The spaces both look at."""
        return self.left.spaces | self.right.spaces

    def holds(self, query: Query, known: Known) -> bool:
        """Ask both."""
        return _RULES[self.rule](self.left.holds(query, known), self.right.holds(query, known))

    def __repr__(self) -> str:
        sides = [f"({side!r})" if isinstance(side, Both) else repr(side) for side in (self.left, self.right)]
        return f" {self.rule} ".join(sides)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _connected(links: NDArray[np.bool_]) -> bool:
    """Whether every memory can be reached from the first."""
    reached = np.zeros(len(links), dtype=bool)
    reached[0] = True
    for _ in range(len(links)):
        reached |= links[reached].any(axis=0)
    return bool(reached.all())
