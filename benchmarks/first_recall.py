"""From nothing to a first useful recall: a vault of 200 notes and a ChatGPT export of 2,000 messages, three commands.

`python benchmarks/first_recall.py` makes both of the synthetic corpus, in a folder of its own with a store of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from hopgate.demo import corpus

NOTES = 200
MESSAGES = 2000
QUESTION = "when do the nightly backups of borealis run"


def vault(folder: Path, texts: list[str]) -> Path:
    (folder / ".obsidian").mkdir(parents=True)
    for number in range(NOTES):
        lines = texts[number::NOTES][:3]
        after = (number + 1) % NOTES
        text = f"---\ntags: [note{number % 7}]\ncreated: 2024-01-{number % 28 + 1:02d}\n---\n" + "\n".join(lines)
        (folder / f"Note {number}.md").write_text(f"{text}\nSee [[Note {after}]].\n", encoding="utf-8")
    (folder / "Backups.md").write_text("The nightly backups of borealis run at three. #backup\n", encoding="utf-8")
    return folder


def export(path: Path, texts: list[str]) -> Path:
    conversations = []
    for number in range(MESSAGES // 20):
        nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None}}
        parent = "root"
        for turn in range(20):
            key, role = f"{number}-{turn}", ("user", "assistant")[turn % 2]
            said = f"{texts[(20 * number + turn) % len(texts)]} ({number}.{turn})"
            message = {
                "id": key,
                "author": {"role": role},
                "create_time": 1.7e9 + 60 * turn,
                "content": {"parts": [said]},
            }
            nodes[key] = {"id": key, "parent": parent, "message": message}
            parent = key
        conversations.append(
            {"title": f"Chat {number}", "conversation_id": str(number), "current_node": parent, "mapping": nodes}
        )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
    return path


def main() -> None:
    texts = [memory.text for memory in corpus().memories if not memory.is_sensitive]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "HOPGATE_STORE": str(folder / "store"), "HOPGATE_CACHE": str(folder / "cache")}
        whole = 0.0
        for words in (
            ["ingest", str(vault(folder / "vault", texts))],
            ["ingest", str(export(folder / "chatgpt.zip", texts))],
            ["recall", QUESTION, "--k", "3"],
        ):
            begun = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "hopgate", *words],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            seconds = time.perf_counter() - begun
            whole += seconds
            print(f"{seconds:7.1f} s  hopgate {words[0]}: {' | '.join(done.stdout.strip().splitlines()[:3])}")
        first = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["1"])
        print(f"{whole:7.1f} s  together; first is {' '.join(first.split())[:60]}")


if __name__ == "__main__":
    main()
