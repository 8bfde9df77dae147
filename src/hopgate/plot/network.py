"""Concepts and memories as dots with lines: one concept's neighbourhood, and what a query's walk visits most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.plot.style import COLOURS, FAINT, GREY, axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hopgate.graph.inspect.edges import Edge
    from hopgate.graph.inspect.view import QueryWalk

SEED, CONCEPT, MEMORY = COLOURS[1], COLOURS[0], COLOURS[2]


def neighbourhood(edges: Sequence[Edge], name: str, *, seed: int = 0, ax: Axes | None = None) -> Axes:
    """Draw one concept's edges with their relations, such as `kb.graph.edges(name)` gives; past ones are dashed."""
    ax = axes(ax, size=(8, 6), frame=False)
    lines = {(edge.source, edge.target): edge for edge in edges}
    place = _layout(list(lines), seed)
    for (source, target), edge in lines.items():
        past = edge.valid_to is not None
        _line(ax, place, source, target, style="--" if past else "-", arrow=True)
        x, y = (place[source] + place[target]) / 2
        ax.text(x, y, edge.relation, color=GREY, fontsize=7, ha="center", va="center")
    _dots(ax, place, {node: SEED if node == name else CONCEPT for node in place}, dict.fromkeys(place, 160.0))
    return titled(ax, f"{name}: {len(lines)} edges (dashed: no longer true)")


def walk_picture(walk: QueryWalk, *, seed: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the memories and concepts that a walk visits most, such as `kb.graph.walk(query)` gives: mass is size."""
    ax = axes(ax, size=(9, 6.5), frame=False)
    place = _layout(list(walk.lines), seed, walk.nodes)
    for source, target in walk.lines:
        _line(ax, place, source, target)
    kinds = {
        node: MEMORY if visited.is_memory else SEED if visited.is_seed else CONCEPT
        for node, visited in walk.nodes.items()
    }
    most = max((visited.mass for visited in walk.nodes.values()), default=1.0)
    _dots(ax, place, kinds, {node: 40 + 400 * visited.mass / most for node, visited in walk.nodes.items()})
    from hopgate.plot.style import legend

    legend(ax, {"seed concept": SEED, "concept": CONCEPT, "memory": MEMORY})
    return titled(ax, walk.query)


def _layout(lines: Sequence[tuple[str, str]], seed: int, nodes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    import networkx as nx

    graph: Any = nx.Graph()
    graph.add_nodes_from(nodes or ())
    graph.add_edges_from(lines)
    return dict(nx.spring_layout(graph, seed=seed, k=1.6 / max(len(graph), 1) ** 0.5))


def _line(
    ax: Axes, place: Mapping[str, Any], source: str, target: str, *, style: str = "-", arrow: bool = False
) -> None:
    shape: dict[str, Any] = {"arrowstyle": "->" if arrow else "-", "color": GREY if arrow else FAINT, "ls": style}
    ax.annotate("", place[target], place[source], arrowprops={**shape, "shrinkA": 7, "shrinkB": 7})


def _dots(ax: Axes, place: Mapping[str, Any], colour: Mapping[str, str], size: Mapping[str, float]) -> None:
    for node, (x, y) in place.items():
        ax.scatter([x], [y], s=size[node], color=colour[node], alpha=0.85, linewidths=0, zorder=3)
        ax.annotate(node, (x, y), color=GREY, fontsize=8, xytext=(5, 5), textcoords="offset points", zorder=4)
    ax.margins(0.12)
