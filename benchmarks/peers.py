"""HippoRAG 2's own code on the same triples and the same embedder: its run, for `hopgate gate --runs`.

    pip install --target PEER --no-deps hipporag==2.0.0a4 pyarrow
    PYTHONPATH=PEER python benchmarks/peers.py DATASET --out peer.trec

The index, the synonym edges, the choice of facts and the walk are theirs, at their defaults. Three parts are replaced:
the language model that extracts triples (the data set's `triples.jsonl` is handed in), the one that filters facts
(every fact passes, as in their ablation without recognition memory), and the embedder (hopgate's, so that both sides
see the same vectors). Packages that only those parts need are stood in for by empty modules.

A query is asked in its own scope: each scope is an index of its own, as theirs knows no filters.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import json
import sys
import tempfile
import types
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

from hopgate.embed.cache import EmbeddingCache
from hopgate.embed.embedder import embedder_from
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.data.runs import write_run
from hopgate.eval.measures import Recall
from hopgate.memory import Cleared

# Imported by the parts that are replaced, and by nothing else.
STOOD_IN = ("openai", "litellm", "boto3", "botocore", "tenacity", "vllm", "gritlm")
DEPTH = 50


class StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds an empty module for the packages that are not needed and not installed."""

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Give a module for a package that is stood in for, or for a part of one."""
        stood_in = name.partition(".")[0] in STOOD_IN
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if stood_in else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Make a module whose every name exists."""
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Run nothing."""


class SharedEmbedder:
    """Gives HippoRAG hopgate's vectors: a text with an instruction is a query, all others are documents."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._embedder = embedder_from("bge-small")
        self._embedder.cache, self._embedder.keep_queries = EmbeddingCache.default(), True

    def batch_encode(self, texts: str | Sequence[str], instruction: str = "", **_: Any) -> np.ndarray:
        """Embed as HippoRAG asks for it: rows of unit length."""
        given = [texts] if isinstance(texts, str) else list(texts)
        if instruction:
            return self._embedder.queries(given)
        return self._embedder.documents([Cleared(text) for text in given])


def peer(folder: Path, triples: Mapping[str, list[list[str]]]) -> Any:
    """Make a HippoRAG 2 that extracts the given triples (by text) and lets every fact pass."""
    from hipporag import HippoRAG
    from hipporag.utils.config_utils import BaseConfig
    from hipporag.utils.misc_utils import NerRawOutput, TripleRawOutput

    module: Any = sys.modules[HippoRAG.__module__]

    class Extracted:
        """What the data set's triples say, in the form of their extraction."""

        def __init__(self, **_: Any) -> None:
            pass

        def batch_openie(self, chunks: Mapping[str, Mapping[str, str]]) -> tuple[dict[str, Any], dict[str, Any]]:
            names, facts = {}, {}
            for key, chunk in chunks.items():
                found = triples.get(chunk["content"], [])
                entities = sorted({name for subject, _, thing in found for name in (subject, thing)})
                names[key] = NerRawOutput(chunk_id=key, response="", unique_entities=entities, metadata={})
                facts[key] = TripleRawOutput(chunk_id=key, response="", triples=found, metadata={})
            return names, facts

    module._get_llm_class = MagicMock()
    module._get_embedding_model_class = lambda **_: SharedEmbedder
    module.OpenIE = Extracted
    module.DSPyFilter = lambda _: let_pass
    return HippoRAG(BaseConfig(save_dir=str(folder), embedding_model_name="shared", llm_name="none"))


def let_pass(_: str, facts: list[Any], places: list[int], len_after_rerank: int) -> tuple[list[int], list[Any], Any]:
    """Filter no fact: those nearest to the query are taken as they come."""
    return places[:len_after_rerank], facts[:len_after_rerank], {}


def run_peer(dataset: Dataset) -> dict[str, list[tuple[str, float]]]:
    """Index each scope and ask its queries; a run of HippoRAG 2 over the data set."""
    extracted: dict[str, list[list[str]]] = defaultdict(list)
    for triple in dataset.triples:
        if triple.is_fact and triple.doc_id in dataset.texts:
            extracted[dataset.texts[triple.doc_id]].append([triple.subject, triple.relation, triple.object])
    scopes = {query.scope for query in dataset.queries.values()}
    run: dict[str, list[tuple[str, float]]] = {}
    for scope in sorted(scopes, key=str):
        ids: dict[str, list[str]] = defaultdict(list)
        for memory in dataset.memories:
            if (scope is None or memory.scope == scope) and memory.external_id in dataset.texts:
                ids[dataset.texts[memory.external_id]].append(memory.external_id)
        asked = {key: query.text for key, query in dataset.queries.items() if query.scope == scope}
        with tempfile.TemporaryDirectory() as folder:
            hippo = peer(Path(folder), extracted)
            hippo.index(list(ids))
            solutions = hippo.retrieve(list(asked.values()), num_to_retrieve=DEPTH)
        for key, solution in zip(asked, solutions, strict=True):
            # Two memories of one text are one passage to HippoRAG: both are given, at its score.
            pairs = zip(solution.docs, solution.doc_scores, strict=True)
            run[key] = [(id, float(score)) for text, score in pairs for id in ids[text]]
    return run


def main() -> None:
    """Write the run, and print what it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the run, in TREC's format")
    arguments = parser.parse_args()
    sys.meta_path.append(StandIn())
    dataset = read_dataset(arguments.dataset)
    run = {
        query: [memory for memory, _ in sorted(hits, key=lambda hit: (-hit[1], hit[0]))]
        for query, hits in run_peer(dataset).items()
    }
    write_run(arguments.out, run, tag="hipporag-2.0.0a4")
    figures = {split: _recall(run, dataset, split) for split in dataset.splits}
    print(json.dumps({"dataset": dataset.name, "peer": "hipporag 2.0.0a4", **figures}, indent=1))


def _recall(run: Mapping[str, Sequence[str]], dataset: Dataset, split: str) -> dict[str, float]:
    qrels = dataset.split(split)
    return {
        repr(measure): float(np.mean([measure.score(run[query], gold) for query, gold in qrels.items()]))
        for measure in (Recall(k=5), Recall(k=10))
    }


if __name__ == "__main__":
    main()
