"""How much a walk's ranking is a ranking by degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hopgate.plot.style import COLOURS, GREY, axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.plot.walk_picture import Lit


def by_degree(walk: Lit, *, corrections: tuple[float, ...] = (0.0, 0.5), ax: Axes | None = None) -> Axes:
    """Draw memories' scores over their strength, plain and corrected for degree: upwards is a hub's favour."""
    from hopgate.graph.walk.pagerank import pagerank

    ax = axes(ax)
    split = walk.graph.memories
    strength = walk.graph.strength[:split]
    for colour, correction in zip(COLOURS, corrections, strict=False):
        scores = pagerank(walk.graph, walk.start, damping=0.8, degree_correction=correction)[:split]
        seen = scores > 0
        label = f"degree_correction={correction:g}"
        ax.scatter(strength[seen], scores[seen] / scores.max(), s=14, color=colour, alpha=0.6, lw=0, label=label)
    ax.set_yscale("log")
    ax.set_ylim(bottom=1e-4)
    ax.set_xlim(0, float(np.quantile(strength, 0.995)) + 1)
    ax.legend(frameon=False, labelcolor=GREY, fontsize=9)
    return titled(ax, "Score and strength of memories", "strength", "score, the best = 1")
