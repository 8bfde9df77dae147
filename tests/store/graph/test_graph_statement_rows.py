"""Statements in a store: they seed walks within their scope."""

import json

from hopgate import Memory

STATED = "Quillon plays the bassoon in the village orchestra."


def test_a_statement_leads_to_its_memory_in_its_scope(kb, tmp_path):
    path = tmp_path / "statements.jsonl"
    rows = [
        {"doc_id": "turn", "subject": "Quillon", "statement": STATED},
        {"doc_id": "secret", "statement": "The safe opens with kestrel-nine."},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    kb.add(
        Memory("turn", "I do, every Tuesday!", scope="a"),
        Memory("other", "The tax papers are in the blue folder.", scope="a"),
        Memory("elsewhere", "The garden needs water.", scope="b"),
        Memory("secret", "kestrel-nine", is_sensitive=True, scope="a"),
    )
    kb.embed()
    kb.build("phrases", statements=path)
    with kb.store.transaction() as connection:
        stored = connection.execute("SELECT statement, embedding IS NOT NULL FROM statements").fetchall()
    assert stored == [(STATED, True)]
    assert "Quillon" in {concept.name for concept in kb.graph.concepts()}
    for scope, found in (("a", True), ("b", False)):
        hits = kb.recall("Who is a musician?", legs=("dense", "graph"), scope=scope)
        assert any("graph" in hit.legs and hit.legs["graph"].rank == 1 for hit in hits) is found
