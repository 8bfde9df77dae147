"""A map of concepts: each a dot, near what is like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.plot.style import GREY, axes, colours, legend, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def concept_map(
    points: NDArray[np.floating],
    names: Sequence[str],
    *,
    groups: Sequence[Any] | None = None,
    sizes: Sequence[float] | None = None,
    label: int = 25,
    ax: Axes | None = None,
) -> Axes:
    """Draw concepts in a plane, coloured by group, as large as they are mentioned.

    Parameters
    ----------
    points : array (n, 2)
        Such as `project` gives.
    groups : sequence, optional
        Cluster or kind of each.
    sizes : sequence of float, optional
        In how many memories each is mentioned.
    label : int
        How many of the first are named.
    """
    ax = axes(ax, size=(9, 6), frame=False)
    groups = list(groups) if groups is not None else ["concepts"] * len(names)
    shown = colours(groups)
    area = 12 + 60 * _scaled(sizes, len(names))
    ax.scatter(points[:, 0], points[:, 1], s=area, c=[shown[group] for group in groups], alpha=0.75, linewidths=0)
    for (x, y), name in list(zip(points, names, strict=True))[:label]:
        ax.annotate(name, (x, y), color=GREY, fontsize=8, xytext=(3, 3), textcoords="offset points")
    if len(shown) > 1:
        legend(ax, shown)
    return titled(ax, f"{len(names)} concepts")


@dataclass(frozen=True)
class Html:
    """A picture that a notebook shows and a browser reads: hovering over a dot names it."""

    text: str

    def _repr_html_(self) -> str:
        return self.text


def hover_map(
    points: NDArray[np.floating],
    names: Sequence[str],
    *,
    groups: Sequence[Any] | None = None,
    sizes: Sequence[float] | None = None,
    width: int = 760,
    height: int = 480,
) -> Html:
    """Draw the same map as SVG, in which hovering over a dot shows its name and group.

    Examples
    --------
    >>> picture = hover_map(np.array([[0.0, 0], [1, 1]]), ["Gitea", "birch"])
    >>> "<title>Gitea</title>" in picture.text
    True
    """
    groups = list(groups) if groups is not None else [""] * len(names)
    shown = colours(groups)
    low, high = points.min(axis=0), points.max(axis=0)
    placed = (points - low) / np.where(high > low, high - low, 1)
    radius = 3 + 5 * _scaled(sizes, len(names))
    dots = [
        f'<circle cx="{12 + x * (width - 24):.1f}" cy="{12 + (1 - y) * (height - 24):.1f}" r="{r:.1f}" '
        f'fill="{shown[group]}" fill-opacity="0.75"><title>{escape(name)}{_of(group)}</title></circle>'
        for (x, y), name, group, r in zip(placed, names, groups, radius, strict=True)
    ]
    return Html(f'<svg viewBox="0 0 {width} {height}" width="100%" role="img">{"".join(dots)}</svg>')


def _of(group: Any) -> str:
    return f" ({escape(str(group))})" if str(group) else ""


def _scaled(sizes: Sequence[float] | None, count: int) -> NDArray[np.float64]:
    """Between 0 and 1, by the root, so that an area grows with the count."""
    if sizes is None:
        return np.zeros(count)
    found = np.sqrt(np.asarray(sizes, np.float64))
    return np.asarray(found / max(float(found.max()), 1e-9), np.float64)
