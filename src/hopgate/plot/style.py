"""One look for all pictures: colours and greys that are legible on a light page and on a dark one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, less black and yellow, which vanish on one of the two pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d")
GREY = "#808080"
FAINT = "#80808055"
OURS, THEIRS = COLOURS[0], COLOURS[1]


def axes(ax: Axes | None = None, *, size: tuple[float, float] = (8, 5), frame: bool = True) -> Axes:
    """Give the axes to draw on, new ones where none are given, in the look of this package."""
    if ax is None:
        from matplotlib import pyplot

        figure, ax = pyplot.subplots(figsize=size, layout="constrained")
        figure.patch.set_alpha(0)
    ax.set_facecolor("none")
    ax.tick_params(colors=GREY, labelsize=9)
    for name, spine in ax.spines.items():
        spine.set_color(GREY)
        spine.set_visible(frame and name in ("left", "bottom"))
    if not frame:
        ax.set_xticks([])
        ax.set_yticks([])
    return ax


def titled(ax: Axes, title: str, x: str = "", y: str = "") -> Axes:
    """Name the picture and its axes in grey."""
    ax.set_title(title, loc="left", color=GREY, fontsize=11)
    ax.set_xlabel(x, color=GREY)
    ax.set_ylabel(y, color=GREY)
    return ax


def colours(groups: Sequence[Any]) -> dict[Any, str]:
    """Give each group a colour, the largest first; those beyond the palette are grey.

    Examples
    --------
    >>> colours(["b", "a", "a"])
    {'a': '#0072b2', 'b': '#d55e00'}
    """
    from collections import Counter

    ranked = sorted(Counter(groups).items(), key=lambda found: (-found[1], str(found[0])))
    return {group: COLOURS[at] if at < len(COLOURS) else GREY for at, (group, _) in enumerate(ranked)}


def legend(ax: Axes, shown: dict[Any, str]) -> None:
    """Name the colours, beside the picture; all that are grey are the others."""
    from matplotlib.lines import Line2D

    named = {name: colour for name, colour in shown.items() if colour != GREY}
    shown = named | ({"others": GREY} if len(named) < len(shown) else {})
    marks = [Line2D([], [], marker="o", ls="", color=colour, label=str(name)) for name, colour in shown.items()]
    ax.legend(handles=marks, frameon=False, labelcolor=GREY, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
