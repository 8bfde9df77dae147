"""The graph in a notebook, to look around in: zoom, drag, find a concept, click it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from itertools import combinations
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.plot.concept_map import Html
from hopgate.plot.style import GREY, colours

if TYPE_CHECKING:
    from hopgate.graph.clusters import ConceptClusters
    from hopgate.kb import KnowledgeBase
    from hopgate.store.graph.concept_rows import Concept

# More are no picture any more: hopgate serve shows those, by cluster first.
MOST = 1000
# Of pairs that share memories so many a concept, the heaviest, are drawn.
SHARED_EACH = 4
# The explorer's own drawing library; it is a file here, and nothing is imported of the server.
BUNDLE = ("serve", "static", "vendor", "graph.js")
_EXPORTS = re.compile(r"export\s*\{([^}]*)\};?\s*$")


def explore(kb: KnowledgeBase, *, limit: int = 300, kind: str | None = None, height: int = 560) -> Html:
    """Show the concepts that most memories talk about, their relations and the memories they share.

    The picture is whole in itself: it asks no server, needs no network, and runs in a frame that may do nothing but
    draw, so that it works offline and on a page of documentation.

    Parameters
    ----------
    limit : int
        How many concepts, at most 1,000.
    kind : str, optional
        Only concepts of this kind.
    height : int
        In pixels.
    """
    if not 1 <= limit <= MOST:
        raise HopgateError(f"limit is between 1 and {MOST:,}, not {limit}: hopgate serve shows larger graphs")
    concepts = kb.graph.concepts(kind=kind, limit=limit)
    if not concepts:
        raise HopgateError("there are no concepts to look at: run hopgate build first")
    clusters = kb.graph.clusters()
    number = {concept.name: concept.id for concept in concepts}
    typed = [
        {"source": number[edge.source], "target": number[edge.target], "relation": edge.relation, "weight": edge.weight}
        for edge in kb.graph.edges()
        if edge.evidence and edge.source in number and edge.target in number
    ]
    shared = [
        {"source": one, "target": other, "relation": None, "weight": count}
        for (one, other), count in _shared(kb.graph.mentions(), number).items()
    ]
    page = _page(_data(concepts, clusters, [*typed, *shared]))
    return Html(
        f'<div><iframe sandbox="allow-scripts" title="Concepts and their relations" loading="lazy" '
        f'style="width:100%;height:{int(height)}px;border:0" srcdoc="{escape(page, quote=True)}"></iframe></div>'
    )


def _data(concepts: Sequence[Concept], clusters: ConceptClusters, links: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the page draws: nodes with their places, links, and the colours of clusters and kinds."""
    of = clusters.assignment
    places = _places(concepts, of, links)
    nodes = [
        {
            "id": str(concept.id),
            "name": concept.name,
            "kind": concept.kind or "",
            "memories": concept.memory_count,
            "cluster": of.get(concept.id, 0),
            "x": places[concept.id][0],
            "y": places[concept.id][1],
        }
        for concept in concepts
    ]
    return {
        "nodes": nodes,
        "links": [{**link, "source": str(link["source"]), "target": str(link["target"])} for link in links],
        "colours": {by: colours([node[by] for node in nodes]) for by in ("cluster", "kind")},
        "labels": {cluster.id: cluster.label for cluster in clusters if len(cluster) > 1},
        "other": GREY,
    }


def _shared(mentions: Mapping[str, Sequence[str]], number: Mapping[str, int]) -> dict[tuple[int, int], int]:
    """Pairs of concepts with how many memories mention both: of each concept the few with most."""
    counts: Counter[tuple[int, int]] = Counter()
    for names in mentions.values():
        counts.update(combinations(sorted({number[name] for name in names if name in number}), 2))
    drawn: Counter[int] = Counter()
    kept = {}
    for pair, count in sorted(counts.items(), key=lambda found: (-found[1], found[0])):
        if any(drawn[end] < SHARED_EACH for end in pair):
            kept[pair] = count
            drawn.update(pair)
    return kept


def _places(
    concepts: Sequence[Concept], of: Mapping[int, int], links: Sequence[Mapping[str, Any]]
) -> dict[int, tuple[float, float]]:
    """Lay the concepts out by their links; those of one cluster pull at each other a little, and clusters, too."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(concept.id for concept in concepts)
    for link in links:
        graph.add_edge(link["source"], link["target"], weight=1.0 + float(link["weight"]))
    first: dict[int, int] = {}
    for concept in concepts:
        hub = first.setdefault(of.get(concept.id, 0), concept.id)
        if hub != concept.id and not graph.has_edge(hub, concept.id):
            graph.add_edge(hub, concept.id, weight=0.5)
    # Without this what nothing joins flies off, and the rest is a dot in the middle.
    for hub in first.values():
        if hub != concepts[0].id and not graph.has_edge(concepts[0].id, hub):
            graph.add_edge(concepts[0].id, hub, weight=0.7)
    placed = nx.spring_layout(graph, seed=0, iterations=120, k=4 / max(len(concepts), 1) ** 0.5)
    return {node: (round(float(x), 4), round(float(y), 4)) for node, (x, y) in placed.items()}


def _page(data: Mapping[str, Any]) -> str:
    files = resources.files("hopgate")
    bundle = files.joinpath(*BUNDLE).read_text(encoding="utf-8")
    found = _EXPORTS.search(bundle)
    assert found, "the bundle ends with what it exports"
    names = (part.split(" as ") for part in found[1].split(","))
    exported = ",".join(f"{outer.strip()}:{inner.strip()}" for inner, outer in names)
    script = f"{bundle[: found.start()]}globalThis.hopgateGraph={{{exported}}};".replace("</script", "<\\/script")
    page = files.joinpath("plot", "explore_page.html").read_text(encoding="utf-8")
    # A name may hold what ends a script.
    values = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return page.replace("/*BUNDLE*/", script, 1).replace("/*DATA*/", values, 1)
