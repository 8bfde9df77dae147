"""One door to the importers: a layout's name, its files, and the folder to write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.data.importers import beir, hotpot, locomo, longmemeval, musique, openie, trec_collection
from hopgate.eval.data.new_dataset import NewDataset, write_dataset
from hopgate.jsonl import json_lines

QUESTION_LAYOUTS = {
    "musique": musique.gather,
    "2wiki": hotpot.gather,
    "hotpotqa": hotpot.gather,
    "locomo": locomo.gather,
    "longmemeval": longmemeval.gather,
}
BEIR = "beir"
TREC = "trec"
LAYOUTS = (BEIR, TREC, *QUESTION_LAYOUTS)


def import_dataset(
    layout: str,
    source: str | Path,
    out: str | Path,
    *,
    corpus: str | Path | None = None,
    queries: str | Path | None = None,
    triples: str | Path | None = None,
    dev: float = 0.5,
) -> Dataset:
    """Turn a public file into a BEIR folder, and read that back with every check.

    Parameters
    ----------
    layout : str
        One of `LAYOUTS`.
    source : path
        The questions, as JSON or JSON lines; for `beir` the folder, for `trec` the judgements, as
        `query 0 document grade` lines.
    out : path
        A new or empty folder.
    corpus : path, optional
        HippoRAG's `*_corpus.json`; without it the corpus is what the questions carry. For `trec` a `corpus.jsonl`.
    queries : path, optional
        For `trec`, and needed there: a `queries.jsonl`, or topics as lines of an id, a tab and a text.
    triples : path, optional
        HippoRAG's extraction results.
    dev : float
        Share of the queries that go to the split `dev`, by a hash of their id; the others go to `test`. A BEIR folder
        with several splits keeps them.
    """
    source, data = Path(source), NewDataset()
    if layout not in LAYOUTS:
        raise HopgateError(f"there is no importer for {layout!r}: use one of {', '.join(LAYOUTS)}")
    if layout == TREC:
        if corpus is None or queries is None:
            raise HopgateError("the layout trec has only judgements: give the corpus and the queries they are about")
        trec_collection.gather(source, Path(corpus), Path(queries), data)
    elif layout == BEIR:
        if corpus is not None or queries is not None:
            raise HopgateError("a BEIR folder has its corpus and queries in it: leave --corpus and --queries out")
        beir.gather(source, data)
    elif queries is not None:
        raise HopgateError(f"the layout {layout} carries its own queries: leave those out")
    else:
        _gather_questions(layout, source, Path(corpus) if corpus else None, data)
    if triples is not None:
        with _layout(Path(triples), "HippoRAG's extraction"):
            data.triples += openie.gather(_load(Path(triples)), data)
        if not data.triples:
            raise HopgateError(f"{triples} holds nothing about the documents of {source}")
    return write_dataset(Path(out), data, dev)


def _gather_questions(layout: str, source: Path, corpus: Path | None, data: NewDataset) -> None:
    if corpus is not None:
        with _layout(corpus, "HippoRAG's corpus"):
            documents = _json(corpus)
            if isinstance(documents, dict):
                documents = [{"title": title, "text": hotpot.joined(texts)} for title, texts in documents.items()]
            for document in documents:
                data.document(document["title"], document["text"])
    with _layout(source, layout):
        QUESTION_LAYOUTS[layout](_load(source), data)


@contextmanager
def _layout(path: Path, layout: str) -> Iterator[None]:
    """Refuse a file whose fields are not where its layout has them."""
    try:
        yield
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise HopgateError(f"{path} is not in the layout of {layout}: {type(error).__name__} {error}") from None


def _load(path: Path) -> list[dict[str, Any]]:
    """Read a list of JSON objects, or the list under `docs` or `data`, or JSON lines."""
    if path.suffix == ".jsonl":
        return [row for _, row in json_lines(path)]
    rows = _json(path)
    if isinstance(rows, dict):
        rows = rows.get("docs") or rows.get("data") or []
    return list(rows)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise HopgateError(f"{path} is not JSON: {error}") from None
