"""Statements that a model writes: checked, stored and embedded, asked for once, and never of what is sensitive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering
from word_endpoint import WordEndpoint

import hopgate
from hopgate.errors import HopgateError
from hopgate.extract.model.openai import OpenAI
from hopgate.http import RetryPolicy
from hopgate.memory import Memory

MOVED = {"subject": "Immich", "statement": "Immich moved to tern-2 in March 2024.", "valid_from": "2024-03"}
SAID = {
    "Immich moved to tern-2 in March 2024.": [
        MOVED,
        MOVED,
        {"subject": "Titanic", "statement": "The Titanic sank in the cold Atlantic."},
        {"subject": "a kiln", "statement": "In March it moved to tern-2.", "valid_from": "soon"},
        {"subject": "Immich", "statement": "Immich is on tern-2."},
        {"subject": "Immich", "statement": "Immich moved."},
    ],
    "She owns the kiln.": [{"subject": "Bea", "statement": "Bea owns the kiln."}],
}
SECRET = "The key is under the Zanzibarine pot."


class Writer:
    """A model that states what is said above, greets with nothing, and fails where it is asked to."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, _: BaseHTTPRequestHandler, body: str) -> tuple[int, Any]:
        rows = json.loads(json.loads(body)["messages"][-1]["content"])
        self.asked += rows
        if any("broken" in row["text"] for row in rows):
            return 500, {}
        told = [{"id": row["id"], "statements": SAID.get(row["text"], [])} for row in rows]
        message = {"content": json.dumps({"memories": told})}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.fixture
def kb(dsn: str, endpoint: WordEndpoint) -> Iterator[hopgate.KnowledgeBase]:
    with hopgate.open(dsn) as opened:
        opened.add(
            Memory("moved", "Immich moved to tern-2 in March 2024."),
            Memory("ask", "Who owns what, Bea?", thread="t"),
            Memory("kiln", "She owns the kiln.", thread="t"),
            Memory("bad", "A broken pipe."),
            Memory("secret", SECRET, is_sensitive=True),
        )
        opened.embed(endpoint.spec)
        yield opened


def test_a_model_states_what_memories_say(kb: hopgate.KnowledgeBase, endpoint: WordEndpoint) -> None:
    writer = Writer()
    with answering(writer) as url:
        model = OpenAI("tiny", url, retry=RetryPolicy(retries=0))
        done = kb.upkeep.write_statements(model)
        assert (done.memories, done.facts, done.failed, done.empty) == (4, 4, 1, 1)
        assert done.reasons["failed: the server answered 500"] == 1
        assert done.dropped == {
            "repeated statement": 1,
            "ungrounded statement": 1,
            "statement beyond the first 3": 1,
        }
        assert SECRET not in {row["text"] for row in writer.asked}
        assert next(row for row in writer.asked if "kiln" in row["text"])["before"] == ["Who owns what, Bea?"]
        rows = kb.graph.statements()
        assert [(row["doc_id"], row["statement"], row.get("subject")) for row in rows] == [
            ("moved", "Immich moved to tern-2 in March 2024.", "Immich"),
            ("moved", "In March it moved to tern-2.", None),
            ("moved", "Immich is on tern-2.", "Immich"),
            ("kiln", "Bea owns the kiln.", "Bea"),
        ]
        assert str(rows[0]["valid_from"]).startswith("2024-03")
        assert "Bea owns the kiln." in endpoint.texts, "they are embedded"
        assert kb.extraction_states() == {"pending": 4}, "what is stated is no extraction"
        # What was answered is not asked again, what failed is; a memory takes its statements with it.
        writer.asked.clear()
        again = kb.upkeep.write_statements(model)
        assert [row["text"] for row in writer.asked] == ["A broken pipe."] and again.cache_hits == 3
        assert kb.graph.statements() == rows
        kb.add(Memory("moved", "Immich is gone."))
        kb.delete(["kiln"])
        assert kb.graph.statements() == []
    with pytest.raises(HopgateError, match="only a model writes statements: give --extractor llama or openai"):
        kb.upkeep.write_statements("rules")
