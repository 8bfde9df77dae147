"""A sample of each source, made by hand: what the program would write, with what is left out and what comes over."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

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


def vault(folder: Path) -> Path:
    for name, text in VAULT.items():
        path = folder / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "vault"


def text(folder: Path) -> Path:
    path = folder / "todo.txt"
    path.write_text("Call Ada about the boiler.\n\nFeed the cat.\nFeed the cat.\n", encoding="utf-8")
    return path


def csv(folder: Path) -> Path:
    path = folder / "notes.csv"
    path.write_text(
        "id,Note,when,labels,is_sensitive\n"
        '7,"The boiler, serviced by\nHendrik.",2024-05-01,"home; heating",no\n'
        "8,The PIN is at Bea's.,2024-05-02,,yes\n",
        encoding="utf-8",
    )
    return path


CSV_MAP = ("_id=id", "text=Note", "created_at=when", "tags=labels")


def records(folder: Path) -> Path:
    rows = [
        {"key": 1, "message": {"body": "The boiler shows E119.", "at": 1714550400}, "labels": ["boiler"]},
        {"key": 2, "message": {"body": "Hendrik fixed it.", "at": 1714636800}, "labels": []},
    ]
    return put(folder / "notes.json", {"version": 1, "items": rows})


RECORDS_MAP = ("_id=key", "text=message.body", "created_at=message.at", "tags=labels")


def put(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def chatgpt_node(key: str, parent: str | None, role: str, said: Any, at: float | None) -> dict[str, Any]:
    message = {
        "id": key,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": said},
    }
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(folder: Path) -> Path:
    nodes = [
        {"id": "root", "parent": None, "children": [], "message": None},
        chatgpt_node("s", "root", "system", ["You are helpful."], None),
        chatgpt_node("u1", "s", "user", ["Which disk suits a NAS?"], 1714550400.5),
        chatgpt_node("a0", "u1", "assistant", ["A first answer that was made anew."], 1714550410),
        chatgpt_node("a1", "u1", "assistant", ["One rated for vibration.", {"content_type": "image"}], 1714550420),
        chatgpt_node("u2", "a1", "user", [""], 1714550430),
        chatgpt_node("u3", "u2", "user", ["And for atlas?"], 1714550440),
    ]
    conversation = {"title": "Disks", "create_time": 1714550400, "current_node": "u3", "conversation_id": "c1"}
    path = folder / "chatgpt.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "conversations.json", json.dumps([conversation | {"mapping": {node["id"]: node for node in nodes}}])
        )
    return path


def claude(folder: Path) -> Path:
    messages = [
        {"uuid": "m1", "sender": "human", "created_at": "2024-05-01T08:00:00.5Z", "text": "Who serviced the boiler?"},
        {"uuid": "m2", "sender": "assistant", "created_at": "2024-05-01T08:00:09Z", "text": ""}
        | {"content": [{"type": "text", "text": "Hendrik did."}]},
        {"uuid": "m3", "sender": "human", "created_at": "2024-05-01T08:01:00Z", "text": " "},
    ]
    conversation = {"uuid": "c1", "name": "Boiler", "created_at": "2024-05-01T08:00:00Z", "chat_messages": messages}
    inner = folder / "claude-export"
    inner.mkdir()
    put(inner / "conversations.json", [conversation])
    return inner


def slack(folder: Path) -> Path:
    root = folder / "slack"
    (root / "general").mkdir(parents=True)
    put(
        root / "users.json", [{"id": "U1", "name": "ada", "profile": {"real_name": "Ada"}}, {"id": "U2", "name": "bea"}]
    )
    put(root / "channels.json", [{"name": "general"}])
    put(
        root / "general" / "2024-05-01.json",
        [
            {
                "type": "message",
                "subtype": "channel_join",
                "user": "U1",
                "text": "<@U1> has joined",
                "ts": "1714550399.1",
            },
            {
                "type": "message",
                "user": "U1",
                "text": "Is atlas down, <@U2>? &gt; see <http://x.y|log>",
                "ts": "1714550400.1",
            }
            | {"thread_ts": "1714550400.1"},
            {"type": "message", "user": "U2", "text": "Yes.", "ts": "1714550500.1", "thread_ts": "1714550400.1"},
        ],
    )
    return root


def whatsapp(folder: Path) -> Path:
    path = folder / "WhatsApp Chat with Ada.txt"
    path.write_text(
        "31/01/2024, 21:15 - Messages and calls are end-to-end encrypted.\n"
        "31/01/2024, 21:15 - Ada: The boiler is out.\nAgain.\n"
        "31/01/2024, 21:16 - Bea: <Media omitted>\n"
        "01/02/2024, 08:05 - Bea: I will call Hendrik: today.\n",
        encoding="utf-8",
    )
    return path


def telegram(folder: Path) -> Path:
    messages = [
        {"id": 1, "type": "service", "date_unixtime": "1714550300", "text": "", "from_id": "user1"},
        {"id": 2, "type": "message", "date": "2024-05-01T10:00:00", "date_unixtime": "1714550400", "from": "Ada"}
        | {"from_id": "user1", "text": ["See ", {"type": "link", "text": "https://x.y"}, " for the disks."]},
        {
            "id": 3,
            "type": "message",
            "date_unixtime": "1714550500",
            "from": "Bea",
            "from_id": "user2",
            "text": "Thanks.",
        }
        | {"reply_to_message_id": 2},
    ]
    return put(folder / "result.json", {"name": "Ada", "type": "personal_chat", "id": 99, "messages": messages})


def mbox(folder: Path) -> Path:
    path = folder / "inbox.mbox"
    path.write_text(
        "From ada@example.org Wed May  1 08:00:00 2024\nFrom: Ada Byron <ada@example.org>\nTo: bea@example.org\n"
        "Subject: =?utf-8?q?The_B=C3=A4r?=\nMessage-ID: <1@example.org>\nDate: Wed, 01 May 2024 10:00:00 +0200\n"
        'Content-Type: text/plain; charset="utf-8"\n\nThe bear is at the harbour.\n\n'
        "From bea@example.org Wed May  1 09:00:00 2024\nFrom: bea@example.org\nSensitivity: Personal\n"
        "Keywords: zoo, bears\nSubject: Re: The bear\n"
        "Message-ID: <2@example.org>\nIn-Reply-To: <1@example.org>\nReferences: <1@example.org>\n"
        "Date: Wed, 01 May 2024 11:00:00 +0200\nContent-Type: text/html\n\n"
        "<html><style>p {}</style><p>I saw it.</p><p>&gt; quoted?</p></html>\n\n",
        encoding="utf-8",
    )
    return path


def sqlite(folder: Path) -> Path:
    path = folder / "app.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, at TEXT)")
        connection.execute("INSERT INTO notes VALUES (1, 'The cat sleeps.', '2024-05-01'), (2, 'Ada calls.', NULL)")
    return path
