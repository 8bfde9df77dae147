"""What a recall takes, as a user makes it: `kb.recall` by words, by words and meaning, and with the graph.

python benchmarks/recall.py [--sizes 2000,20000,200000] [--queries 100] [--folder DIR]
python benchmarks/recall.py --store DIRECTORY --dataset FOLDER      a store of one's own, a data set's queries

A synthetic store has five facts a memory, and vectors around random centres, so that everything has neighbours; the
query is embedded by the bundled model, which takes what it takes, and a vector of the store's space is used instead.
`--folder` keeps the filled stores for the next run. The arms take turns query by query, after some that warm up.
`three_to_two` is p50 with the graph over p50 of words and meaning, `all_to_two` with late interaction as well;
`after_to_next` a recall right after the graph changed over the next one. The parts are timed in a second pass, in which
every function is wrapped; parts that run beside others are counted in full.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_store import Rows, fill

import hopgate
from hopgate.embed.bundled import BgeSmall
from hopgate.embed.late import BundledLate, QueryTokens
from hopgate.graph.walk import rank
from hopgate.kb import KnowledgeBase
from hopgate.recall import legs
from hopgate.recall import recall as recall_module
from hopgate.recall.graph_leg import GraphLeg
from hopgate.store import fill as fill_module
from hopgate.store import vectors
from hopgate.store.graph import graph_vectors, version
from hopgate.store.store import Store

ARMS: dict[str, tuple[str, ...]] = {
    "lexical": ("lexical",),
    "two": ("lexical", "dense"),
    "three": ("lexical", "dense", "graph"),
    "all": ("lexical", "dense", "late", "graph"),
}
WARM_UP = 10
LATE = BundledLate()


class GivenVectors(fill_module.Embedding):
    """In the place of a store's embedding: the bundled model embeds the query, and a given vector is used."""

    def __init__(self, store: Store, given: dict[str, Rows]) -> None:
        super().__init__(store)
        self._given = given
        self._model = BgeSmall()

    def query(self, text: str, _space: vectors.EmbeddingSpace | None = None) -> Rows:
        """Take as long as a query takes."""
        self._model.queries([text])
        return self._given[text]

    def load(self, _space: vectors.EmbeddingSpace) -> None:
        """Load the bundled model, not what the store names."""
        self.loaded = True
        self._model.load()

    def query_tokens(self, text: str, _space: vectors.EmbeddingSpace) -> QueryTokens:
        """Give the tokens that the bundled model makes; those of the memories are made up."""
        return LATE.query_tokens(text)


# Where the function is looked up, its name there, and the part that it is.
PARTS: tuple[tuple[Any, str, str], ...] = (
    (fill_module.Embedding, "query", "embed"),
    (GivenVectors, "query", "embed"),
    (legs, "_run_lexical", "lexical"),
    (legs, "dense_leg", "dense"),
    (legs, "complete", "completion"),
    (GraphLeg, "look_up", "look up (matrix, names, facts)"),
    (graph_vectors, "near_facts", "facts"),
    (rank, "ranked", "walk and rank"),
    (GivenVectors, "query_tokens", "the query's tokens"),
    (legs, "tokens_of", "tokens"),
    (legs, "late_reading", "late interaction"),
    (recall_module, "read_outdated", "what is over"),
    (recall_module, "fused", "fuse"),
    (recall_module, "_final", "order and fetch"),
)


def ask(recall: Callable[..., Any], queries: Sequence[str]) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of each arm for each query: by the clock, and of this process's processor."""
    taken: dict[str, list[tuple[float, float]]] = {arm: [] for arm in ARMS}
    turns = list(ARMS)
    for number, text in enumerate([*queries[:WARM_UP], *queries]):
        random.Random(number).shuffle(turns)
        for arm in turns:
            start, busy = time.perf_counter(), time.process_time()
            recall(text, legs=ARMS[arm])
            if number >= WARM_UP:
                taken[arm].append((1000 * (time.perf_counter() - start), 1000 * (time.process_time() - busy)))
    return taken


def ask_parts(recall: Callable[..., Any], queries: Sequence[str]) -> dict[str, float]:
    """The median milliseconds of each part of a recall with all legs."""
    spent: dict[str, list[float]] = defaultdict(list)
    with contextlib.ExitStack() as stack:
        for owner, name, part in PARTS:
            stack.enter_context(_wrapped(owner, name, part, spent))
        for text in queries:
            mark = {part: len(times) for part, times in spent.items()}
            recall(text, legs=ARMS["all"])
            for part, times in spent.items():
                # What runs twice, as completion does, counts as one part.
                begun = mark.get(part, 0)
                times[begun:] = [sum(times[begun:])] if len(times) > begun else []
    return {part: round(statistics.median(times), 2) for part, times in spent.items() if times}


