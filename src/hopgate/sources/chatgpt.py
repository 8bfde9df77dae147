"""ChatGPT's export: `conversations.json`, or the archive or folder that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hopgate.sources.json_file import conversations_file, read_json, rows_of, shows
from hopgate.sources.source import Place, ReadOptions, Record, Records, digest

SPEAKERS = ("user", "assistant")


def recognises(place: Place) -> bool:
    """Whether a place holds conversations with a `mapping` of messages."""
    file = conversations_file(place)
    return file is not None and shows(file, "mapping", "current_node")


def records(place: Place, _: ReadOptions) -> Records:
    """Give what the user and the assistant wrote, along the branch that the user saw last.

    System and tool messages, images and empty ones are left out.
    """
    file = conversations_file(place) or place
    for number, conversation in enumerate(rows_of(read_json(file), file, "a ChatGPT export"), start=1):
        thread = str(conversation.get("conversation_id") or conversation.get("id") or digest(conversation))
        title = str(conversation.get("title") or "").strip()
        before: str | None = None
        for message in _branch(conversation):
            text = _text(message.get("content") or {})
            role = (message.get("author") or {}).get("role")
            if role not in SPEAKERS or not text or (message.get("metadata") or {}).get("is_hidden"):
                continue
            record: Record = {"_id": f"chatgpt:{message['id']}", "text": text, "thread": f"chatgpt:{thread}"}
            if when := message.get("create_time") or conversation.get("create_time"):
                record["created_at"] = datetime.fromtimestamp(float(when), UTC).isoformat()
            if title:
                record["category"] = title[:200]
            if before:
                record["reply_to"] = before
            before = record["_id"]
            yield f"conversation {number}", record | {"extra": {"role": role}}


def _branch(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages from the first to the current one; other branches are answers that were made anew."""
    nodes: dict[str, Any] = conversation.get("mapping") or {}
    at, path = conversation.get("current_node"), list[dict[str, Any]]()
    seen = set[str]()
    while at in nodes and at not in seen:
        seen.add(at)
        node = nodes[at]
        if isinstance(node.get("message"), dict):
            path.append({"id": at} | node["message"])
        at = node.get("parent")
    yield from reversed(path)


def _text(content: dict[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text")]
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)]
    return "\n".join(text.strip() for text in texts if text and text.strip())
