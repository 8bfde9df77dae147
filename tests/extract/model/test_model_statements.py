"""Statements that a model writes: checked, stored and embedded, asked for once, and never of what is sensitive."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering

from hopgate.errors import HopgateError
from hopgate.extract.model.openai import OpenAI
from hopgate.http import RetryPolicy
from hopgate.memory import Memory

MOVED = {"subject": "Immich", "statement": "Immich moved to tern-2 in March 2024.", "valid_from": "2024-03"}
SAID = {
    "Immich moved to tern-2 in March 2024.": [
        *(MOVED, MOVED, {"subject": "Titanic", "statement": "The Titanic sank in the cold Atlantic."}),
        {"subject": "a kiln", "statement": "In March it moved to tern-2.", "valid_from": "soon"},
        *({"subject": "Immich", "statement": text} for text in ("Immich is on tern-2.", "Immich moved.")),
    ],
    "She owns the kiln.": [{"subject": "Bea", "statement": "Bea owns the kiln."}],
}
SECRET = "The key is under the Zanzibarine pot."


def test_a_model_states_what_memories_say(kb, endpoint):
    asked: list[dict[str, Any]] = []

    def answer(_: BaseHTTPRequestHandler, body: str) -> tuple[int, Any]:
        rows = json.loads(json.loads(body)["messages"][-1]["content"])
        asked.extend(rows)
        if any("broken" in row["text"] for row in rows):
            return 500, {}
        told = [{"id": row["id"], "statements": SAID.get(row["text"], [])} for row in rows]
        message = {"content": json.dumps({"memories": told})}
        return 200, {"choices": [{"message": message, "finish_reason": "stop"}]}

    kb.add(Memory("moved", "Immich moved to tern-2 in March 2024."), Memory("bad", "A broken pipe."))
    kb.add(Memory("ask", "Who owns what, Bea?", thread="t"), Memory("kiln", "She owns the kiln.", thread="t"))
    kb.add(Memory("secret", SECRET, is_sensitive=True))
    kb.embed(endpoint.spec)
    with answering(answer) as url:
        model = OpenAI("tiny", url, retry=RetryPolicy(retries=0))
        done = kb.upkeep.write_statements(model)
        assert (done.memories, done.facts, done.failed, done.empty) == (4, 4, 1, 1)
        assert done.reasons["failed: the server answered 500"] == 1
        assert done.dropped == {"repeated statement": 1, "ungrounded statement": 1, "statement beyond the first 3": 1}
        assert SECRET not in {row["text"] for row in asked}
        assert next(row for row in asked if "kiln" in row["text"])["before"] == ["Who owns what, Bea?"]
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
        asked.clear()
        again = kb.upkeep.write_statements(model)
        assert [row["text"] for row in asked] == ["A broken pipe."] and again.cache_hits == 3
        assert kb.graph.statements() == rows
        kb.add(Memory("moved", "Immich is gone."))
        kb.delete(["kiln"])
        assert kb.graph.statements() == []
    with pytest.raises(HopgateError, match="only a model writes statements: give --extractor llama or openai"):
        kb.upkeep.write_statements("rules")
