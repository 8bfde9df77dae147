"""Exports of chats: ChatGPT, Claude, Telegram, Slack and WhatsApp."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hopgate.errors import HopgateError
from hopgate.sources.source import (
    Place,
    ReadOptions,
    Record,
    Records,
    Repeated,
    digest,
    files_below,
    head,
    read_json,
    read_utf8,
    rows_of,
    shows,
)

# Titles of conversations are their memories' categories, so long at most.
MAX_CATEGORY = 200


def _turn(key: str, text: str, **fields: Any) -> Record:
    """A message as a memory; fields that are empty are left out."""
    return {"_id": key, "text": text} | {name: value for name, value in fields.items() if value}


def _answering(where: str, turns: Iterable[Record]) -> Records:
    """Turns of which each answers the one before."""
    before = ""
    for turn in turns:
        yield where, turn | ({"reply_to": before} if before else {})
        before = turn["_id"]


def _at(seconds: float | str) -> str:
    return datetime.fromtimestamp(float(seconds), UTC).isoformat()


def _conversations_file(place: Place) -> Place | None:
    """The file of conversations in an export: the place itself, or `conversations.json` in the folder or archive."""
    if not place.is_dir():
        return place if place.name.lower().endswith(".json") else None
    inner = place / "conversations.json"
    return inner if inner.exists() else None


# ---- ChatGPT ---------------------------------------------------------------------------------------------------------

CHATGPT_SPEAKERS = ("user", "assistant")


def is_chatgpt(place: Place) -> bool:
    """Whether a place holds conversations with a `mapping` of messages."""
    file = _conversations_file(place)
    return file is not None and shows(file, "mapping", "current_node")


def chatgpt(place: Place, options: ReadOptions) -> Records:
    """Give what the user and the assistant wrote, along the branch that the user saw last.

    System and tool messages, images and empty ones are left out.
    """
    file = _conversations_file(place) or place
    for number, one in enumerate(rows_of(read_json(file, options.max_mb), file, "a ChatGPT export"), start=1):
        thread = str(one.get("conversation_id") or one.get("id") or digest(options.id_key, one))
        yield from _answering(f"conversation {number}", _chatgpt_turns(one, f"chatgpt:{thread}"))


def _chatgpt_turns(conversation: dict[str, Any], thread: str) -> Iterator[Record]:
    title = str(conversation.get("title") or "").strip()[:MAX_CATEGORY]
    for message in _chatgpt_branch(conversation):
        text = _chatgpt_text(message.get("content") or {})
        role = (message.get("author") or {}).get("role")
        if role not in CHATGPT_SPEAKERS or not text or (message.get("metadata") or {}).get("is_hidden"):
            continue
        when = message.get("create_time") or conversation.get("create_time")
        more = {"created_at": _at(when) if when else None, "category": title, "extra": {"role": role}}
        yield _turn(f"chatgpt:{message['id']}", text, thread=thread, **more)


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


# ---- Claude ----------------------------------------------------------------------------------------------------------


def is_claude(place: Place) -> bool:
    """Whether a place holds conversations with `chat_messages`."""
    file = _conversations_file(place)
    return file is not None and shows(file, "chat_messages", "uuid")


def claude(place: Place, options: ReadOptions) -> Records:
    """Give what the person and the assistant wrote; empty messages are left out."""
    file = _conversations_file(place) or place
    for number, one in enumerate(rows_of(read_json(file, options.max_mb), file, "a Claude export"), start=1):
        messages = rows_of(one.get("chat_messages") or [], file, "a Claude export")
        yield from _answering(f"conversation {number}", _claude_turns(one, messages))


def _claude_turns(conversation: dict[str, Any], messages: Sequence[dict[str, Any]]) -> Iterator[Record]:
    title = str(conversation.get("name") or "").strip()[:MAX_CATEGORY]
    for message in messages:
        if text := _claude_text(message):
            when = message.get("created_at") or conversation.get("created_at")
            more = {"created_at": when, "category": title, "extra": {"role": message.get("sender")}}
            yield _turn(f"claude:{message['uuid']}", text, thread=f"claude:{conversation.get('uuid')}", **more)


def _claude_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.strip() for part in parts if isinstance(part, str) and part.strip()]
    return "\n".join(texts) or str(message.get("text") or "").strip()


# ---- Telegram --------------------------------------------------------------------------------------------------------


def is_telegram(place: Place) -> bool:
    """Whether a file, or a folder's `result.json`, has Telegram's messages."""
    file = place / "result.json" if place.is_dir() else place
    return file.name.endswith(".json") and file.exists() and shows(file, "messages", "date_unixtime", "from_id")


def telegram(place: Place, options: ReadOptions) -> Records:
    """Give the messages with their authors and what they answer; service messages and bare media are left out."""
    file = place / "result.json" if place.is_dir() else place
    whole = read_json(file, options.max_mb)
    chats = (whole.get("chats") or {}).get("list") or [whole] if isinstance(whole, dict) else whole
    for chat in rows_of(chats, file, "a Telegram export"):
        name, key = str(chat.get("name") or chat.get("type") or "chat"), f"telegram:{chat.get('id')}"
        for message in rows_of(chat.get("messages") or [], file, "a Telegram export"):
            text = _telegram_text(message.get("text"))
            if message.get("type") != "message" or not text:
                continue
            author, stamp = message.get("from") or message.get("from_id"), message.get("date_unixtime")
            answered = message.get("reply_to_message_id")
            yield (
                f"message {message['id']} of {name!r}",
                _turn(
                    f"{key}:{message['id']}",
                    f"{author}: {text}" if author else text,
                    thread=key,
                    category=name[:MAX_CATEGORY],
                    created_at=_at(int(stamp)) if stamp else message.get("date"),
                    reply_to=answered and f"{key}:{answered}",
                ),
            )


def _telegram_text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    return "".join(part if isinstance(part, str) else str((part or {}).get("text") or "") for part in parts).strip()


# ---- Slack -----------------------------------------------------------------------------------------------------------

# Without another opening inside: each of many that nobody closes would be looked for to the end of the text.
SLACK_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_SLACK_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# What Slack writes by itself; everything else is somebody's message.
SLACK_NOTICES = ("join", "leave", "topic", "purpose", "name", "archive", "tombstone", "pinned")


def is_slack(place: Place) -> bool:
    """Whether a folder has Slack's list of channels or of users beside folders of days."""
    if not place.is_dir() or not any((place / name).exists() for name in ("channels.json", "users.json")):
        return False
    return any(_SLACK_DAY.fullmatch(path.rpartition("/")[2]) for path, _ in files_below(place, ".json"))


