"""What a cross-encoder gains and what it costs, through `kb.recall`: recall@5/@10/@20 and the median cost of a query.

python benchmarks/rerank.py DATASET [--queries 100] [--timed 15] [--store DIRECTORY] [--json]

A random `--queries` of dev and of test each, every query in its scope, on a store with the no-model graph; `--store`
keeps it for the next run. A pair's score depends on nothing else, so that the arms share what was read; what an arm
costs is measured on `--timed` queries on their own, with nothing shared.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hopgate
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.measures import Recall
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.recall.rerank import CrossEncoder, load_reranker

BASE = {"legs": ("lexical", "dense")}
WALK = "fuse > rerank > walk"
ARMS: dict[str, dict[str, Any]] = {
    "base": BASE,
    "base > rerank(60)": {**BASE, "rerank": True, "rerank_depth": 60, "stages": "fuse > rerank"},
    "base > rerank(30)": {**BASE, "rerank": True, "rerank_depth": 30, "stages": "fuse > rerank"},
    "base > rerank(20)": {**BASE, "rerank": True, "rerank_depth": 20, "stages": "fuse > rerank"},
    "graph": {},
    "graph > rerank(20)": {"rerank": True, "rerank_depth": 20, "stages": "fuse > rerank"},
    "graph > rerank(20) > walk": {"rerank": True, "rerank_depth": 20, "stages": WALK},
    "graph > rerank(30) > walk": {"rerank": True, "rerank_depth": 30, "stages": WALK},
}
MEASURES = (Recall(5), Recall(10), Recall(20))
ENOUGH_S = 600.0


class Remembering:
    """A cross-encoder that reads no pair twice."""

    def __init__(self, encoder: CrossEncoder) -> None:
        self.encoder = encoder
        self._known: dict[tuple[str, str], float] = {}

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        new = [at for at, text in enumerate(texts) if (query, text) not in self._known]
        for place, score in self.encoder.score(query, [texts[at] for at in new]):
            self._known[query, texts[new[place]]] = score
        yield from ((at, self._known[query, text]) for at, text in enumerate(texts))


def filled(kb: KnowledgeBase, dataset: Dataset) -> None:
    """Ingest, embed and build, where the store does not hold the data set already."""
    if len(kb) != len(dataset.memories):
        kb.add(*dataset.memories)
        kb.embed()
        kb.build("phrases")
    kb.keep_queries()


def measure(kb: KnowledgeBase, dataset: Dataset, splits: dict[str, list[str]], timed: int) -> list[dict[str, Any]]:
    reranker = load_reranker()
    plain = reranker.encoder
    remembering = Remembering(plain)
    rows = []
    for arm, options in ARMS.items():
        row: dict[str, Any] = {"arm": arm}
        reranker.encoder = remembering
        for split, queries in splits.items():
            gold = {query: dataset.split(split)[query] for query in queries}
            lists = {query: recall(kb, dataset, query, options) for query in queries}
            for wanted in MEASURES:
                values = [wanted.score([hit.external_id for hit in lists[query]], gold[query]) for query in queries]
                row[f"{split}_{wanted!r}"] = round(statistics.fmean(values), 4)
        reranker.encoder = plain
        costs, seconds = [], []
        for query in [query for queries in splits.values() for query in queries][:timed] if "rerank" in options else []:
            start = time.process_time()
            cost = recall(kb, dataset, query, options)[0].rerank_cost
            seconds.append(time.process_time() - start)
            assert cost is not None
            costs.append(cost)
        row["pairs"] = statistics.median(cost.pairs for cost in costs) if costs else 0
        row["rerank_ms"] = round(statistics.median(cost.milliseconds for cost in costs), 1) if costs else 0.0
        # On a busy machine the time that passes says little; this, divided by the cores, is what a free one takes.
        row["cpu_ms"] = round(1000 * statistics.median(seconds), 1) if seconds else 0.0
        rows.append(row)
    return rows


def recall(kb: KnowledgeBase, dataset: Dataset, query: str, options: dict[str, Any]) -> list[hopgate.Hit]:
    asked = dataset.queries[query]
    return kb.recall(asked.text, scope=asked.scope, k=20, exact=True, rerank_timeout=ENOUGH_S, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--timed", type=int, default=15)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    dataset = read_dataset(options.dataset)
    pick = random.Random(12)
    splits = {
        split: pick.sample(sorted(dataset.split(split)), min(options.queries, len(dataset.split(split))))
        for split in ("dev", "test")
    }
    with ExitStack() as stack:
        store = options.store or stack.enter_context(tempfile.TemporaryDirectory())
        kb = stack.enter_context(hopgate.open(store))
        filled(kb, dataset)
        rows = measure(kb, dataset, splits, options.timed)
        default = repr(kb.settings().fuser)
    if options.json:
        print(json.dumps({"dataset": dataset.name, "queries": options.queries, "fuser": default, "arms": rows}))
        return
    print(f"{dataset.name}, {default}, recall@5/@10/@20 on {options.queries} dev | {options.queries} test queries")
    for row in rows:
        figures = " | ".join("/".join(f"{row[f'{split}_{m!r}']:.3f}" for m in MEASURES) for split in splits)
        cost = f"{row['pairs']:4} pairs {row['rerank_ms']:7.1f} ms ({row['cpu_ms']:.0f} ms CPU)"
        print(f"{row['arm']:28} {figures} {cost}")


if __name__ == "__main__":
    main()
