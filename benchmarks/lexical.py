"""The lexical leg's latency by BM25 and by ts_rank, side by side. What counting words costs an ingest is in ingest.py.

python benchmarks/lexical.py [--size 200000] [--queries 100] [--json]

Memories are synthetic: 10 to 50 words of a Zipf vocabulary whose head, which stop words occupy in English, is cut off.
A query has 5 to 15 words, half of them from one memory. The rankers take turns query by query.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters
from hopgate.recall.lexical import RANKERS, LexicalRanker, lexical_leg, query_words
from hopgate.store import memories


class Vocabulary:
    """Words, the top one of which about one memory in ten holds, as the top content words do."""

    def __init__(self, pick: random.Random, size: int = 30_000) -> None:
        sounds = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ai", "ou")]
        made: dict[str, None] = {}
        while len(made) < size:
            made["".join(pick.choices(sounds, k=pick.randint(2, 4))) + pick.choice(["n", "r", "k", "t", ""])] = None
        self._words = list(made)
        self._cumulative = list(accumulate(1 / (rank + 50) for rank in range(size)))

    def say(self, pick: random.Random, count: int) -> list[str]:
        return pick.choices(self._words, cum_weights=self._cumulative, k=count)


def fill(kb: KnowledgeBase, size: int, vocabulary: Vocabulary, pick: random.Random) -> list[list[str]]:
    """Write memories; give back the texts that queries borrow from."""
    samples: list[list[str]] = []
    with (
        kb.store.transaction() as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY memories (external_id, content) FROM STDIN") as copy,
    ):
        for number in range(size):
            words = vocabulary.say(pick, pick.randint(10, 50))
            if number % max(1, size // 1000) == 0:
                samples.append(words)
            copy.write_row((f"m{number}", " ".join(words)))
    with kb.store.transaction() as connection:
        memories.tidy(connection)
    return samples


def latency(size: int, count: int, seed: int = 0) -> dict[str, Any]:
    """Milliseconds of each ranker's leg."""
    pick = random.Random(seed)
    vocabulary = Vocabulary(pick)
    taken: dict[LexicalRanker, list[float]] = {ranker: [] for ranker in RANKERS}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        samples = fill(kb, size, vocabulary, pick)
        for number in range(count + 10):
            length = pick.randint(5, 15)
            borrowed = pick.sample(pick.choice(samples), min(length // 2, 10))
            query = " ".join([*borrowed, *vocabulary.say(pick, length - len(borrowed))])
            for ranker in pick.sample(RANKERS, len(RANKERS)):
                start = time.perf_counter()
                with kb.store.transaction() as connection:
                    lexical_leg(connection, query_words(connection, query, Filters()), Filters(), ranker=ranker)
                if number >= 10:  # the first ten warm up
                    taken[ranker].append(1000 * (time.perf_counter() - start))
    found: dict[str, Any] = {"memories": size, "queries": count}
    for ranker, times in taken.items():
        found[f"{ranker}_p50_ms"] = round(statistics.median(times), 2)
        found[f"{ranker}_p95_ms"] = round(statistics.quantiles(times, n=20)[-1], 2)
    found["bm25_to_ts_rank"] = round(found["bm25_p50_ms"] / found["ts_rank_p50_ms"], 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200_000, help="memories that are searched")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = latency(options.size, options.queries)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['memories']:,} memories, {found['queries']} queries")
    for ranker in RANKERS:
        print(f"  {ranker:8} p50 {found[f'{ranker}_p50_ms']:8.2f} ms   p95 {found[f'{ranker}_p95_ms']:8.2f} ms")
    print(f"  bm25 / ts_rank {found['bm25_to_ts_rank']:.2f}")


if __name__ == "__main__":
    main()