def slack(place: Place, options: ReadOptions) -> Records:
    """Give the messages of every channel, with their authors; those of a thread answer its first one.

    Joins, leaves and other notices are left out.
    """
    users = _slack_users(place, options)
    for path, file in files_below(place, ".json"):
        channel, _, day = path.rpartition("/")
        if not channel or not _SLACK_DAY.fullmatch(day):
            continue
        for number, message in enumerate(
            rows_of(read_json(file, options.max_mb), file, "a day of a Slack export"), start=1
        ):
            text = _slack_plain(str(message.get("text") or ""), users)
            if str(message.get("subtype", "")).endswith(SLACK_NOTICES) or not text or "ts" not in message:
                continue
            stamp, root = str(message["ts"]), str(message.get("thread_ts") or message["ts"])
            author, first = _slack_author(message, users), f"slack:{channel}:{root}"
            yield (
                f"{path}, message {number}",
                _turn(
                    f"slack:{channel}:{stamp}",
                    f"{author}: {text}" if author else text,
                    thread=f"slack:{channel}" if root == stamp else first,
                    category=channel,
                    created_at=_at(stamp),
                    reply_to=first if root != stamp else None,
                ),
            )


def _slack_users(place: Place, options: ReadOptions) -> dict[str, str]:
    file = place / "users.json"
    rows = rows_of(read_json(file, options.max_mb), file, "Slack's list of users") if file.exists() else []
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


# ---- WhatsApp: a text file, or the archive that holds it -------------------------------------------------------------

