"""The graph for other tools: networkx, GraphML, node-link JSON, rows for a replay. Names, never a memory's text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.exports.memories import ConceptPage

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.MultiDiGraph[str]

FORMATS = ("graphml", "json")
Row = tuple[Any, ...]

# XML has no control characters, halves of surrogate pairs nor non-characters, escaped or not; names rarely do.
_NOT_XML = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def network(concepts: Iterable[Row], edges: Iterable[Row], mentions: Iterable[Row] = ()) -> Graph:
    """Make a networkx graph of concepts and the edges between them.

    Parameters
    ----------
    concepts : rows of (id, name, aliases, kind, memories)
        The nodes.
    edges : rows of (source id, target id, relation, weight, valid from, valid to, recorded at, evidence)
        What joins them.
    mentions : rows of (memory, concept id, relation, weight)
        Memories that are nodes, too, with an edge to each concept they talk about.
    """
    import networkx as nx

    graph: Graph = nx.MultiDiGraph()
    for key, name, aliases, kind, count in concepts:
        graph.add_node(f"c{key}", type="concept", name=name, aliases=list(aliases), kind=kind or "", memories=count)
    for source, target, relation, weight, valid_from, valid_to, recorded_at, evidence in edges:
        times = {"valid_from": valid_from, "valid_to": valid_to, "recorded_at": recorded_at}
        dates = {name: moment.isoformat() for name, moment in times.items() if moment}
        graph.add_edge(f"c{source}", f"c{target}", relation=relation, weight=weight, evidence=list(evidence), **dates)
    for memory, concept, relation, weight in mentions:
        graph.add_node(f"m:{memory}", type="memory", name=memory)
        graph.add_edge(f"m:{memory}", f"c{concept}", relation=relation, weight=weight)
    return graph


def write_network(graph: Graph, path: Path, form: str | None = None) -> None:
    """Write a graph as GraphML or node-link JSON, by the file's ending unless `form` names one."""
    form = form or {".graphml": "graphml", ".xml": "graphml", ".json": "json"}.get(path.suffix.lower(), "")
    if form not in FORMATS:
        raise HopgateError(f"{path.name} does not show its format: name it .graphml or .json, or give --format")
    try:
        if form == "json":
            path.write_text(json.dumps(node_link(graph), ensure_ascii=False), encoding="utf-8")
        else:
            path.write_text(graphml(graph), encoding="utf-8")
    except OSError as error:
        raise HopgateError(f"{path} cannot be written ({error.strerror}): give another file") from error


def node_link(graph: Graph) -> dict[str, Any]:
    """The graph as node-link JSON, which networkx and d3 read."""
    import networkx as nx

    data: dict[str, Any] = nx.node_link_data(graph, edges="links")
    return data


def graphml(graph: Graph) -> str:
    """The graph as GraphML; it has no lists, so a list becomes one text with an item a line."""
    import networkx as nx

    plain: Graph = nx.relabel_nodes(graph, _flat)
    for _, values in plain.nodes(data=True):
        values.update({name: _flat(value) for name, value in values.items()})
    for _, _, values in plain.edges(data=True):
        values.update({name: _flat(value) for name, value in values.items()})
    return "\n".join(nx.generate_graphml(plain)) + "\n"


def _flat(value: Any) -> Any:
    text = "\n".join(map(str, value)) if isinstance(value, list) else value
    return _NOT_XML.sub("", text) if isinstance(text, str) else text


def triple_rows(spellings: Iterable[Row], facts: Iterable[Row]) -> list[dict[str, Any]]:
    """Give mentions and facts as rows of triples.jsonl; the mentions of a memory come before its facts.

    Parameters
    ----------
    spellings : rows of (memory, name, kind)
        The mentions.
    facts : rows of (memory, subject, relation, object, valid from, valid to, weight)
        The facts.
    """
    rows: list[dict[str, Any]] = []
    for memory, name, kind in spellings:
        rows.append({"doc_id": memory, "entity": name} | ({"type": kind} if kind else {}))
    for memory, subject, relation, target, start, end, weight in facts:
        row = {"doc_id": memory, "subject": subject, "relation": relation, "object": target}
        rows.append(row | _when(start, end, weight))
    return rows


def statement_rows(statements: Iterable[Row]) -> list[dict[str, Any]]:
    """Give statements, rows of (memory, statement, subject, weight, valid from, valid to), for statements.jsonl."""
    return [
        {"doc_id": memory, "statement": sentence}
        | ({"subject": subject} if subject else {})
        | _when(start, end, weight)
        for memory, sentence, subject, weight, start, end in statements
    ]


def _when(start: datetime | None, end: datetime | None, weight: float) -> dict[str, Any]:
    # Six digits are what a real holds.
    confidence = {"confidence": round(weight, 6)} if weight != 1 else {}
    days = {"valid_from": start, "valid_to": end}
    return confidence | {name: moment.astimezone(UTC).date().isoformat() for name, moment in days.items() if moment}


def concept_pages(concepts: Iterable[Row], edges: Iterable[Row]) -> list[ConceptPage]:
    """Give each concept with the edges out of it and into it, for pages of a vault; rows as those of `network`."""
    concepts = list(concepts)
    names = {row[0]: row[1] for row in concepts}
    pages: dict[int, list[tuple[str, str, bool, tuple[str, ...]]]] = {}
    for source, target, relation, _, _, _, _, evidence in edges:
        pages.setdefault(source, []).append((relation, names[target], True, tuple(evidence)))
        pages.setdefault(target, []).append((relation, names[source], False, tuple(evidence)))
    return [
        ConceptPage(name, kind or "", tuple(alias for alias in aliases if alias != name), tuple(pages.get(key, ())))
        for key, name, aliases, kind, _ in concepts
    ]
