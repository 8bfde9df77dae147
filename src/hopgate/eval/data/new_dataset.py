"""A data set in the making: documents, queries and gold, and how they become a BEIR folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.data.qrels import write_tsv
from hopgate.eval.data.queries import Query
from hopgate.eval.data.runs import relevant


@dataclass
class NewDataset:
    """Rows of `corpus.jsonl`, `queries.jsonl` and `triples.jsonl`, and the gold of each query, as they are found.

    Examples
    --------
    >>> data = NewDataset()
    >>> data.query("q1", "Where is it?", [data.document("NAS", "It is in the cellar.")])
    >>> data.gold, data.queries["q1"]["metadata"]
    ({'q1': {'d000000': 1}}, {'hops': 1})
    """

    corpus: dict[str, dict[str, Any]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    gold: dict[str, dict[str, int]] = field(default_factory=dict)
    triples: list[dict[str, Any]] = field(default_factory=list)
    split_of: dict[str, str] = field(default_factory=dict)  # of queries whose split the source gives
    _by_content: dict[tuple[str, str], str] = field(default_factory=dict)

    def document(self, title: str, text: str) -> str:
        """Give the id of a document, adding it when it is new."""
        key = (title, " ".join(text.split()))
        if key not in self._by_content:
            name = f"d{len(self._by_content):06d}"
            self._by_content[key] = name
            self.corpus[name] = {"_id": name, "title": title, "text": text}
        return self._by_content[key]

    def find(self, title: str, text: str) -> str | None:
        """Give the id of a document that is there already."""
        return self._by_content.get((title, " ".join(text.split())))

    def query(self, name: str, text: str, gold: Iterable[str], **metadata: Any) -> None:
        """Add a query with the ids of its gold documents; without `hops` it has as many hops as documents."""
        documents = dict.fromkeys(gold, 1)
        known = {key: value for key, value in {"hops": len(documents), **metadata}.items() if value not in (None, "")}
        self.add(Query(name, text, known), documents)

    def add(self, query: Query, gold: Mapping[str, int]) -> None:
        """Add a query with the grades of its documents; one without a relevant document is refused."""
        if query.id in self.queries:
            raise HopgateError(f"the question {query.id!r} stands twice in the source")
        if not relevant(gold):
            raise HopgateError(f"the question {query.id!r} has no supporting document in the source")
        self.queries[query.id] = {"_id": query.id, "text": query.text, "metadata": dict(query.metadata)}
        self.gold[query.id] = dict(gold)


def in_dev(query: str, share: float) -> bool:
    """Put a query into dev or test by its id alone: the same in every run, whatever else is in the file.

    Examples
    --------
    >>> in_dev("2hop__1_2", 0.0), in_dev("2hop__1_2", 1.0)
    (False, True)
    """
    return int.from_bytes(hashlib.sha256(query.encode()).digest()[:8]) / 2**64 < share


def write_dataset(out: Path, data: NewDataset, dev: float) -> Dataset:
    """Write a new folder with corpus, queries, the splits `dev` and `test`, and triples where there are some.

    It is read back with every check; what does not pass them is removed again, so that nothing half made stays.
    """
    if not 0 <= dev <= 1:
        raise HopgateError(f"the share of development queries must be between 0 and 1, not {dev:g}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HopgateError(f"{out} is not empty: give a new folder")
    existed = out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        _write(out / "corpus.jsonl", data.corpus.values())
        _write(out / "queries.jsonl", data.queries.values())
        splits: dict[str, dict[str, dict[str, int]]] = {}
        for query, gold in data.gold.items():
            split = data.split_of.get(query) or ("dev" if in_dev(query, dev) else "test")
            splits.setdefault(split, {})[query] = gold
        for split, qrels in splits.items():
            write_tsv(out / "qrels" / f"{split}.tsv", qrels)
        if data.triples:
            _write(out / "triples.jsonl", data.triples)
        return read_dataset(out)
    except BaseException:
        shutil.rmtree(out)
        if existed:
            out.mkdir()
        raise


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
