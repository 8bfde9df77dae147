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

    from hopgate.store.graph.concept_rows import Concept, Link
    from hopgate.store.graph.edge_rows import Edge
    from hopgate.store.graph.fact_rows import NamedFact, NamedMention
    from hopgate.store.graph.graph_vectors import NamedStatement

    Graph = nx.MultiDiGraph[str]

FORMATS = ("graphml", "json")

# XML has no control characters, halves of surrogate pairs nor non-characters, escaped or not; names rarely do.
_NOT_XML = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def network(concepts: Iterable[Concept], edges: Iterable[Edge], links: Iterable[Link] = ()) -> Graph:
    """Make a networkx graph of concepts and the edges between them; memories that `links` names are nodes, too."""
    import networkx as nx

    graph: Graph = nx.MultiDiGraph()
    for concept in concepts:
        names = {"name": concept.name, "aliases": list(concept.aliases), "kind": concept.kind or ""}
        graph.add_node(f"c{concept.id}", type="concept", memories=concept.memory_count, **names)
    for edge in edges:
        times = {"valid_from": edge.valid_from, "valid_to": edge.valid_to, "recorded_at": edge.recorded_at}
        dates = {name: moment.isoformat() for name, moment in times.items() if moment}
        values: dict[str, Any] = {
            "relation": edge.relation,
            "weight": edge.weight,
            "evidence": list(edge.evidence),
            **dates,
        }
        graph.add_edge(f"c{edge.source_id}", f"c{edge.target_id}", **values)
    for link in links:
        graph.add_node(f"m:{link.memory}", type="memory", name=link.memory)
        graph.add_edge(f"m:{link.memory}", f"c{link.concept_id}", relation=link.relation, weight=link.weight)
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


def triple_rows(mentions: Iterable[NamedMention], facts: Iterable[NamedFact]) -> list[dict[str, Any]]:
    """Give mentions and facts as rows of triples.jsonl; the mentions of a memory come before its facts."""
    rows: list[dict[str, Any]] = []
    for mention in mentions:
        kind = {"type": mention.kind} if mention.kind else {}
        rows.append({"doc_id": mention.memory, "entity": mention.name, **kind})
    for fact in facts:
        row = {"doc_id": fact.memory, "subject": fact.subject, "relation": fact.relation, "object": fact.object}
        rows.append(row | _when(fact.valid_from, fact.valid_to, fact.weight))
    return rows


def statement_rows(statements: Iterable[NamedStatement]) -> list[dict[str, Any]]:
    """Give statements as rows of statements.jsonl."""
    return [
        {"doc_id": row.memory, "statement": row.statement}
        | ({"subject": row.subject} if row.subject else {})
        | _when(row.valid_from, row.valid_to, row.weight)
        for row in statements
    ]


def _when(start: datetime | None, end: datetime | None, weight: float) -> dict[str, Any]:
    # Six digits are what a real holds.
    confidence = {"confidence": round(weight, 6)} if weight != 1 else {}
    days = {"valid_from": start, "valid_to": end}
    return confidence | {name: moment.astimezone(UTC).date().isoformat() for name, moment in days.items() if moment}


def concept_pages(concepts: Iterable[Concept], edges: Iterable[Edge]) -> list[ConceptPage]:
    """Give each concept with the edges out of it and into it, for pages of a vault."""
    ends: dict[int, list[tuple[str, str, bool, tuple[str, ...]]]] = {}
    for edge in edges:
        ends.setdefault(edge.source_id, []).append((edge.relation, edge.target, True, edge.evidence))
        ends.setdefault(edge.target_id, []).append((edge.relation, edge.source, False, edge.evidence))
    return [
        ConceptPage(
            concept.name,
            concept.kind or "",
            tuple(alias for alias in concept.aliases if alias != concept.name),
            tuple(ends.get(concept.id, ())),
        )
        for concept in concepts
    ]