@contextlib.contextmanager
def _wrapped(owner: Any, name: str, part: str, spent: dict[str, list[float]]) -> Iterator[None]:
    real, lock = getattr(owner, name), threading.Lock()

    def timed(*given: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return real(*given, **options)
        finally:
            with lock:
                spent[part].append(1000 * (time.perf_counter() - start))

    setattr(owner, name, timed)
    try:
        yield
    finally:
        setattr(owner, name, real)


def figures(kb: KnowledgeBase, queries: Sequence[str]) -> dict[str, Any]:
    """Ask, and put together what came out."""
    taken = ask(kb.recall, queries)
    counts = kb.graph.counts()
    found: dict[str, Any] = {"memories": len(kb), "concepts": counts["concepts"], "facts": counts["edges"]}
    for arm, times in taken.items():
        wall = [one for one, _ in times]
        found[arm] = {
            "p50_ms": round(statistics.median(wall), 2),
            "p95_ms": round(statistics.quantiles(wall, n=20)[-1], 2),
            "cpu_ms": round(statistics.median(busy for _, busy in times), 2),
        }
    for arm in ("three", "all"):
        found[f"{arm}_to_two"] = round(found[arm]["p50_ms"] / found["two"]["p50_ms"], 3)
        found[f"{arm}_p95_to_p50"] = round(found[arm]["p95_ms"] / found[arm]["p50_ms"], 3)
    found["parts_ms"] = ask_parts(kb.recall, queries)
    found["load"] = round(os.getloadavg()[0], 2)
    return found


def after_a_change(kb: KnowledgeBase, queries: Sequence[str]) -> float:
    """How long a recall takes right after the graph changed, over the next one: the median of the ratios."""
    ratios, there = [], len(kb)
    for number, text in enumerate(queries):
        with kb.store.transaction() as connection:
            connection.execute(
                "WITH made AS (INSERT INTO memories (external_id, content) VALUES (%(name)s, %(name)s) RETURNING id) "
                "INSERT INTO memory_concepts (memory_id, concept_id) SELECT made.id, c.id FROM made, "
                "(SELECT id FROM concepts ORDER BY id LIMIT 5 OFFSET %(number)s) AS c",
                {"name": f"new {there + number}", "number": number},
            )
            version.bump(connection)
        taken = []
        for _ in range(2):
            start = time.perf_counter()
            kb.recall(text, legs=ARMS["three"])
            taken.append(time.perf_counter() - start)
        ratios.append(taken[0] / taken[1])
    return round(statistics.median(ratios[1:]), 3)


def synthetic(size: int, count: int, dimension: int, folder: Path) -> dict[str, Any]:
    """Fill a store of so many memories where there is none yet, and ask it."""
    store, asked = folder / f"{size}-{dimension}", folder / f"{size}-{dimension}.npz"
    with hopgate.open(store) as kb:
        start = time.perf_counter()
        if not asked.exists():
            made = fill(kb, size, dimension=dimension, queries=count)
            np.savez(asked, texts=np.array(list(made)), vectors=np.array(list(made.values())))
        filled = time.perf_counter() - start
        with np.load(asked) as kept:
            queries = dict(zip(kept["texts"].tolist()[:count], kept["vectors"], strict=False))
        kb._pipeline = legs.RecallPipeline(kb.store, GivenVectors(kb.store, queries), kb.graph_leg, kb._workers)
        found = figures(kb, list(queries))
        after = after_a_change(kb, list(queries)[:20])
        return {**found, "after_to_next": after, "dimension": dimension, "filled_s": round(filled, 1)}


def of_store(store: Path, dataset: Path, count: int) -> dict[str, Any]:
    """Ask a store a data set's queries."""
    from hopgate.eval.data.dataset import read_dataset

    texts = [query.text for query in read_dataset(dataset).queries.values()]
    with hopgate.open(store) as kb:
        return figures(kb, texts[:count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2000,20000")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--dataset", type=Path)
    options = parser.parse_args()
    if options.store:
        results = [of_store(options.store, options.dataset, options.queries)]
    else:
        sizes = [int(size) for size in options.sizes.split(",")]
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.folder or Path(temporary)
            results = [synthetic(size, options.queries, options.dimension, folder) for size in sizes]
    ratios = {
        name: {str(found["memories"]): found[name] for found in results} for name in ("three_to_two", "all_to_two")
    }
    print(json.dumps({"queries": options.queries, "sizes": results, **ratios}, indent=1))


if __name__ == "__main__":
    main()
