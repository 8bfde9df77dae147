"""The graph for other tools: networkx, GraphML and node-link JSON. Ids and names, never a memory's text."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store.graph import overview

if TYPE_CHECKING:
    import networkx as nx
    from psycopg import Connection

    Graph = nx.MultiDiGraph[str]

FORMATS = ("graphml", "json")


# XML has no control characters, halves of surrogate pairs nor non-characters, escaped or not; names rarely do.
_NOT_XML = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_networkx(
    connection: Connection[Any],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    memories: bool = False,
) -> Graph:
    """Make a networkx graph of the concepts and the edges between them.

    Parameters
    ----------
    as_of, known_at : datetime, optional
        Only edges that were true then, and as they were known then.
    memories : bool
        Whether memories are nodes too, with an edge to each concept they talk about.
    """
    import networkx as nx

    graph: Graph = nx.MultiDiGraph()
    for key, name, aliases, kind, count in overview.concepts(connection):
        graph.add_node(f"c{key}", type="concept", name=name, aliases=list(aliases), kind=kind or "", memories=count)
    for source, target, relation, weight, *times, evidence in overview.edges(
        connection, as_of=as_of, known_at=known_at
    ):
        names = ("valid_from", "valid_to", "recorded_at")
        dates = {name: moment.isoformat() for name, moment in zip(names, times, strict=True) if moment}
        graph.add_edge(f"c{source}", f"c{target}", relation=relation, weight=weight, evidence=list(evidence), **dates)
    if memories:
        for memory, concept, relation, weight in overview.mentions(connection, known_at=known_at):
            graph.add_node(f"m:{memory}", type="memory", name=memory)
            graph.add_edge(f"m:{memory}", f"c{concept}", relation=relation, weight=weight)
    return graph


def write(graph: Graph, path: Path, form: str | None = None) -> None:
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
