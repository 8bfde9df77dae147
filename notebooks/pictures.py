"""Pictures of concepts, gates and time, for these notebooks and one's own (extra `notebooks`).

Every function draws on the axes it is given, or on new ones, and returns them. Colours and greys are legible on light
and dark pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.times import utc

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.eval.verdict import Judgement
    from hopgate.kb import KnowledgeBase
    from hopgate.store.graph.concept_rows import Concept
    from hopgate.store.graph.edge_rows import Edge

__all__ = ["concept_map", "gains", "ladder", "neighbourhood", "open_or_example", "project", "timeline"]

# Okabe and Ito's colours, less black and yellow, which vanish on one of the two pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a6761d")
GREY = "#808080"
OURS, THEIRS = COLOURS[0], COLOURS[1]
HERE, CONCEPT = COLOURS[1], COLOURS[0]
# Another name whenever the corpus or its graph changes: what an earlier version kept is not what is shown now.
KEPT = "example-2"


def open_or_example(where: str | Path | None = None) -> KnowledgeBase:
    """Open a store; without one, the synthetic corpus with its graph, made on first use and kept in the user's cache.

    Parameters
    ----------
    where : str or Path, optional
        As for `hopgate.open`; by default what `HOPGATE_STORE` says.
    """
    import hopgate
    from hopgate.demo import fill
    from hopgate.files import cache_folder
    from hopgate.options import environment

    if where is not None or environment().store:
        return hopgate.open(where)
    kb = hopgate.open(cache_folder() / KEPT)
    if not len(kb):
        fill(kb)
    return kb


def project(
    vectors: NDArray[np.floating], method: Literal["pca", "tsne"] = "tsne", *, seed: int = 0
) -> NDArray[np.float64]:
    """Lay vectors out in a plane: by their two main directions, or so that neighbours stay neighbours.

    Examples
    --------
    >>> project(np.eye(4), "pca").shape
    (4, 2)
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if len(vectors) < 3:
        raise HopgateError(f"a map needs at least 3 concepts, not {len(vectors)}: run hopgate build first")
    if method == "pca":
        return np.asarray(PCA(2, random_state=seed).fit_transform(vectors), np.float64)
    near = min(30.0, (len(vectors) - 1) / 3)
    placed = TSNE(2, perplexity=near, metric="cosine", init="random", random_state=seed).fit_transform(vectors)
    return np.asarray(placed, np.float64)


def concept_map(
    points: NDArray[np.floating],
    concepts: Sequence[Concept],
    *,
    groups: Sequence[Any] | None = None,
    label: int = 25,
    ax: Axes | None = None,
) -> Axes:
    """Draw concepts in a plane, coloured by group, as large as they are mentioned.

    Parameters
    ----------
    points : array (n, 2)
        Such as `project` gives of `kb.graph.concept_vectors(concepts)`.
    groups : sequence, optional
        Such as the cluster of each; by default its kind.
    label : int
        How many of the first are named.
    """
    ax = axes(ax, size=(9, 6), frame=False)
    groups = groups or [concept.kind or "unknown" for concept in concepts]
    shown = colours(groups)
    # By the root, so that an area grows with the count.
    mentioned = np.sqrt([concept.memory_count for concept in concepts])
    area = 12 + 60 * mentioned / max(mentioned.max(), 1)
    ax.scatter(points[:, 0], points[:, 1], s=area, c=[shown[group] for group in groups], alpha=0.75, linewidths=0)
    for (x, y), concept in list(zip(points, concepts, strict=True))[:label]:
        ax.annotate(concept.name, (x, y), color=GREY, fontsize=8, xytext=(3, 3), textcoords="offset points")
    if len(shown) > 1:
        legend(ax, shown)
    return titled(ax, f"{len(concepts)} concepts")


