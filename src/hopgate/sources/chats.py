"""Chats: messages as assistants have them, and exports of ChatGPT, Claude, Telegram, Slack and WhatsApp."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from hopgate.corpus import check_flags
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
    set_aside,
    shows,
)
from hopgate.times import from_epoch

# Titles of conversations are their memories' categories, so long at most.
MAX_CATEGORY = 200


def _turn(key: str, text: str, **fields: Any) -> Record:
    """A message as a memory; fields that are empty are left out."""
    return {"_id": key, "text": text} | {name: value for name, value in fields.items() if value}


def _answering(turns: Iterable[Record]) -> Iterator[Record]:
    """Turns of which each answers the one before."""
    before = ""
    for turn in turns:
        yield turn | ({"reply_to": before} if before else {})
        before = turn["_id"]


def _file_in(place: Place, name: str) -> Place:
    """A file that is the place itself, or lies in the folder or archive."""
    return place / name if place.is_dir() else place


def shows_in(inner: str, *names: str) -> Callable[[Place], bool]:
    """Say of a place whether its JSON file, or the one of this name in it, begins with records of such fields."""

    def recognises(place: Place) -> bool:
        file = _file_in(place, inner)
        return file.name.lower().endswith(".json") and file.exists() and shows(file, *names)

    return recognises


# ---- Messages as assistants are given them: [{"role": "user", "content": "…"}, …] ------------------------------------

# The others' are instructions and what tools gave back.
UNSPOKEN = ("system", "developer", "tool", "function")


def is_messages(place: Place) -> bool:
    """Whether a JSON file begins with objects that have a role and a content."""
    return place.name.lower().endswith(".json") and shows(place, "role", "content")


def messages(place: Place, options: ReadOptions) -> Records:
    """Give the messages of a list, or of the `messages` of an object, as one thread that is called as the file is."""
    whole, numbered = read_json(place, options.max_mb), Repeated()
    if isinstance(whole, dict):
        check_flags({name: value for name, value in whole.items() if name != "messages"}, str(place))
    rows = rows_of(whole.get("messages") if isinstance(whole, dict) else whole, place, "a list of messages")
    for number, message in enumerate(rows, start=1):
        yield from set_aside(f"message {number}", turn_of(message, place.name, options.id_key, numbered))


def turn_of(message: Mapping[str, Any], thread: str, key: bytes, numbered: Repeated) -> Iterator[Record]:
    """Give a message as a turn of a thread; nothing for an empty one, and for those of the system and of tools.

    An id that is made is the same for the same message, and another for one that is said again.
    """
    if not isinstance(message, Mapping):
        raise HopgateError("a message is an object with a role and a content")
    flag = {name: value for name, value in message.items() if name == "is_sensitive"}
    check_flags({name: value for name, value in message.items() if name not in flag}, "a message")
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not isinstance(content, str | list | None):
        raise HopgateError("a message has a role and a content, both texts")
    text = _joined(content if isinstance(content, list) else [content])
    if text and role not in UNSPOKEN:
        when = message.get("created_at") or message.get("timestamp")
        more = {"created_at": from_epoch(when) if isinstance(when, int | float) else when, "extra": {"role": role}}
        made = message.get("id") or digest(key, role, text)
        # Also an empty flag, which is refused.
        yield _turn(numbered(f"{thread}#{made}"), text, thread=thread, **more) | flag


# ---- ChatGPT and Claude ----------------------------------------------------------------------------------------------

CONVERSATIONS = "conversations.json"
is_chatgpt = shows_in(CONVERSATIONS, "mapping", "current_node")
is_claude = shows_in(CONVERSATIONS, "chat_messages", "uuid")


def chatgpt(place: Place, options: ReadOptions) -> Records:
    """Give what the user and the assistant wrote, along the branch that the user saw last.

    System and tool messages, images and empty ones are left out.
    """
    file = _file_in(place, CONVERSATIONS)
    for number, one in enumerate(rows_of(read_json(file, options.max_mb), file, "a ChatGPT export"), start=1):
        thread = str(one.get("conversation_id") or one.get("id") or digest(options.id_key, one))
        yield from set_aside(f"conversation {number}", _answering(_chatgpt_turns(one, f"chatgpt:{thread}")))


def _chatgpt_turns(conversation: dict[str, Any], thread: str) -> Iterator[Record]:
    title = str(conversation.get("title") or "").strip()[:MAX_CATEGORY]
    for message in _chatgpt_branch(conversation):
        content = message.get("content") or {}
        text = _joined(content.get("parts") or [content.get("text")])
        role = (message.get("author") or {}).get("role")
        if role not in ("user", "assistant") or not text or (message.get("metadata") or {}).get("is_hidden"):
            continue
        when = message.get("create_time") or conversation.get("create_time")
        more = {"created_at": from_epoch(float(when)) if when else None, "category": title, "extra": {"role": role}}
        yield _turn(f"chatgpt:{message['id']}", text, thread=thread, **more)


def _chatgpt_branch(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages from the first to the current one; other branches are answers that were made anew."""
    nodes: dict[str, Any] = conversation.get("mapping") or {}
    at, path = conversation.get("current_node"), dict[str, Any]()
    while at in nodes and at not in path:
        path[at] = nodes[at].get("message")
        at = nodes[at].get("parent")
    for key, message in reversed(path.items()):
        if isinstance(message, dict):
            yield {"id": key} | message


