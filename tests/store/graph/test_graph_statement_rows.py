"""Statements in a store: they seed walks within their scope."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopgate import Memory
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import graph_vectors
from hopgate.store.graph.visible import View

STATED = "Quillon plays the bassoon in the village orchestra."


@pytest.fixture
def stated(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    path = tmp_path / "statements.jsonl"
    rows = [
        {"doc_id": "turn", "subject": "Quillon", "statement": STATED},
        {"doc_id": "secret", "statement": "The safe opens with kestrel-nine."},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    kb.add(
        Memory("turn", "I do, every Tuesday!", scope="a"),
        Memory("other", "The tax papers are in the blue folder.", scope="a"),
        Memory("secret", "kestrel-nine", is_sensitive=True, scope="a"),
    )
    kb.embed()
    kb.build("phrases", statements=path)
    return kb


def _rows(kb: KnowledgeBase) -> list[tuple[str, bool]]:
    with kb.store.transaction() as connection:
        return connection.execute("SELECT statement, embedding IS NOT NULL FROM statements ORDER BY id").fetchall()


def test_a_statement_leads_to_its_memory(stated: KnowledgeBase) -> None:
    assert _rows(stated) == [(STATED, True)]
    hits = stated.recall("Who is a musician?", legs=("dense", "graph"), scope="a")
    assert hits[0].external_id == "turn"
    assert "Quillon" in {concept.name for concept in stated.graph.concepts()}


def test_statements_of_another_scope_are_not_seen(stated: KnowledgeBase) -> None:
    with stated.store.transaction() as connection:
        vector = stated._embedding.query("musician")
        here, elsewhere = (
            graph_vectors.near_statements(
                connection, View(), f"scope = '{scope}'", {}, graph_vectors.Nearest(vector, 5)
            )
            for scope in "ab"
        )
    assert len(here) == 1 and elsewhere == []
