"""What every importer gives, and how it becomes a BEIR folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.qrels import write_tsv


@dataclass
class Gathered:
    """Documents, queries and gold, as an importer finds them."""

    corpus: dict[str, dict[str, Any]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    gold: dict[str, list[str]] = field(default_factory=dict)
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
        """Add a query with its gold."""
        found = list(dict.fromkeys(gold))
        if name in self.queries:
            raise HopgateError(f"the question {name!r} stands twice in the source")
        if not found:
            raise HopgateError(f"the question {name!r} has no supporting document in the source")
        self.gold[name] = found
        known = {key: value for key, value in {"hops": len(found), **metadata}.items() if value not in (None, "")}
        self.queries[name] = {"_id": name, "text": text, "metadata": known}


def in_dev(query: str, share: float) -> bool:
    """Put a query into dev or test by its id alone: the same in every run, whatever else is in the file.

    Examples
    --------
    >>> in_dev("2hop__1_2", 0.0), in_dev("2hop__1_2", 1.0)
    (False, True)
    """
    return int.from_bytes(hashlib.sha256(query.encode()).digest()[:8]) / 2**64 < share


def write_folder(out: Path, data: Gathered, triples: Iterable[Mapping[str, Any]], dev: float) -> None:
    """Write corpus, queries, the two splits, and triples where there are some."""
    if out.exists() and any(out.iterdir()):
        raise HopgateError(f"{out} is not empty: give a new folder")
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "corpus.jsonl", data.corpus.values())
    _write(out / "queries.jsonl", data.queries.values())
    for split, wanted in (("dev", True), ("test", False)):
        qrels = {q: dict.fromkeys(gold, 1) for q, gold in data.gold.items() if in_dev(q, dev) is wanted}
        if qrels:
            write_tsv(out / "qrels" / f"{split}.tsv", qrels)
    rows = list(triples)
    if rows:
        _write(out / "triples.jsonl", rows)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
