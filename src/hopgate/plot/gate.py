"""A gate in pictures: what a weight does, what the slices say, and where the graph won and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hopgate.plot.style import FAINT, GREY, OURS, THEIRS, axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.eval.gate.evidence import Evidence
    from hopgate.eval.gate.judge import Judgement


def weight_sweep(evidence: Evidence, *, ax: Axes | None = None) -> Axes:
    """Draw the primary measure over the graph's weight, with the weight below which the graph leg is barred."""
    from hopgate.recall.fuse import RRF
    from hopgate.recall.reach import bound

    ax = axes(ax)
    weights = sorted(evidence.sweep)
    ax.plot(weights, [evidence.sweep[weight] for weight in weights], color=OURS, marker="o", ms=4)
    fuser = evidence.challenger_arm.fuser_value or RRF(graph=1)
    needed = bound(fuser, leg="graph", k=evidence.k).needed
    ax.axvspan(0, needed.best, color=FAINT, lw=0)
    ax.axvline(needed.best, color=THEIRS, lw=1.2)
    ax.set_xlim(left=0)
    barred = f"below {needed.best:.3f} (grey) nothing that only the graph found can enter"
    title = f"{type(fuser).__name__} over the graph's weight\n{barred}"
    return titled(ax, title, "weight of the graph leg", str(evidence.primary))


def slices(judgement: Judgement, *, ax: Axes | None = None) -> Axes:
    """Draw the difference that the graph makes on each slice, with its interval."""
    measure = str(judgement.evidence.primary)
    rows = [c for c in judgement.comparisons if c.measure == measure and c.role in ("primary", "harm")][::-1]
    ax = axes(ax, size=(8, 0.8 + 0.42 * len(rows)))
    for at, row in enumerate(rows):
        low, high = row.interval
        clear = low > 0 or high < 0
        ax.plot([low, high], [at, at], color=OURS if clear else GREY, lw=2)
        ax.plot([row.difference], [at], "o", color=OURS if clear else GREY)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(rows)), [f"{row.slice} ({row.n})" for row in rows])
    return titled(ax, f"What the graph changes at {measure}, by slice", "challenger − base, with its interval")


def gains(judgement: Judgement, *, ax: Axes | None = None) -> Axes:
    """Draw, query by query, where the graph won and where it lost."""
    from hopgate.eval.gate.compare import per_query

    evidence = judgement.evidence
    values = per_query(evidence)
    ours, theirs = (values[name][evidence.primary] for name in (evidence.challenger, evidence.base))
    moved = np.array(sorted((ours[query] - theirs[query] for query in evidence.qrels), reverse=True))
    ax = axes(ax)
    ax.bar(np.arange(len(moved)), moved, width=1.0, color=np.where(moved >= 0, OURS, THEIRS))
    ax.axhline(0, color=GREY, lw=0.8)
    won, lost = int((moved > 1e-9).sum()), int((moved < -1e-9).sum())
    title = f"Of {len(moved)} queries {won} won, {lost} lost, {len(moved) - won - lost} alike"
    return titled(ax, title, "queries, by difference", f"difference at {evidence.primary}")
