"""The order of locks as docs/reliability.md has it, and how each is recognised in a statement."""

from __future__ import annotations

import re

GRAPH_TABLES = "concepts|concept_names|concept_edges|mentions|facts|relations|memory_concepts"

LOCKS = {
    "build": re.compile(r"hopgate build"),
    "load": re.compile(r"hopgate load"),
    "embedding space": re.compile(r"LOCK TABLE embedding_space"),
    "memories": re.compile(
        r"FOR NO KEY UPDATE|LOCK TABLE memories|(UPDATE|INSERT INTO|DELETE FROM|COPY) memories\b", re.IGNORECASE
    ),
    "graph": re.compile(r"hopgate graph"),
    "graph's rows": re.compile(rf"(UPDATE|INSERT INTO|DELETE FROM|COPY) ({GRAPH_TABLES})\b", re.IGNORECASE),
    "graph's version": re.compile(r"UPDATE graph_state"),
}


def taken(statement: str) -> list[str]:
    """The locks that a statement takes, in the order of the page; a statement may take two, in this order."""
    return [name for name, pattern in LOCKS.items() if pattern.search(statement)]
