"""Telegram's export: `result.json` of one chat, or of all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hopgate.sources.json_file import read_json, rows_of, shows
from hopgate.sources.source import Place, ReadOptions, Record, Records


def recognises(place: Place) -> bool:
    """Whether a file, or a folder's `result.json`, has Telegram's messages."""
    file = place / "result.json" if place.is_dir() else place
    return file.name.endswith(".json") and file.exists() and shows(file, "messages", "date_unixtime", "from_id")


def records(place: Place, _: ReadOptions) -> Records:
    """Give the messages with their authors and what they answer; service messages and bare media are left out."""
    file = place / "result.json" if place.is_dir() else place
    whole = read_json(file)
    chats = (whole.get("chats") or {}).get("list") or [whole] if isinstance(whole, dict) else whole
    for chat in rows_of(chats, file, "a Telegram export"):
        name, key = str(chat.get("name") or chat.get("type") or "chat"), chat.get("id")
        for message in rows_of(chat.get("messages") or [], file, "a Telegram export"):
            text = _text(message.get("text"))
            if message.get("type") != "message" or not text:
                continue
            author = message.get("from") or message.get("from_id")
            record: Record = {
                "_id": f"telegram:{key}:{message['id']}",
                "text": f"{author}: {text}" if author else text,
                "thread": f"telegram:{key}",
                "category": name[:200],
            }
            if stamp := message.get("date_unixtime"):
                record["created_at"] = datetime.fromtimestamp(int(stamp), UTC).isoformat()
            elif message.get("date"):
                record["created_at"] = message["date"]
            if message.get("reply_to_message_id"):
                record["reply_to"] = f"telegram:{key}:{message['reply_to_message_id']}"
            yield f"message {message['id']} of {name!r}", record


def _text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    return "".join(part if isinstance(part, str) else str((part or {}).get("text") or "") for part in parts).strip()
