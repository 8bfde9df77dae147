"""A sample of each source, made by hand: what the program would write, with what is left out and what comes over.

The files lie in the folder `samples`; each function copies one, so that a test may change it.
"""

import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from hopgate.sources.tables import parse_map

FILES = Path(__file__).parent / "samples"
CSV_MAP = ("_id=id", "text=Note", "created_at=when", "tags=labels")
RECORDS_MAP = ("_id=key", "text=message.body", "created_at=message.at", "tags=labels")


def _copied(name: str, folder: Path) -> Path:
    """Copy a file or a folder of samples into a folder."""
    copy = shutil.copytree if (FILES / name).is_dir() else shutil.copy
    return Path(copy(FILES / name, folder / name))


vault = partial(_copied, "vault")
text = partial(_copied, "todo.txt")
csv = partial(_copied, "notes.csv")
records = partial(_copied, "notes.json")
messages = partial(_copied, "messages.json")
claude = partial(_copied, "claude-export")
slack = partial(_copied, "slack")
whatsapp = partial(_copied, "WhatsApp Chat with Ada.txt")
telegram = partial(_copied, "result.json")
mbox = partial(_copied, "inbox.mbox")


def chatgpt(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "chatgpt.zip", "w") as archive:
        archive.write(FILES / "chatgpt" / "conversations.json", "conversations.json")
    return folder / "chatgpt.zip"


def sqlite(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "app.db")) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, at TEXT)")
        connection.execute("INSERT INTO notes VALUES (1, 'The cat sleeps.', '2024-05-01'), (2, 'Ada calls.', NULL)")
    return folder / "app.db"


# Every sample, and the options that it is read with.
ALL: list[tuple[Callable[[Path], Path], dict[str, object]]] = [
    *((make, {}) for make in (vault, text, messages, chatgpt, claude, slack, whatsapp, telegram, mbox)),
    (csv, {"fields": parse_map(CSV_MAP)}),
    (records, {"fields": parse_map(RECORDS_MAP)}),
    (sqlite, {"query": "SELECT id AS _id, body AS text FROM notes"}),
]