def claude(place: Place, options: ReadOptions) -> Records:
    """Give what the person and the assistant wrote; empty messages are left out."""
    file = _file_in(place, CONVERSATIONS)
    for number, one in enumerate(rows_of(read_json(file, options.max_mb), file, "a Claude export"), start=1):
        yield from set_aside(f"conversation {number}", _answering(_claude_turns(one, file)))


def _claude_turns(conversation: dict[str, Any], file: Place) -> Iterator[Record]:
    title = str(conversation.get("name") or "").strip()[:MAX_CATEGORY]
    for message in rows_of(conversation.get("chat_messages") or [], file, "a Claude export"):
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        if text := _joined(parts) or str(message.get("text") or "").strip():
            when = message.get("created_at") or conversation.get("created_at")
            more = {"created_at": when, "category": title, "extra": {"role": message.get("sender")}}
            yield _turn(f"claude:{message['uuid']}", text, thread=f"claude:{conversation.get('uuid')}", **more)


def _joined(parts: Iterable[Any]) -> str:
    """The texts among a message's parts, each on lines of its own."""
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


# ---- Telegram --------------------------------------------------------------------------------------------------------

is_telegram = shows_in("result.json", "messages", "date_unixtime", "from_id")


def telegram(place: Place, options: ReadOptions) -> Records:
    """Give the messages with their authors and what they answer; service messages and bare media are left out."""
    file = _file_in(place, "result.json")
    whole = read_json(file, options.max_mb)
    chats = (whole.get("chats") or {}).get("list") or [whole] if isinstance(whole, dict) else whole
    for chat in rows_of(chats, file, "a Telegram export"):
        name, key = str(chat.get("name") or chat.get("type") or "chat"), f"telegram:{chat.get('id')}"
        for message in rows_of(chat.get("messages") or [], file, "a Telegram export"):
            yield from set_aside(f"message {message.get('id')} of {name!r}", _telegram_turn(message, key, name))


