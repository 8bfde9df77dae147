"""What every slice shares: which queries it holds, and how it was defined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as member

from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels
from hopgate.eval.slices.adjacency import VectorSpace


@dataclass(frozen=True)
class Known:
    """What a slice may look at: queries, gold, and embedding spaces by name."""

    queries: Mapping[str, Query]
    qrels: Qrels
    spaces: Mapping[str, VectorSpace] = member(default_factory=dict)


class Slice(ABC):
    """A subset of the judged queries. Slices combine with `|`, `&` and `-`."""

    from_runs: bool = False
    """Whether it was defined by what the compared runs found or missed."""

    spaces: frozenset[str] = frozenset()
    """The embedding spaces it looks at."""

    @abstractmethod
    def holds(self, query: Query, known: Known) -> bool:
        """Say whether a query belongs to it."""

    def select(self, known: Known) -> frozenset[str]:
        """Give the ids of the judged queries that belong to it."""
        return frozenset(name for name in known.qrels if self.holds(known.queries[name], known))

    def __or__(self, other: Slice) -> Slice:
        return CombinedSlice("|", self, other)

    def __and__(self, other: Slice) -> Slice:
        return CombinedSlice("&", self, other)

    def __sub__(self, other: Slice) -> Slice:
        return CombinedSlice("-", self, other)


_RULES: Mapping[str, Callable[[bool, bool], bool]] = {
    "|": lambda left, right: left or right,
    "&": lambda left, right: left and right,
    "-": lambda left, right: left and not right,
}


@dataclass(frozen=True)
class CombinedSlice(Slice):
    """Two slices put together; it was defined from the runs when either was."""

    rule: str
    left: Slice
    right: Slice

    @property
    def from_runs(self) -> bool:  # type: ignore[override]
        """Whether either part was defined from the runs."""
        return self.left.from_runs or self.right.from_runs

    @property
    def spaces(self) -> frozenset[str]:  # type: ignore[override]
        """The embedding spaces that either part looks at."""
        return self.left.spaces | self.right.spaces

    def holds(self, query: Query, known: Known) -> bool:
        """Ask both."""
        return _RULES[self.rule](self.left.holds(query, known), self.right.holds(query, known))

    def __repr__(self) -> str:
        sides = [f"({side!r})" if isinstance(side, CombinedSlice) else repr(side) for side in (self.left, self.right)]
        return f" {self.rule} ".join(sides)
