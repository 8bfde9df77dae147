"""A public BEIR folder: its corpus with fields of its own, its queries, and the splits that it has."""

from __future__ import annotations

from pathlib import Path

from hopgate.corpus import read_corpus, to_record
from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import NewDataset
from hopgate.eval.data.qrels import read_tsv
from hopgate.eval.data.queries import read_queries
from hopgate.eval.data.runs import relevant

# Where a set has no `dev`, its `train` takes that place: a gate tunes on the one and reports the other.
DEV_OF = {"dev": "dev", "validation": "dev", "train": "dev", "test": "test"}


def gather(folder: Path, data: NewDataset) -> None:
    """Add documents, and every query with a relevant document; fields that are not a memory's are kept as extra.

    Parameters
    ----------
    folder : Path
        Holds `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`.
    """
    for name in ("corpus.jsonl", "queries.jsonl", "qrels"):
        if not (folder / name).exists():
            raise HopgateError(f"{folder / name} is missing: give the folder of a BEIR data set")
    for memory in read_corpus(folder / "corpus.jsonl", keep_unknown=True):
        data.corpus[memory.external_id] = to_record(memory)
    queries = read_queries(folder / "queries.jsonl")
    judged = {path.stem: read_tsv(path)[0] for path in sorted((folder / "qrels").glob("*.tsv"))}
    # A set with one split is divided like any other; one with several keeps them.
    used = {
        name: qrels for name, qrels in judged.items() if not (name == "train" and {"dev", "validation"} & set(judged))
    }
    for split, qrels in used.items():
        for query, gold in qrels.items():
            if not relevant(gold):
                continue
            if query not in queries:
                raise HopgateError(f"qrels/{split}.tsv judges the query {query!r}, which queries.jsonl lacks")
            if missing := next((memory for memory in gold if memory not in data.corpus), None):
                raise HopgateError(f"qrels/{split}.tsv judges {missing!r}, which corpus.jsonl lacks")
            data.add(queries[query], gold)
            if len(used) > 1:
                data.split_of[query] = DEV_OF.get(split, split)
    if not data.queries:
        raise HopgateError(f"{folder} holds no query with a relevant document")
