"""A sample of each source, made by hand: what the program would write, with what is left out and what comes over."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from hopgate.sources.tables import parse_map

VAULT = {
    ".obsidian/app.json": "{}",
    "Homelab/NAS.md": (
        "---\ntags: [homelab, storage]\naliases:\n  - filer\ncreated: 2024-03-01\nrating: 4\n---\n"
        "# The NAS\n\nIt runs on [[borealis|the new box]], not on [[atlas]]. #backup\n\n```sh\n# no tag\n```\n"
        "\n## Disks\n\nFour disks by [[Hendrik]].\n"
    ),
    "2024-05-01.md": "Met [[Ada]] at the harbour. #diary/spring\n",
    "Codes.md": "---\nis_sensitive: true\n---\nThe safe opens with the blue vase.\n",
}
CSV_MAP = ("_id=id", "text=Note", "created_at=when", "tags=labels")
RECORDS_MAP = ("_id=key", "text=message.body", "created_at=message.at", "tags=labels")


def put(path: Path, value: Any) -> Path:
    """Write a text, or a value as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def vault(folder: Path) -> Path:
    for name, text in VAULT.items():
        put(folder / "vault" / name, text)
    return folder / "vault"


def text(folder: Path) -> Path:
    return put(folder / "todo.txt", "Call Ada about the boiler.\n\nFeed the cat.\nFeed the cat.\n")


def csv(folder: Path) -> Path:
    rows = (
        "id,Note,when,labels,is_sensitive\n"
        '7,"The boiler, serviced by\nHendrik.",2024-05-01,"home; heating",no\n'
        "8,The PIN is at Bea's.,2024-05-02,,yes\n"
    )
    return put(folder / "notes.csv", rows)


def records(folder: Path) -> Path:
    rows = [
        {"key": 1, "message": {"body": "The boiler shows E119.", "at": 1714550400}, "labels": ["boiler"]},
        {"key": 2, "message": {"body": "Hendrik fixed it.", "at": 1714636800}, "labels": []},
    ]
    return put(folder / "notes.json", {"version": 1, "items": rows})


def chatgpt(folder: Path) -> Path:
    said = [
        ("s", "root", "system", ["You are helpful."], None),
        ("u1", "s", "user", ["Which disk suits a NAS?"], 1714550400.5),
        ("a0", "u1", "assistant", ["A first answer that was made anew."], 1714550410),
        ("a1", "u1", "assistant", ["One rated for vibration.", {"content_type": "image"}], 1714550420),
        ("u2", "a1", "user", [""], 1714550430),
        ("u3", "u2", "user", ["And for atlas?"], 1714550440),
    ]
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None}}
    for key, parent, role, parts, at in said:
        message = {"id": key, "author": {"role": role}, "create_time": at, "content": {"parts": parts}}
        mapping[key] = {"id": key, "parent": parent, "message": message}
    conversation = {"title": "Disks", "create_time": 1714550400, "current_node": "u3", "conversation_id": "c1"}
    with zipfile.ZipFile(folder / "chatgpt.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation | {"mapping": mapping}]))
    return folder / "chatgpt.zip"


def claude(folder: Path) -> Path:
    content = [{"type": "text", "text": "Hendrik did."}]
    messages = [
        {"uuid": "m1", "sender": "human", "created_at": "2024-05-01T08:00:00.5Z", "text": "Who serviced the boiler?"},
        {"uuid": "m2", "sender": "assistant", "created_at": "2024-05-01T08:00:09Z", "text": "", "content": content},
        {"uuid": "m3", "sender": "human", "created_at": "2024-05-01T08:01:00Z", "text": " "},
    ]
    conversation = {"uuid": "c1", "name": "Boiler", "created_at": "2024-05-01T08:00:00Z", "chat_messages": messages}
    return put(folder / "claude-export" / "conversations.json", [conversation]).parent


def slack(folder: Path) -> Path:
    users = [{"id": "U1", "name": "ada", "profile": {"real_name": "Ada"}}, {"id": "U2", "name": "bea"}]
    root, first = folder / "slack", "1714550400.1"
    asked = "Is atlas down, <@U2>? &gt; see <http://x.y|log>"
    messages: list[dict[str, str]] = [
        {"subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1714550399.1"},
        {"user": "U1", "text": asked, "ts": first, "thread_ts": first},
        {"user": "U2", "text": "Yes.", "ts": "1714550500.1", "thread_ts": first},
    ]
    put(root / "users.json", users)
    put(root / "channels.json", [{"name": "general"}])
    put(root / "general" / "2024-05-01.json", [{"type": "message"} | message for message in messages])
    return root


def whatsapp(folder: Path) -> Path:
    lines = (
        "31/01/2024, 21:15 - Messages and calls are end-to-end encrypted.\n"
        "31/01/2024, 21:15 - Ada: The boiler is out.\nAgain.\n"
        "31/01/2024, 21:16 - Bea: <Media omitted>\n"
        "01/02/2024, 08:05 - Bea: I will call Hendrik: today.\n"
    )
    return put(folder / "WhatsApp Chat with Ada.txt", lines)


def telegram(folder: Path) -> Path:
    link = ["See ", {"type": "link", "text": "https://x.y"}, " for the disks."]
    ada, bea = {"from": "Ada", "from_id": "user1"}, {"from": "Bea", "from_id": "user2"}
    messages = [
        {"id": 1, "type": "service", "date_unixtime": "1714550300", "text": "", "from_id": "user1"},
        {"id": 2, "type": "message", "date_unixtime": "1714550400", "text": link, **ada},
        {"id": 3, "type": "message", "date_unixtime": "1714550500", "text": "Thanks.", "reply_to_message_id": 2, **bea},
    ]
    return put(folder / "result.json", {"name": "Ada", "type": "personal_chat", "id": 99, "messages": messages})


def mbox(folder: Path) -> Path:
    mails = (
        "From ada@example.org Wed May  1 08:00:00 2024\nFrom: Ada Byron <ada@example.org>\nTo: bea@example.org\n"
        "Subject: =?utf-8?q?The_B=C3=A4r?=\nMessage-ID: <1@example.org>\nDate: Wed, 01 May 2024 10:00:00 +0200\n"
        'Content-Type: text/plain; charset="utf-8"\n\nThe bear is at the harbour.\n\n'
        "From bea@example.org Wed May  1 09:00:00 2024\nFrom: bea@example.org\nSensitivity: Personal\n"
        "Keywords: zoo, bears\nSubject: Re: The bear\n"
        "Message-ID: <2@example.org>\nIn-Reply-To: <1@example.org>\nReferences: <1@example.org>\n"
        "Date: Wed, 01 May 2024 11:00:00 +0200\nContent-Type: text/html\n\n"
        "<html><style>p {}</style><p>I saw it.</p><p>&gt; quoted?</p></html>\n\n"
    )
    return put(folder / "inbox.mbox", mails)


def sqlite(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "app.db")) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, at TEXT)")
        connection.execute("INSERT INTO notes VALUES (1, 'The cat sleeps.', '2024-05-01'), (2, 'Ada calls.', NULL)")
    return folder / "app.db"


# Every sample, and the options that it is read with.
ALL: list[tuple[Callable[[Path], Path], dict[str, object]]] = [
    *((make, {}) for make in (vault, text, chatgpt, claude, slack, whatsapp, telegram, mbox)),
    (csv, {"fields": parse_map(CSV_MAP)}),
    (records, {"fields": parse_map(RECORDS_MAP)}),
    (sqlite, {"query": "SELECT id AS _id, body AS text FROM notes"}),
]
