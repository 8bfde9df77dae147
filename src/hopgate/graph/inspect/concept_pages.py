"""Every concept with its edges, as the pages of a vault show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.exports.vault import ConceptPage
from hopgate.store.graph import overview
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from psycopg import Connection


def concept_pages(connection: Connection[Any]) -> list[ConceptPage]:
    """Read the concepts and the edges that are known now, out of each concept and into it."""
    known = overview.concepts(connection)
    names = {row[0]: row[1] for row in known}
    edges: dict[int, list[tuple[str, str, bool, tuple[str, ...]]]] = {}
    for source, target, relation, _, _, _, _, evidence in overview.edges(connection, as_of=None, known_at=None):
        if relation != NAME_INSIDE:
            edges.setdefault(source, []).append((relation, names[target], True, tuple(evidence)))
            edges.setdefault(target, []).append((relation, names[source], False, tuple(evidence)))
    return [
        ConceptPage(name, kind or "", tuple(a for a in aliases if a != name), tuple(edges.get(key, ())))
        for key, name, aliases, kind, _ in known
    ]