WHATSAPP_LINE = re.compile(
    r"\[?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([ap])\.?\s?m\.?)?"
    r"(?:\]\s*|\s+[-–]\s+)(.*)",
    re.IGNORECASE,
)
WHATSAPP_AUTHOR = re.compile(r"([^:]{1,80}): (.*)", re.DOTALL)
_MEDIA = re.compile(
    r"<(media omitted|attached: [^>]*)>|(image|video|audio|sticker|document|GIF) omitted", re.IGNORECASE
)
_CHAT_NAME = re.compile(r"^WhatsApp Chat (with|-) |\.(?:txt|zip)$")
# Where year, month and day lie among a date's three numbers.
ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One message with its date as it is written."""

    number: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    text: str


def is_whatsapp(place: Place) -> bool:
    """Whether the first lines of a text begin with a date, a time and a name."""
    file = _whatsapp_file(place)
    return file is not None and any(WHATSAPP_LINE.match(_unmarked(line)) for line in head(file).splitlines()[:3])


def whatsapp(place: Place, options: ReadOptions) -> Records:
    """Give the messages with their authors; the app's own notices and left-out media are left out."""
    file = _whatsapp_file(place) or place
    lines = list(_whatsapp_lines(read_utf8(file, options.max_mb)))
    if not lines:
        raise HopgateError(f"{file} is not a WhatsApp chat: no line begins with a date, a time and a name")
    order = ORDERS[options.date_order or _date_order(lines, file)]
    chat = _CHAT_NAME.sub("", file.name) or file.name
    # Inside an archive the file has always the same name, and the archive that of the chat.
    if chat == "_chat":
        chat = _CHAT_NAME.sub("", place.name or str(place).rstrip("/").rpartition("/")[2])
    numbered, before = Repeated(), None
    for line in lines:
        spoken = WHATSAPP_AUTHOR.fullmatch(line.text)
        if not spoken or _MEDIA.fullmatch(spoken[2].strip()):
            continue
        when = _moment(line, order, file)
        key = numbered(f"whatsapp:{chat}:{digest(options.id_key, when, spoken[1], spoken[2])}")
        said = f"{spoken[1]}: {spoken[2].strip()}"
        more = {"thread": f"whatsapp:{chat}", "category": chat, "created_at": when, "reply_to": before}
        yield f"line {line.number}", _turn(key, said, **more)
        before = key


def _whatsapp_file(place: Place) -> Place | None:
    if not place.is_dir():
        return place if place.name.lower().endswith(".txt") else None
    inner = place / "_chat.txt"
    if inner.exists():
        return inner
    texts = [file for _, file in files_below(place, ".txt")]
    return texts[0] if len(texts) == 1 and texts[0].name.startswith("WhatsApp") else None


def _unmarked(line: str) -> str:
    """A line without the marks of direction, and with plain spaces, that the app puts in."""
    return re.sub(r"[\u200e\u200f\u202a-\u202c\ufeff]", "", line).replace("\u202f", " ").replace("\u00a0", " ")


def _whatsapp_lines(text: str) -> Iterator[ChatLine]:
    current: ChatLine | None = None
    said: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _unmarked(raw)
        found = WHATSAPP_LINE.match(line)
        if not found:
            said.append(line)
            continue
        if current:
            yield replace(current, text="\n".join(said))
        first, _, second, third, hour, minute, sec, half, rest = found.groups()
        hours = int(hour) if not half else int(hour) % 12 + (12 if half.lower() == "p" else 0)
        clock = (hours, int(minute), int(sec or 0))
        current = ChatLine(number, (int(first), int(second), int(third)), clock, rest)
        # Put together at the end: each line would copy all before it.
        said = [rest]
    if current:
        yield replace(current, text="\n".join(said))


def _date_order(lines: Sequence[ChatLine], file: Place) -> str:
    """How the dates are to be read: by a number above 12, or by the one order in which time never runs back."""
    fits = []
    for name, (year, month, day) in ORDERS.items():
        dates = [(line.date[year] % 100, line.date[month], line.date[day]) for line in lines]
        # A year of two digits may lie anywhere; one of four shows where it is.
        years = all(line.date[year] > 31 or line.date[year] < 100 for line in lines)
        other = any(line.date[place] > 99 for line in lines for place in (month, day))
        if years and not other and all(m <= 12 and 1 <= d <= 31 for _, m, d in dates) and dates == sorted(dates):
            fits.append(name)
    plain = [name for name in fits if name != "ymd"] or fits
    if len(plain) != 1:
        raise HopgateError(f"{file}: its dates can be read in {len(plain)} ways: say --date-order dmy or mdy")
    return plain[0]


def _moment(line: ChatLine, order: tuple[int, int, int], file: Place) -> str:
    year, month, day = (line.date[at] for at in order)
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, *line.clock, tzinfo=UTC).isoformat()
    except ValueError:
        raise HopgateError(
            f"{file}, line {line.number}: not a date in the order {line.date}: see --date-order"
        ) from None
