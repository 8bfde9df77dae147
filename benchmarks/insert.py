"""What it costs to remember one thing: `kb.add` and `kb.upkeep.catch_up`, to where the next recall sees it.

python benchmarks/insert.py [--small 5000] [--large 200000] [--inserts 30] [--folder DIR] [--statements]

It is what `hopgate add` does: the memory is stored, read by the two bundled models, extracted from by the rules, its
names are resolved and embedded, its edges derived and embedded. Beside it stand the cost of what the two models make
of its text alone, in the same process, and of the first and the second recall after it. The two stores take turns.
`--folder` keeps the filled stores for the next run.

Asked for: `to_models` at most 4, `large_to_small` at most 1.5, `after_to_next` at most 1.3 for both sizes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from grown_store import World, fill

import hopgate
from hopgate.embed.bundled import BgeSmall
from hopgate.embed.late import BundledLate
from hopgate.embed.texts import TextModels
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared

WARM = 5
FIRST = 10_000_000
"""Numbers of the notes that are inserted: none that is there."""


class Growing:
    """A store of some size that takes one more memory at a time."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.rows, self.world = rows, World()
        there = (folder / "pg").exists()
        self.kb: KnowledgeBase = hopgate.open(folder)
        self.filled = {} if there else fill(self.kb, self.world, rows)
        self.next = FIRST + len(self.kb)
        self.taken: dict[str, list[float]] = defaultdict(list)

    def insert(self, models: TextModels) -> None:
        """Remember one note, and recall it twice."""
        memory = self.world.memory(self.next)
        self.next += 1
        with self._timed("models"):
            models.made([Cleared(self.world.memory(self.next + FIRST).content)])
        with self._timed("remember"):
            self.kb.add(memory)
            done = self.kb.upkeep.catch_up([memory.external_id])
        if (done.embedded, done.linked) != (1, 1):
            raise SystemExit(f"{memory.external_id} was not remembered: {done}")
        query = " ".join(memory.content.split()[:3])
        for name in ("first_recall", "second_recall"):
            with self._timed(name):
                hits = self.kb.recall(query)
            if memory.external_id not in [hit.external_id for hit in hits]:
                raise SystemExit(f"{query!r} does not find {memory.external_id}")

    @contextlib.contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began, busy = time.perf_counter(), time.process_time()
        yield
        self.taken[name].append(time.perf_counter() - began)
        self.taken[f"{name}_cpu"].append(time.process_time() - busy)

    def result(self) -> dict[str, Any]:
        """The figures, without the first inserts, which warm connections and caches."""
        times = {name: sorted(taken[WARM:]) for name, taken in self.taken.items()}
        p50 = {f"{name}_ms": round(1000 * statistics.median(taken), 2) for name, taken in times.items()}
        p95 = {
            f"{name}_p95_ms": round(1000 * taken[int(0.95 * len(taken))], 2)
            for name, taken in times.items()
            if not name.endswith("_cpu")
        }
        return {"memories": self.rows, **self.kb.graph.counts(), **self.filled, **p50, **p95}


class Statements:
    """Counts what is executed, by its text, and how long each takes from here."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count for as long as the block runs."""
        original = psycopg.Cursor.execute

        def execute(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return original(cursor, query, *arguments, **options)
            finally:
                self.seconds[" ".join(str(query).split())[:130]].append(time.perf_counter() - began)

        psycopg.Cursor.execute = execute  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            psycopg.Cursor.execute = original  # type: ignore[method-assign]

    def show(self, inserts: int) -> None:
        """Print the statements, the dearest first."""
        for text, taken in sorted(self.seconds.items(), key=lambda item: -sum(item[1])):
            print(f"{1000 * sum(taken) / inserts:7.2f} ms {len(taken) / inserts:6.1f} ×  {text}")
        print(f"{1000 * sum(map(sum, self.seconds.values())) / inserts:7.2f} ms in all, for one insert")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=5000)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--inserts", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--statements", action="store_true", help="print every statement and its time, by store")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        # The notes of an earlier run were embedded already.
        os.environ["HOPGATE_CACHE"] = temporary
        folder = options.folder or Path(temporary)
        stores = [Growing(folder / str(rows), rows) for rows in (options.small, options.large)]
        counted = [Statements() for _ in stores]
        models = TextModels(BgeSmall(), BundledLate())
        for number in range(options.inserts + WARM):
            for store, statements in zip(stores, counted, strict=True):
                with statements.counting() if options.statements and number >= WARM else contextlib.nullcontext():
                    store.insert(models)
        small, large = (store.result() for store in stores)
        for store in stores:
            store.kb.close()
    result = {
        "small": small,
        "large": large,
        "to_models": round(small["remember_ms"] / small["models_ms"], 2),
        "large_to_small": round(large["remember_ms"] / small["remember_ms"], 2),
        "to_models_cpu": round(small["remember_cpu_ms"] / small["models_cpu_ms"], 2),
        "after_to_next": [round(size["first_recall_ms"] / size["second_recall_ms"], 2) for size in (small, large)],
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(result, indent=1))
    for statements in counted if options.statements else ():
        statements.show(options.inserts)


if __name__ == "__main__":
    main()
