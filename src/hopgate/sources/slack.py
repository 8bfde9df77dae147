"""Slack's export: a folder or archive with a folder a channel and a file a day."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hopgate.sources.json_file import read_json, rows_of
from hopgate.sources.source import Place, ReadOptions, Record, Records, files_below

# Without another opening inside: each of many that nobody closes would be looked for to the end of the text.
_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# What Slack writes by itself; everything else is somebody's message.
NOTICES = ("join", "leave", "topic", "purpose", "name", "archive", "tombstone", "pinned")


def recognises(place: Place) -> bool:
    """Whether a folder has Slack's list of channels or of users beside folders of days."""
    if not place.is_dir() or not any((place / name).exists() for name in ("channels.json", "users.json")):
        return False
    return any(_DAY.fullmatch(path.rpartition("/")[2]) for path, _ in files_below(place, ".json"))


def records(place: Place, options: ReadOptions) -> Records:
    """Give the messages of every channel, with their authors; those of a thread answer its first one.

    Joins, leaves and other notices are left out.
    """
    del options
    users = _names(place)
    for path, file in files_below(place, ".json"):
        channel, _, day = path.rpartition("/")
        if not channel or not _DAY.fullmatch(day):
            continue
        for number, message in enumerate(rows_of(read_json(file), file, "a day of a Slack export"), start=1):
            text = _plain(str(message.get("text") or ""), users)
            if str(message.get("subtype", "")).endswith(NOTICES) or not text or "ts" not in message:
                continue
            stamp, root = str(message["ts"]), str(message.get("thread_ts") or message["ts"])
            author = _author(message, users)
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


def _names(place: Place) -> dict[str, str]:
    file = place / "users.json"
    rows = rows_of(read_json(file), file, "Slack's list of users") if file.exists() else []
    profiles = {str(row.get("id")): (row, row.get("profile") or {}) for row in rows}
    return {
        key: str(row.get("real_name") or profile.get("real_name") or row.get("name") or key)
        for key, (row, profile) in profiles.items()
    }


def _author(message: dict[str, Any], users: Mapping[str, str]) -> str:
    key = str(message.get("user") or "")
    profile = message.get("user_profile") or {}
    return users.get(key) or profile.get("real_name") or message.get("username") or key


def _plain(text: str, users: Mapping[str, str]) -> str:
    def spoken(found: re.Match[str]) -> str:
        sign, target, label = found.groups()
        if sign == "@":
            return label or users.get(target, target)
        if sign in ("#", "!"):
            return f"{'#' if sign == '#' else '@'}{label or target}"
        return f"{label} ({target})" if label else str(target)

    return html.unescape(_MARK.sub(spoken, text)).strip()
