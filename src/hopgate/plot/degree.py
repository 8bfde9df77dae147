"""How much a walk's ranking is a ranking by degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hopgate.plot.style import COLOURS, GREY, axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.graph.inspect.view import QueryWalk


def by_degree(walk: QueryWalk, *, corrections: tuple[float, ...] = (0.0, 0.5), ax: Axes | None = None) -> Axes:
    """Draw memories' scores over their strength, plain and corrected for degree: a rise favours hubs."""
    ax = axes(ax)
    strength = walk.graph.strength[: walk.graph.memories]
    for colour, correction in zip(COLOURS, corrections, strict=False):
        scores = walk.memory_scores(degree_correction=correction)
        seen = scores > 0
        label = f"degree_correction={correction:g}"
        ax.scatter(strength[seen], scores[seen] / scores.max(), s=14, color=colour, alpha=0.6, lw=0, label=label)
    ax.set_yscale("log")
    ax.set_ylim(bottom=1e-4)
    ax.set_xlim(0, float(np.quantile(strength, 0.995)) + 1)
    ax.legend(frameon=False, labelcolor=GREY, fontsize=9)
    return titled(ax, "Score and strength of memories", "strength", "score, the best = 1")
