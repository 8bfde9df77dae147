"""The graph for other tools: node-link JSON and GraphML. Names, never a memory's text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from hopgate.errors import HopgateError
from hopgate.files import private_opener

if TYPE_CHECKING:
    from hopgate.store.graph.concept_rows import Concept, Link
    from hopgate.store.graph.edge_rows import Edge

FORMATS = ("graphml", "json")

# XML has no control characters, halves of surrogate pairs nor non-characters, escaped or not; names rarely do.
_NOT_XML = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def node_link(concepts: Iterable[Concept], edges: Iterable[Edge], links: Iterable[Link] = ()) -> dict[str, Any]:
    """Give concepts and the edges between them as node-link JSON; memories that `links` names are nodes, too.

    networkx and d3 read it: `networkx.node_link_graph(data, edges="links")`.
    """
    nodes: dict[str, dict[str, Any]] = {}
    lines: list[dict[str, Any]] = []
    for concept in concepts:
        names = {"name": concept.name, "aliases": list(concept.aliases), "kind": concept.kind or ""}
        nodes[f"c{concept.id}"] = {"type": "concept", "memories": concept.memory_count, **names}
    for edge in edges:
        times = {"valid_from": edge.valid_from, "valid_to": edge.valid_to, "recorded_at": edge.recorded_at}
        lines.append(
            {
                "source": f"c{edge.source_id}",
                "target": f"c{edge.target_id}",
                "relation": edge.relation,
                "weight": float(edge.weight),
                "evidence": list(edge.evidence),
                **{name: moment.isoformat() for name, moment in times.items() if moment},
            }
        )
    for link in links:
        nodes[f"m:{link.memory}"] = {"type": "memory", "name": link.memory}
        ends = {"source": f"m:{link.memory}", "target": f"c{link.concept_id}"}
        lines.append({**ends, "relation": link.relation, "weight": float(link.weight)})
    return {
        "directed": True,
        "multigraph": True,
        "graph": {},
        "nodes": [{**values, "id": node} for node, values in nodes.items()],
        "links": [{**line, "key": place} for place, line in enumerate(lines)],
    }


def write_network(data: dict[str, Any], path: Path, form: str | None = None) -> None:
    """Write node-link data as they are or as GraphML, by the file's ending unless `form` names one."""
    form = form or {".graphml": "graphml", ".xml": "graphml", ".json": "json"}.get(path.suffix.lower(), "")
    if form not in FORMATS:
        raise HopgateError(f"{path.name} does not show its format: name it .graphml or .json, or give --format")
    try:
        with open(path, "w", encoding="utf-8", opener=private_opener) as stream:
            stream.write(json.dumps(data, ensure_ascii=False) if form == "json" else graphml(data))
    except OSError as error:
        raise HopgateError(f"{path} cannot be written ({error.strerror}): give another file") from error


def graphml(data: dict[str, Any]) -> str:
    """Write node-link data as GraphML; it has no lists, so a list becomes one text with an item a line."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    graph = ElementTree.Element("graph", edgedefault="directed")
    keys: dict[tuple[str, str], str] = {}

    def add(what: str, given: dict[str, Any], names: tuple[str, ...]) -> None:
        element = ElementTree.SubElement(graph, what, {name: _flat(given[name]) for name in names})
        for name, value in given.items():
            if name in (*names, "key"):
                continue
            if (what, name) not in keys:
                keys[what, name] = f"d{len(keys)}"
                kind = {int: "long", float: "double"}.get(type(value), "string")
                declared = {"id": keys[what, name], "for": what, "attr.name": name, "attr.type": kind}
                ElementTree.SubElement(root, "key", declared)
            ElementTree.SubElement(element, "data", key=keys[what, name]).text = _flat(value)

    for node in data["nodes"]:
        add("node", node, ("id",))
    for line in data["links"]:
        add("edge", line, ("source", "target"))
    root.append(graph)
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _flat(value: Any) -> str:
    return _NOT_XML.sub("", "\n".join(map(str, value)) if isinstance(value, list) else str(value))
