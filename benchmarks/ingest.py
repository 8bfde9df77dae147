"""Ingest against a bare COPY of the same rows into the same table with the same indexes, in one run.

The COPY once with the triggers that count words for BM25, and once without any trigger.

python benchmarks/ingest.py [--rows 100000] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import hopgate
from hopgate.corpus import read_corpus
from hopgate.memory import Memory

COLUMNS = "external_id, content, title_length, tags, category, importance, created_at"


def write_corpus(path: Path, rows: int, seed: int = 0) -> None:
    """Write memories of 8 to 60 words, Zipf-distributed, so that the index sees common and rare lexemes."""
    pick = random.Random(seed)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "io", "ou") for c in ("rk", "nd", "l", "x")]
    vocabulary += [f"{word}{n}" for word in vocabulary for n in range(40)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    with path.open("w") as out:
        for number in range(rows):
            words = pick.choices(vocabulary, weights, k=pick.randint(8, 60))
            record = {
                "_id": f"m{number}",
                "title": " ".join(words[:3]),
                "text": " ".join(words[3:]),
                "metadata": {
                    "tags": words[:2],
                    "category": pick.choice(["home", "work"]),
                    "importance": round(pick.random(), 2),
                    "created_at": f"2025-{pick.randint(1, 12):02}-{pick.randint(1, 28):02}T10:00:00+00:00",
                },
            }
            out.write(json.dumps(record) + "\n")


def values_of(memory: Memory) -> tuple[Any, ...]:
    """A memory's values of `COLUMNS`."""
    length = len(memory.title)
    return (
        memory.external_id, memory.content, length, list(memory.tags), memory.category, memory.importance,
        memory.created_at,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        write_corpus(path, options.rows)
        rows = [values_of(memory) for memory in read_corpus(path)]
        with hopgate.open(Path(folder) / "store") as kb:
            # Warm up both ways: the server's first COPY pays for files and catalogues.
            kb.ingest(path, limit=1000)
            timings: dict[str, list[float]] = {"copy_uncounted": [], "copy": [], "ingest": []}
            for _ in range(2):
                for name, taken in timings.items():
                    counting = "DISABLE" if name == "copy_uncounted" else "ENABLE"
                    with kb.store.transaction() as connection:
                        connection.execute(f"ALTER TABLE memories {counting} TRIGGER USER")
                        connection.execute("TRUNCATE memories CASCADE")
                    start = time.perf_counter()
                    if name == "ingest":
                        kb.ingest(path)
                    else:
                        with (
                            kb.store.transaction() as connection,
                            connection.cursor() as cursor,
                            cursor.copy(f"COPY memories ({COLUMNS}) FROM STDIN") as copy,
                        ):
                            for row in rows:
                                copy.write_row(row)
                    taken.append(time.perf_counter() - start)
    copy_s, ingest_s, uncounted_s = (min(timings[name]) for name in ("copy", "ingest", "copy_uncounted"))
    result = {
        "rows": options.rows,
        "copy_uncounted_s": round(uncounted_s, 2),
        "copy_s": round(copy_s, 2),
        "ingest_s": round(ingest_s, 2),
        "rows_per_s": round(options.rows / ingest_s),
        "ratio_to_copy": round(ingest_s / copy_s, 3),
        "ratio_to_copy_uncounted": round(ingest_s / uncounted_s, 3),
    }
    if options.json:
        print(json.dumps(result))
    else:
        print(
            f"{options.rows:,} memories: ingest {ingest_s:.1f} s, bare COPY {copy_s:.1f} s, "
            f"ratio {ingest_s / copy_s:.2f} ({ingest_s / uncounted_s:.2f} to a COPY that counts no words)"
        )


if __name__ == "__main__":
    main()
