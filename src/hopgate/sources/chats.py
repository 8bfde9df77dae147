"""Exports of chats: ChatGPT, Claude, Telegram and Slack."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hopgate.sources.source import (
    Place,
    ReadOptions,
    Record,
    Records,
    digest,
    files_below,
    read_json,
    rows_of,
    shows,
)

CHATGPT_SPEAKERS = ("user", "assistant")
# Without another opening inside: each of many that nobody closes would be looked for to the end of the text.
SLACK_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_SLACK_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# What Slack writes by itself; everything else is somebody's message.
SLACK_NOTICES = ("join", "leave", "topic", "purpose", "name", "archive", "tombstone", "pinned")


def is_chatgpt(place: Place) -> bool:
    """Whether a place holds conversations with a `mapping` of messages."""
    file = _conversations_file(place)
    return file is not None and shows(file, "mapping", "current_node")


def chatgpt(place: Place, options: ReadOptions) -> Records:
    """Give what the user and the assistant wrote, along the branch that the user saw last.

    System and tool messages, images and empty ones are left out.
    """
    file = _conversations_file(place) or place
    for number, conversation in enumerate(rows_of(read_json(file), file, "a ChatGPT export"), start=1):
        thread = str(
            conversation.get("conversation_id") or conversation.get("id") or digest(options.id_key, conversation)
        )
        title = str(conversation.get("title") or "").strip()
        before: str | None = None
        for message in _chatgpt_branch(conversation):
            text = _chatgpt_text(message.get("content") or {})
            role = (message.get("author") or {}).get("role")
            if role not in CHATGPT_SPEAKERS or not text or (message.get("metadata") or {}).get("is_hidden"):
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


def _chatgpt_branch(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
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


def _chatgpt_text(content: dict[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text")]
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)]
    return "\n".join(text.strip() for text in texts if text and text.strip())


def is_claude(place: Place) -> bool:
    """Whether a place holds conversations with `chat_messages`."""
    file = _conversations_file(place)
    return file is not None and shows(file, "chat_messages", "uuid")


def claude(place: Place, _: ReadOptions) -> Records:
    """Give what the person and the assistant wrote; empty messages are left out."""
    file = _conversations_file(place) or place
    for number, conversation in enumerate(rows_of(read_json(file), file, "a Claude export"), start=1):
        title = str(conversation.get("name") or "").strip()
        before: str | None = None
        for message in rows_of(conversation.get("chat_messages") or [], file, "a Claude export"):
            text = _claude_text(message)
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


def _claude_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.strip() for part in parts if isinstance(part, str) and part.strip()]
    return "\n".join(texts) or str(message.get("text") or "").strip()


def _conversations_file(place: Place) -> Place | None:
    """The file of conversations in an export: the place itself, or `conversations.json` in the folder or archive."""
    if not place.is_dir():
        return place if place.name.lower().endswith(".json") else None
    inner = place / "conversations.json"
    return inner if inner.exists() else None


def is_telegram(place: Place) -> bool:
    """Whether a file, or a folder's `result.json`, has Telegram's messages."""
    file = place / "result.json" if place.is_dir() else place
    return file.name.endswith(".json") and file.exists() and shows(file, "messages", "date_unixtime", "from_id")


def telegram(place: Place, _: ReadOptions) -> Records:
    """Give the messages with their authors and what they answer; service messages and bare media are left out."""
    file = place / "result.json" if place.is_dir() else place
    whole = read_json(file)
    chats = (whole.get("chats") or {}).get("list") or [whole] if isinstance(whole, dict) else whole
    for chat in rows_of(chats, file, "a Telegram export"):
        name, key = str(chat.get("name") or chat.get("type") or "chat"), chat.get("id")
        for message in rows_of(chat.get("messages") or [], file, "a Telegram export"):
            text = _telegram_text(message.get("text"))
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


def _telegram_text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    return "".join(part if isinstance(part, str) else str((part or {}).get("text") or "") for part in parts).strip()


def is_slack(place: Place) -> bool:
    """Whether a folder has Slack's list of channels or of users beside folders of days."""
    if not place.is_dir() or not any((place / name).exists() for name in ("channels.json", "users.json")):
        return False
    return any(_SLACK_DAY.fullmatch(path.rpartition("/")[2]) for path, _ in files_below(place, ".json"))


def slack(place: Place, options: ReadOptions) -> Records:
    """Give the messages of every channel, with their authors; those of a thread answer its first one.

    Joins, leaves and other notices are left out.
    """
    del options
    users = _slack_users(place)
    for path, file in files_below(place, ".json"):
        channel, _, day = path.rpartition("/")
        if not channel or not _SLACK_DAY.fullmatch(day):
            continue
        for number, message in enumerate(rows_of(read_json(file), file, "a day of a Slack export"), start=1):
            text = _slack_plain(str(message.get("text") or ""), users)
            if str(message.get("subtype", "")).endswith(SLACK_NOTICES) or not text or "ts" not in message:
                continue
            stamp, root = str(message["ts"]), str(message.get("thread_ts") or message["ts"])
            author = _slack_author(message, users)
            record: Record = {
                "_id": f"slack:{channel}:{stamp}",
                "text": f"{author}: {text}" if author else text,
                "thread": f"slack:{channel}" if root == stamp else f"slack:{channel}:{root}",
                "category": channel,
                "created_at": datetime.fromtimestamp(float(stamp), UTC).isoformat(),
            }
            if root != stamp:
                record["reply_to"] = f"slack:{channel}:{root}"
            yield f"{path}, message {number}", record


def _slack_users(place: Place) -> dict[str, str]:
    file = place / "users.json"
    rows = rows_of(read_json(file), file, "Slack's list of users") if file.exists() else []
    profiles = {str(row.get("id")): (row, row.get("profile") or {}) for row in rows}
    return {
        key: str(row.get("real_name") or profile.get("real_name") or row.get("name") or key)
        for key, (row, profile) in profiles.items()
    }


def _slack_author(message: dict[str, Any], users: Mapping[str, str]) -> str:
    key = str(message.get("user") or "")
    profile = message.get("user_profile") or {}
    return users.get(key) or profile.get("real_name") or message.get("username") or key


def _slack_plain(text: str, users: Mapping[str, str]) -> str:
    def spoken(found: re.Match[str]) -> str:
        sign, target, label = found.groups()
        if sign == "@":
            return label or users.get(target, target)
        if sign in ("#", "!"):
            return f"{'#' if sign == '#' else '@'}{label or target}"
        return f"{label} ({target})" if label else str(target)

    return html.unescape(SLACK_MARK.sub(spoken, text)).strip()
