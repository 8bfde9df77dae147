"""What another deletes between two statements of ours: the load of `make soak` met both."""

from __future__ import annotations

import pytest
from word_endpoint import serving

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import memories


@pytest.mark.parametrize("gone", [["a"], ["a", "b"]])
def test_a_memory_goes_while_it_is_about_to_be_embedded(
    kb: KnowledgeBase, dsn: str, gone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add(Memory("a", "Immich runs on cedar."), Memory("b", "Caddy runs on cedar."))
    fetch = memories.fetch_by_id

    def meanwhile(connection, ids):
        monkeypatch.setattr(memories, "fetch_by_id", fetch)  # once: who deletes reads memories too
        with hopgate.open(dsn) as other:
            other.delete(gone)
        return fetch(connection, ids)

    monkeypatch.setattr(memories, "fetch_by_id", meanwhile)
    with serving() as endpoint:
        assert kb.embed(endpoint.spec) == 2 - len(gone)


def test_a_path_through_what_is_gone_is_left_out(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.add(Memory("a", "Immich runs on cedar."), Memory("b", "Caddy runs on cedar."))
    kb.build()
    explain = kb.graph_leg.explain

    def meanwhile(trace, memory_id):
        if len(kb):
            assert explain(trace, memory_id)
            kb.delete(["a", "b"])
        return explain(trace, memory_id)

    monkeypatch.setattr(kb.graph_leg, "explain", meanwhile)
    hits = kb.recall("Immich", legs=("lexical", "graph"), explain=True)
    assert hits and all(hit.path == () for hit in hits)
