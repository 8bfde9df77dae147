"""A fact's history: what was true when, and since when it is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.plot.style import COLOURS, GREY, THEIRS, axes, titled
from hopgate.times import utc

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.graph.inspect.edges import Edge


def timeline(edges: Sequence[Edge], *, as_of: datetime | None = None, ax: Axes | None = None) -> Axes:
    """Draw edges as bars over the time in which they were true; a mark says since when each is known to be so.

    Parameters
    ----------
    edges : sequence of Edge
        Such as `kb.graph.edges(name)` gives, of one relation.
    as_of : datetime, optional
        Draws a line at this point in valid time; without a zone it is UTC.
    """
    as_of = utc(as_of)
    if not edges:
        raise HopgateError("there is no edge to draw")
    times = [as_of, *(time for edge in edges for time in (edge.valid_from, edge.valid_to, edge.recorded_at))]
    moments = [time for time in times if time]
    first, last = (min(moments), max(moments)) if moments else (None, None)
    if first is None or last is None:
        raise HopgateError("none of these edges has a time")
    margin = (last - first) * 0.08
    low, high = first - margin, last + margin
    ordered = sorted(edges, key=lambda edge: (edge.valid_from or low, edge.target))
    ax = axes(ax, size=(9, 1.2 + 0.5 * len(ordered)))
    for at, edge in enumerate(ordered):
        begin, end = _day(edge.valid_from or low), _day(edge.valid_to or high)
        ax.barh(-at, end - begin, left=begin, height=0.5, color=COLOURS[at % len(COLOURS)], alpha=0.8)
        if edge.recorded_at:
            ax.plot([_day(edge.recorded_at)], [-at], "|", color=GREY, ms=16, mew=2)
    ax.set_yticks([-at for at in range(len(ordered))], [f"{edge.relation} {edge.target}" for edge in ordered])
    ax.xaxis_date()
    if as_of:
        ax.axvline(_day(as_of), color=THEIRS, lw=1.2)
    return titled(ax, f"{ordered[0].source}: bars when true, marks since when known")


def _day(moment: datetime) -> float:
    from matplotlib.dates import date2num

    return float(date2num(moment))  # type: ignore[no-untyped-call]
