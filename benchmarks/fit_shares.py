"""Fit how much each walk counts for a query: `src/hopgate/graph/walk/shares.json` from the dev splits of data sets.

For every data set a store is built with its triples (where it has them) and without a model, whole and half, and asked
on the true graph and on a shuffled one. What a query's walks give its relevant memories decides: a mixture of walks,
its shares a multinomial logistic regression on what is known before the answer, fitted by EM. Test splits are not read.

    python benchmarks/fit_shares.py DATASET [DATASET ...] --out shares.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import hopgate
from hopgate.eval.controls import shuffled
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.evidence import CONCEPTS
from hopgate.extract.extraction import Extractor
from hopgate.extract.files import Replay
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.walk.rank import bundled_model
from hopgate.kb import KnowledgeBase
from hopgate.recall.graph_leg import GraphLeg, GraphRanking
from hopgate.recall.settings import Settings
from hopgate.store import memories

PENALTY = 0.003
POWER, LEAST = 0.5, 1e-4
ROUNDS, CLIP = 60, 3.0


class Asked(NamedTuple):
    """One query on one graph: its features, which walks started, and what each gives the relevant memories."""

    features: list[float]
    started: NDArray[np.float64]
    relevant: NDArray[np.float64]


class Watched(GraphLeg):
    """A graph leg that keeps its last ranking."""

    last: GraphRanking | None = None

    def rank(self, *given: Any, **options: Any) -> GraphRanking:
        """Rank as the leg does."""
        self.last = super().rank(*given, **options)
        return self.last


def graphs(dataset: Dataset, seed: int) -> Iterator[tuple[KnowledgeBase, str]]:
    """Stores of a data set: with its triples and without, whole and half."""
    rng = np.random.default_rng(seed)
    names = [memory.external_id for memory in dataset.memories]
    half = [names[at] for at in rng.permutation(len(names))[: len(names) // 2]]
    triples = str(dataset.folder / "triples.jsonl")
    extractors: dict[str, Extractor] = {"rules": Phrases()}
    if dataset.triples:
        extractors["triples"] = Replay(triples, set(names))
    for name, extractor in extractors.items():
        for part, only in (("whole", None), ("half", half)):
            with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
                kb.add(*dataset.memories)
                kb.embed()
                kb.build(extractor, only=only, embed_concepts=False)
                yield kb, f"{dataset.name} {name} {part}"


def ask(kb: KnowledgeBase, dataset: Dataset, features: Sequence[str], shuffle: int | None) -> list[Asked]:
    """Ask a store every dev query."""
    kb.keep_queries()
    over = None if shuffle is None else partial(shuffled, part=CONCEPTS, seed=shuffle)
    leg = Watched(kb.store, kb.graph_leg.walk, over=over)
    asked = []
    for name, judged in dataset.split("dev").items():
        query = dataset.queries[name]
        kb.legs(query.text, settings=Settings(), scope=query.scope, exact=True, graphs={"asked": leg})
        trace = leg.last.trace if leg.last else None
        if trace is None or trace.walks is None:
            continue
        with kb.store.transaction() as connection:
            ids = memories.ids_of(connection, [key for key, grade in judged.items() if grade > 0])
        places = trace.matrix.memories(ids)
        found = np.where(places[:, None] >= 0, trace.walks[np.maximum(places, 0)], 0.0)
        known = trace.mixture.known
        asked.append(Asked([known.get(one, np.nan) for one in features], trace.walks.any(axis=0).astype(float), found))
    return asked


def fit(parts: list[list[Asked]], features: Sequence[str]) -> dict[str, Any]:
    """Fit the regression, every graph with the same weight."""
    tables = [np.array([one.features for one in part]) for part in parts]
    mean = np.mean([np.nanmean(table, axis=0) for table in tables], axis=0)
    variance = np.mean([np.nanvar(table, axis=0) + (np.nanmean(table, axis=0) - mean) ** 2 for table in tables], axis=0)
    scale = np.sqrt(variance) + 1e-9
    rows, started, gives, weight = [], [], [], []
    for part, table in zip(parts, tables, strict=True):
        z = np.clip((np.where(np.isnan(table), mean, table) - mean) / scale, -CLIP, CLIP)
        for one, row in zip(part, z, strict=True):
            for relevant in one.relevant:
                rows.append(row)
                started.append(one.started)
                gives.append(relevant**POWER + LEAST)
                weight.append(1 / len(part) / len(parts) / len(one.relevant))
    x, used, given, weights = map(np.array, (rows, started, gives, weight))
    shares = used / used.sum(axis=1, keepdims=True)
    model = LogisticRegression(C=1 / (2 * PENALTY), max_iter=300, tol=1e-6, warm_start=True)
    for _ in range(ROUNDS):
        explains = shares * given  # which walk explains this relevant memory
        explains /= explains.sum(axis=1, keepdims=True)
        each = (explains * weights[:, None]).T.ravel()
        keep = each > 1e-12
        model.fit(np.tile(x, (3, 1))[keep], np.repeat(np.arange(3), len(x))[keep], sample_weight=each[keep])
        shares = model.predict_proba(x) * used
        shares /= shares.sum(axis=1, keepdims=True)
    rounded = {"mean": mean, "scale": scale, "intercept": model.intercept_, "weights": model.coef_}
    values = {name: np.round(value, 5).tolist() for name, value in rounded.items()}
    return {"features": list(features), "words": bundled_model().words, "clip": CLIP, **values}


def main() -> None:
    """Read the data sets, fit, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    features = bundled_model().features
    parts = []
    for folder in options.datasets:
        dataset = read_dataset(folder)
        for kb, name in graphs(dataset, options.seed):
            for shuffle in (None, options.seed):
                part = ask(kb, dataset, features, shuffle)
                print(f"{name}{'' if shuffle is None else ' shuffled'}: {len(part)} queries", flush=True)
                parts += [part] if part else []
    options.out.write_text(json.dumps(fit(parts, features), indent=1) + "\n")


if __name__ == "__main__":
    main()
