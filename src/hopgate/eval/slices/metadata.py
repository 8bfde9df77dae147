"""Slices by what is written beside the queries: all, type, stratum, hops."""

from __future__ import annotations

from dataclasses import dataclass

from hopgate.eval.data.dataset import Query
from hopgate.eval.slices.slice import Known, Slice


@dataclass(frozen=True)
class All(Slice):
    """Every judged query."""

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Hold every query."""
        return True

    def __repr__(self) -> str:
        return "all"


@dataclass(frozen=True)
class Type(Slice):
    """Queries of one type.

    Examples
    --------
    >>> Type("bridge") - HopCount(3)
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
class HopCount(Slice):
    """Queries of this many hops, or of at least as many.

    Examples
    --------
    >>> HopCount(2), HopCount(2, or_more=True)
    (hops=2, hops>=2)
    """

    value: int
    or_more: bool = False

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the hops; a query without a hop count is left out."""
        return query.hops is not None and (query.hops >= self.value if self.or_more else query.hops == self.value)

    def __repr__(self) -> str:
        return f"hops{'>=' if self.or_more else '='}{self.value}"