def _telegram_turn(message: dict[str, Any], chat: str, name: str) -> Iterator[Record]:
    """The message as a memory, or nothing."""
    text = _telegram_text(message.get("text"))
    if message.get("type") == "message" and text:
        author, stamp = message.get("from") or message.get("from_id"), message.get("date_unixtime")
        answered = message.get("reply_to_message_id")
        yield _turn(
            f"{chat}:{message['id']}",
            f"{author}: {text}" if author else text,
            thread=chat,
            category=name[:MAX_CATEGORY],
            created_at=from_epoch(int(stamp)) if stamp else message.get("date"),
            reply_to=answered and f"{chat}:{answered}",
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
    return next(_slack_days(place), None) is not None


def _slack_days(place: Place) -> Iterator[tuple[str, str, Place]]:
    """The files of the channels' days, each with its path and its channel."""
    for path, file in files_below(place, ".json"):
        channel, _, day = path.rpartition("/")
        if channel and _SLACK_DAY.fullmatch(day):
            yield path, channel, file


def slack(place: Place, options: ReadOptions) -> Records:
    """Give the messages of every channel, with their authors; those of a thread answer its first one.

    Joins, leaves and other notices are left out.
    """
    users = _slack_users(place, options)
    for path, channel, file in _slack_days(place):
        yield from set_aside(path, _slack_day(channel, file, options, users))


def _slack_day(channel: str, file: Place, options: ReadOptions, users: Mapping[str, str]) -> Iterator[Record]:
    for message in rows_of(read_json(file, options.max_mb), file, "a day of a Slack export"):
        text = _slack_plain(str(message.get("text") or ""), users)
        if str(message.get("subtype", "")).endswith(SLACK_NOTICES) or not text or "ts" not in message:
            continue
        stamp, root = str(message["ts"]), str(message.get("thread_ts") or message["ts"])
        key, profile = str(message.get("user") or ""), message.get("user_profile") or {}
        author = users.get(key) or profile.get("real_name") or message.get("username") or key
        first = f"slack:{channel}:{root}"
        yield _turn(
            f"slack:{channel}:{stamp}",
            f"{author}: {text}" if author else text,
            thread=f"slack:{channel}" if root == stamp else first,
            category=channel,
            created_at=from_epoch(float(stamp)),
            reply_to=first if root != stamp else None,
        )


def _slack_users(place: Place, options: ReadOptions) -> dict[str, str]:
    file = place / "users.json"
    rows = rows_of(read_json(file, options.max_mb), file, "Slack's list of users") if file.exists() else []
    return {
        str(row.get("id")): str(
            row.get("real_name") or (row.get("profile") or {}).get("real_name") or row.get("name") or row.get("id")
        )
        for row in rows
    }


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


class ChatLine(NamedTuple):
    """One message with its date as it is written, and its parts, a line each."""

    number: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    parts: list[str]


def is_whatsapp(place: Place) -> bool:
    """Whether the first lines of a text begin with a date, a time and a name."""
    file = _whatsapp_file(place)
    return file is not None and any(WHATSAPP_LINE.match(_unmarked(line)) for line in head(file).splitlines()[:3])


def whatsapp(place: Place, options: ReadOptions) -> Records:
    """Give the messages with their authors; the app's own notices and left-out media are left out."""
    file = _whatsapp_file(place) or place
    lines = _whatsapp_lines(read_utf8(file, options.max_mb))
    if not lines:
        raise HopgateError(f"{file} is not a WhatsApp chat: no line begins with a date, a time and a name")
    order = ORDERS[options.date_order or _date_order(lines, file)]
    chat = _CHAT_NAME.sub("", file.name) or file.name
    # Inside an archive the file has always the same name, and the archive that of the chat.
    if chat == "_chat":
        chat = _CHAT_NAME.sub("", place.name or str(place).rstrip("/").rpartition("/")[2])
    numbered, before = Repeated(), None
    for line in lines:
        spoken = WHATSAPP_AUTHOR.fullmatch("\n".join(line.parts))
        if not spoken or _MEDIA.fullmatch(spoken[2].strip()):
            continue
        when = _moment(line, order, file).isoformat()
        key = numbered(f"whatsapp:{chat}:{digest(options.id_key, when, spoken[1], spoken[2])}")
        text = f"{spoken[1]}: {spoken[2].strip()}"
        more = {"thread": f"whatsapp:{chat}", "category": chat, "created_at": when, "reply_to": before}
        yield f"line {line.number}", _turn(key, text, **more)
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


def _whatsapp_lines(text: str) -> list[ChatLine]:
    found: list[ChatLine] = []
    for number, line in enumerate(map(_unmarked, text.splitlines()), start=1):
        if match := WHATSAPP_LINE.match(line):
            first, _, second, third, hour, minute, sec, half, rest = match.groups()
            hours = int(hour) if not half else int(hour) % 12 + (12 if half.lower() == "p" else 0)
            clock = (hours, int(minute), int(sec or 0))
            found.append(ChatLine(number, (int(first), int(second), int(third)), clock, [rest]))
        elif found:
            found[-1].parts.append(line)
    return found


def _date_order(lines: Sequence[ChatLine], file: Place) -> str:
    """How the dates are to be read: by a number above 12, or by the one order in which time never runs back."""
    fits = []
    for name, order in ORDERS.items():
        with suppress(HopgateError):
            days = [_moment(line, order, file).date() for line in lines]
            if days == sorted(days):
                fits.append(name)
    # A year of two digits may lie anywhere; few programs begin with it.
    plain = [name for name in fits if name != "ymd"] or fits
    if len(plain) != 1:
        raise HopgateError(f"{file}: its dates can be read in {len(plain)} ways: say --date-order dmy or mdy")
    return plain[0]


def _moment(line: ChatLine, order: tuple[int, int, int], file: Place) -> datetime:
    year, month, day = (line.date[at] for at in order)
    try:
        return datetime(year + 2000 if year < 100 else year, month, day, *line.clock, tzinfo=UTC)
    except ValueError:
        raise HopgateError(
            f"{file}, line {line.number}: not a date in the order {line.date}: see --date-order"
        ) from None
