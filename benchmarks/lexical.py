"""BM25 against ts_rank, side by side, and what counting words costs an ingest against a bare COPY.

python benchmarks/lexical.py [--size 200000] [--queries 100] [--rows 100000] [--json]

Memories are synthetic, of 10 to 50 words of a Zipf vocabulary (see recall.py); a query has 5 to 15 words, half of them
from one memory. The rankers take turns query by query. The bare COPY writes the same rows into the same table with the
same indexes, once with the triggers that count words and once without any.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest import COLUMNS, write_corpus
from recall import Language

import hopgate
from hopgate.corpus import read_corpus
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters
from hopgate.recall.legs.lexical import RANKERS, lexical_leg
from hopgate.store import memories


def fill(kb: KnowledgeBase, size: int, language: Language, pick: random.Random) -> list[list[str]]:
    """Write memories; give back the texts that queries borrow from."""
    samples: list[list[str]] = []
    with (
        kb.store.transaction() as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY memories (external_id, content) FROM STDIN") as copy,
    ):
        for number in range(size):
            words = language.say(pick, pick.randint(10, 50))
            if number % max(1, size // 1000) == 0:
                samples.append(words)
            copy.write_row((f"m{number}", " ".join(words)))
    with kb.store.transaction() as connection:
        memories.tidy(connection)
    return samples


def latency(size: int, count: int, seed: int = 0) -> dict[str, Any]:
    """Milliseconds of each ranker's leg."""
    pick = random.Random(seed)
    language = Language(pick)
    taken: dict[str, list[float]] = {ranker: [] for ranker in RANKERS}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        samples = fill(kb, size, language, pick)
        for number in range(count + 10):
            length = pick.randint(5, 15)
            borrowed = pick.sample(pick.choice(samples), min(length // 2, 10))
            query = " ".join([*borrowed, *language.say(pick, length - len(borrowed))])
            for ranker in pick.sample(RANKERS, len(RANKERS)):
                start = time.perf_counter()
                with kb.store.transaction() as connection:
                    lexical_leg(connection, query, Filters(), ranker=ranker)
                if number >= 10:  # the first ten warm up
                    taken[ranker].append(1000 * (time.perf_counter() - start))
    found: dict[str, Any] = {"memories": size, "queries": count}
    for ranker, times in taken.items():
        found[f"{ranker}_p50_ms"] = round(statistics.median(times), 2)
        found[f"{ranker}_p95_ms"] = round(statistics.quantiles(times, n=20)[-1], 2)
    found["bm25_to_ts_rank"] = round(found["bm25_p50_ms"] / found["ts_rank_p50_ms"], 3)
    return found


def ingest(rows: int) -> dict[str, Any]:
    """Seconds of an ingest, of a bare COPY, and of one without the triggers."""
    timings: dict[str, list[float]] = {"copy_uncounted": [], "copy": [], "ingest": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        write_corpus(path, rows)
        given = [memories._row(memory, datetime.now(UTC)) for memory in read_corpus(path)]
        with hopgate.open(Path(folder) / "store") as kb:
            kb.ingest(path, limit=1000)
            for _ in range(2):
                for name, taken in timings.items():
                    counted = "DISABLE" if name == "copy_uncounted" else "ENABLE"
                    with kb.store.transaction() as connection:
                        connection.execute(f"ALTER TABLE memories {counted} TRIGGER USER")
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
                            for row in given:
                                copy.write_row(row)
                    taken.append(time.perf_counter() - start)
    best = {name: min(taken) for name, taken in timings.items()}
    return {
        "rows": rows,
        **{f"{name}_s": round(seconds, 2) for name, seconds in best.items()},
        "ingest_to_copy": round(best["ingest"] / best["copy"], 3),
        "ingest_to_copy_uncounted": round(best["ingest"] / best["copy_uncounted"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200_000, help="memories that are searched")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000, help="memories that are ingested")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {"latency": latency(options.size, options.queries), "ingest": ingest(options.rows)}
    if options.json:
        print(json.dumps(found))
        return
    searched, written = found["latency"], found["ingest"]
    print(f"{searched['memories']:,} memories, {searched['queries']} queries")
    for ranker in RANKERS:
        print(f"  {ranker:8} p50 {searched[f'{ranker}_p50_ms']:8.2f} ms   p95 {searched[f'{ranker}_p95_ms']:8.2f} ms")
    print(f"  bm25 / ts_rank {searched['bm25_to_ts_rank']:.2f}")
    print(
        f"{written['rows']:,} rows: ingest {written['ingest_s']} s, bare COPY {written['copy_s']} s "
        f"({written['copy_uncounted_s']} s without counting)"
    )


if __name__ == "__main__":
    main()
