"""Claude's export: `conversations.json`, or the archive or folder that holds it."""

from __future__ import annotations

from typing import Any

from hopgate.sources.json_file import conversations_file, read_json, rows_of, shows
from hopgate.sources.source import Place, ReadOptions, Record, Records


def recognises(place: Place) -> bool:
    """Whether a place holds conversations with `chat_messages`."""
    file = conversations_file(place)
    return file is not None and shows(file, "chat_messages", "uuid")


def records(place: Place, _: ReadOptions) -> Records:
    """Give what the person and the assistant wrote; empty messages are left out."""
    file = conversations_file(place) or place
    for number, conversation in enumerate(rows_of(read_json(file), file, "a Claude export"), start=1):
        title = str(conversation.get("name") or "").strip()
        before: str | None = None
        for message in rows_of(conversation.get("chat_messages") or [], file, "a Claude export"):
            text = _text(message)
            if not text:
                continue
            record: Record = {"_id": f"claude:{message['uuid']}", "text": text}
            record["thread"] = f"claude:{conversation.get('uuid')}"
            if when := message.get("created_at") or conversation.get("created_at"):
                record["created_at"] = when
            if title:
                record["category"] = title[:200]
            if before:
                record["reply_to"] = before
            before = record["_id"]
            yield f"conversation {number}", record | {"extra": {"role": message.get("sender")}}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.strip() for part in parts if isinstance(part, str) and part.strip()]
    return "\n".join(texts) or str(message.get("text") or "").strip()