def neighbourhood(edges: Sequence[Edge], name: str, *, seed: int = 0, ax: Axes | None = None) -> Axes:
    """Draw one concept's edges with their relations, such as `kb.graph.edges(name)` gives; past ones are dashed."""
    import networkx as nx

    ax = axes(ax, size=(8, 6), frame=False)
    lines = {(edge.source, edge.target): edge for edge in edges}
    graph: Any = nx.Graph(list(lines))
    place: dict[str, Any] = nx.spring_layout(graph, seed=seed, k=1.6 / max(len(graph), 1) ** 0.5)
    for (source, target), edge in lines.items():
        style = {"color": GREY, "ls": "--" if edge.valid_to else "-", "shrinkA": 7, "shrinkB": 7}
        ax.annotate("", place[target], place[source], arrowprops={"arrowstyle": "->", **style})
        x, y = (place[source] + place[target]) / 2
        ax.text(x, y, edge.relation, color=GREY, fontsize=7, ha="center", va="center")
    for node, (x, y) in place.items():
        ax.scatter([x], [y], s=160, color=HERE if node == name else CONCEPT, alpha=0.85, linewidths=0, zorder=3)
        ax.annotate(node, (x, y), color=GREY, fontsize=8, xytext=(5, 5), textcoords="offset points", zorder=4)
    ax.margins(0.12)
    return titled(ax, f"{name}: {len(lines)} edges (dashed: no longer true)")


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
    margin = (max(moments) - min(moments)) * 0.08
    low, high = min(moments) - margin, max(moments) + margin
    ordered = sorted(edges, key=lambda edge: (edge.valid_from or low, edge.target))
    ax = axes(ax, size=(9, 1.2 + 0.5 * len(ordered)))
    for at, edge in enumerate(ordered):
        begin, end = _day(edge.valid_from or low), _day(edge.valid_to or high)
        ax.barh(-at, end - begin, left=begin, height=0.5, color=COLOURS[at % len(COLOURS)], alpha=0.8)
        ax.plot([_day(edge.recorded_at)], [-at], "|", color=GREY, ms=16, mew=2)
    ax.set_yticks([-at for at in range(len(ordered))], [f"{edge.relation} {edge.target}" for edge in ordered])
    ax.xaxis_date()
    if as_of:
        ax.axvline(_day(as_of), color=THEIRS, lw=1.2)
    return titled(ax, f"{ordered[0].source}: bars when true, marks since when known")


def _day(moment: datetime) -> float:
    from matplotlib.dates import date2num

    return float(date2num(moment))  # type: ignore[no-untyped-call]


def ladder(judgement: Judgement, *, ax: Axes | None = None) -> Axes:
    """Draw what each part of the graph brings over the best of everything below it, with its interval."""
    claims = judgement.claims[::-1]
    ax = axes(ax, size=(8, 0.8 + 0.5 * len(claims)))
    for at, claim in enumerate(claims):
        colour = OURS if claim.verdict == "OPEN" else GREY
        ax.plot(claim.interval, [at, at], color=colour, lw=2)
        ax.plot([claim.difference], [at], "o", color=colour)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(claims)), [f"{claim.part}: {claim.verdict.value}" for claim in claims])
    return titled(ax, "What each part brings over the best below it", f"gain at {judgement.evidence.plan.primary}")


def gains(judgement: Judgement, *, ax: Axes | None = None) -> Axes:
    """Draw, question by question, where the arm of the headline won and where it lost."""
    evidence, main = judgement.evidence, judgement.main
    ours, theirs = (evidence.values(name) for name in (main.arm, main.over))
    moved = np.array(sorted((ours[query] - theirs[query] for query in evidence.reported), reverse=True))
    ax = axes(ax)
    ax.bar(np.arange(len(moved)), moved, width=1.0, color=np.where(moved >= 0, OURS, THEIRS))
    ax.axhline(0, color=GREY, lw=0.8)
    won, lost = int((moved > 1e-9).sum()), int((moved < -1e-9).sum())
    title = f"Of {len(moved)} questions {won} won, {lost} lost, {len(moved) - won - lost} alike"
    return titled(ax, title, "questions, by difference", f"difference at {evidence.plan.primary}")


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
    ranked = sorted(Counter(groups).items(), key=lambda item: (-item[1], str(item[0])))
    return {group: COLOURS[at] if at < len(COLOURS) else GREY for at, (group, _) in enumerate(ranked)}


def legend(ax: Axes, shown: dict[Any, str]) -> None:
    """Name the colours, beside the picture; all that are grey are the others."""
    from matplotlib.lines import Line2D

    named = {name: colour for name, colour in shown.items() if colour != GREY}
    shown = named | ({"others": GREY} if len(named) < len(shown) else {})
    marks = [Line2D([], [], marker="o", ls="", color=colour, label=str(name)) for name, colour in shown.items()]
    ax.legend(handles=marks, frameon=False, labelcolor=GREY, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
