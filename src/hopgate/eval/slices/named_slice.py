"""Slices by the queries' own ids."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as member

from hopgate.eval.data.queries import Query
from hopgate.eval.slices.slice import Known, Slice


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
