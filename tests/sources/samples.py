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


def pdf(*pages: str) -> bytes:
    """A PDF of one line a page."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(count))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {count} >>"]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for at, line in enumerate(pages):
        text = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET"
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * at} 0 R /Resources {font} >>"
        objects += [page, f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
    return f"{out}{head}trailer << /Root 1 0 R /Size {len(places) + 1} >>\nstartxref\n{len(out)}\n%%EOF".encode()


def document(folder: Path) -> Path:
    (folder / "manual.pdf").write_bytes(pdf("The pump weighs 84 kg.", "Call Ada for service."))
    return folder / "manual.pdf"


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
    *((make, {}) for make in (vault, document, text, messages, chatgpt, claude, slack, whatsapp, telegram, mbox)),
    (csv, {"fields": parse_map(CSV_MAP)}),
    (records, {"fields": parse_map(RECORDS_MAP)}),
    (sqlite, {"query": "SELECT id AS _id, body AS text FROM notes"}),
]
