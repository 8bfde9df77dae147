"""Recall's latency: lexical only, dense only, and fused.

python benchmarks/recall.py [--sizes 5452,200000] [--queries 200] [--json]

Memories are synthetic: words of a Zipf vocabulary whose head, which stop words occupy in English, is cut off, and
vectors around random centres, written directly. The query's vector is given, so its embedding does not count. The
arms take turns query by query. From 50,000 memories on the dense leg uses the HNSW index.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

import hopgate
from hopgate.embed import Identity
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters
from hopgate.recall.recall import recall
from hopgate.recall.run_legs import RecallPipeline
from hopgate.recall.settings import Settings
from hopgate.store import vectors

DIMENSION = 384
CENTRES = 300
ARMS = {
    "lexical": Settings().replaced({"dense": 0, "graph": 0}),
    "dense": Settings().replaced({"lexical": 0, "graph": 0}),
    "fused": Settings().replaced({"graph": 0}),
}
Rows = NDArray[np.float32]


class GivenVector:
    """An embedder whose query's vector is known beforehand."""

    def __init__(self, vector: Rows) -> None:
        self._vector = vector

    def query(self, _text: str, _space: vectors.EmbeddingSpace | None = None) -> Rows:
        return self._vector


class Language:
    """A vocabulary and how often its words are said: the top one by about one memory in ten, as content words are."""

    def __init__(self, pick: random.Random, words: int = 30_000) -> None:
        sounds = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ai", "ou")]
        made: dict[str, None] = {}
        while len(made) < words:
            made["".join(pick.choices(sounds, k=pick.randint(2, 4))) + pick.choice(["n", "r", "k", "t", ""])] = None
        self.words = list(made)
        self._cumulative = np.cumsum([1 / (rank + 50) for rank in range(len(self.words))]).tolist()

    def say(self, pick: random.Random, count: int) -> list[str]:
        return pick.choices(self.words, cum_weights=self._cumulative, k=count)


def around(centres: Rows, count: int, noise: np.random.Generator) -> Rows:
    """Unit vectors near randomly chosen centres."""
    chosen = centres[noise.integers(len(centres), size=count)]
    made = chosen + noise.normal(scale=0.7 / DIMENSION**0.5, size=(count, DIMENSION)).astype(np.float32)
    units: Rows = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return units


def fill(kb: KnowledgeBase, size: int, language: Language, centres: Rows, pick: random.Random) -> list[list[str]]:
    """Write memories and vectors; give back the texts that queries borrow from."""
    noise = np.random.default_rng(size)
    samples: list[list[str]] = []
    with kb.store.transaction() as connection:
        vectors.claim(connection, Identity("synthetic", DIMENSION, spec="synthetic"))
        register_vector(connection)
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY memories (external_id, content, tags, importance, embedding) FROM STDIN WITH (FORMAT BINARY)"
            ) as copy,
        ):
            copy.set_types(["text", "text", "text[]", "float8", "halfvec"])
            for start in range(0, size, 5000):
                rows = around(centres, min(5000, size - start), noise)
                for number, vector in enumerate(rows, start=start):
                    words = language.say(pick, pick.randint(10, 50))
                    if number % max(1, size // 1000) == 0:
                        samples.append(words)
                    copy.write_row(
                        (f"m{number}", " ".join(words), words[:2], round(pick.random(), 2), HalfVector(vector))
                    )
    with kb.store.transaction() as connection:
        connection.execute("SELECT gin_clean_pending_list('memories_search_vector')")
    from hopgate.store import connect

    with connect.connect(kb.store.dsn) as connection:
        connection.autocommit = True
        if size >= vectors.EXACT_BELOW:
            vectors.build_index(connection)
        connection.execute("VACUUM ANALYZE memories")
    return samples


def ask(kb: KnowledgeBase, queries: list[tuple[str, Rows]]) -> dict[str, list[float]]:
    """Milliseconds of each arm for each query."""
    taken: dict[str, list[float]] = {arm: [] for arm in ARMS}
    turns = list(ARMS)
    with ThreadPoolExecutor(4) as workers:
        for number, (text, vector) in enumerate([*queries[:10], *queries]):
            pipeline = RecallPipeline(kb.store, GivenVector(vector), kb.graph_leg, workers)
            random.Random(number).shuffle(turns)
            for arm in turns:
                start = time.perf_counter()
                recall(pipeline, text, ARMS[arm], Filters())
                if number >= 10:  # the first ten warm up
                    taken[arm].append(1000 * (time.perf_counter() - start))
    return taken


def measure(size: int, count: int, seed: int = 0) -> dict[str, Any]:
    pick = random.Random(seed)
    language = Language(pick)
    noise = np.random.default_rng(seed)
    centres = noise.normal(size=(CENTRES, DIMENSION)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        start = time.perf_counter()
        samples = fill(kb, size, language, centres, pick)
        filled = time.perf_counter() - start
        queries = []
        for vector in around(centres, count, noise):
            length = pick.randint(4, 8)
            borrowed = pick.sample(pick.choice(samples), length // 2)
            queries.append((" ".join([*borrowed, *language.say(pick, length - length // 2)]), vector))
        taken = ask(kb, queries)
    found: dict[str, Any] = {"memories": size, "hnsw": size >= vectors.EXACT_BELOW, "filled_s": round(filled, 1)}
    for arm, times in taken.items():
        cuts = statistics.quantiles(times, n=20)
        found[arm] = {"p50_ms": round(statistics.median(times), 2), "p95_ms": round(cuts[-1], 2)}
    slower = max(found["lexical"]["p50_ms"], found["dense"]["p50_ms"])
    found["fused_to_slower_leg"] = round(found["fused"]["p50_ms"] / slower, 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="5452,200000")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [measure(int(size), options.queries) for size in options.sizes.split(",")]
    if options.json:
        worst = max(found["fused_to_slower_leg"] for found in results)
        print(json.dumps({"queries": options.queries, "sizes": results, "fused_to_slower_leg": worst}))
        return
    for found in results:
        print(f"{found['memories']:,} memories{', HNSW' if found['hnsw'] else ''}")
        for arm in ARMS:
            print(f"  {arm:15} p50 {found[arm]['p50_ms']:8.2f} ms   p95 {found[arm]['p95_ms']:8.2f} ms")
        print(f"  fused / slower leg {found['fused_to_slower_leg']:.2f}")


if __name__ == "__main__":
    main()
