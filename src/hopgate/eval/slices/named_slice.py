"""Slices by the queries' own ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as member
from typing import Any

from hopgate.eval.data.dataset import Query
from hopgate.eval.slices.slice import Known, Slice


@dataclass(frozen=True)
class NamedSlice(Slice):
    """Queries named one by one: a slice as a saved gate keeps it, or one of your own.

    Parameters
    ----------
    name : str
        What it prints as.
    ids : frozenset of str
        The queries.
    from_runs : bool
        Whether the hits or misses of a run chose them; the audit refuses such a slice.
    spaces : frozenset of str
        The embedding spaces that chose them.

    Examples
    --------
    >>> NamedSlice("base misses", frozenset({"q1"}), from_runs=True)
    base misses
    """

    name: str
    ids: frozenset[str] = member(repr=False)
    from_runs: bool = False
    spaces: frozenset[str] = frozenset()

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Look the id up."""
        return query.id in self.ids

    def __repr__(self) -> str:
        return self.name

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> NamedSlice:
        """Make it from a saved gate's record of any slice."""
        return cls(record["name"], frozenset(record["queries"]), record["from_runs"], frozenset(record["spaces"]))
