"""One door to the importers: a layout's name, its files, and the folder to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.data.importers import hotpot, locomo, musique, openie
from hopgate.eval.data.importers.folder import Gathered, write_folder
from hopgate.jsonl import json_lines

LAYOUTS = {
    "musique": musique.gather,
    "2wikimultihopqa": hotpot.gather,
    "hotpotqa": hotpot.gather,
    "locomo": locomo.gather,
}


def import_dataset(
    layout: str,
    source: str | Path,
    out: str | Path,
    *,
    corpus: str | Path | None = None,
    triples: str | Path | None = None,
    dev: float = 0.5,
) -> Dataset:
    """Turn a public file into a BEIR folder, and read that back with every check.

    Parameters
    ----------
    layout : str
        One of `LAYOUTS`.
    source : path
        The questions: JSON or JSON lines.
    out : path
        A new or empty folder.
    corpus : path, optional
        HippoRAG's `*_corpus.json`; without it the corpus is what the questions carry.
    triples : path, optional
        HippoRAG's extraction results.
    dev : float
        Share of the queries that go to the split `dev`, by a hash of their id; the others go to `test`.
    """
    if layout not in LAYOUTS:
        raise HopgateError(f"there is no importer for {layout!r}: use one of {', '.join(LAYOUTS)}")
    data = Gathered()
    try:
        for title, text in _corpus(Path(corpus)) if corpus else ():
            data.document(title, text)
        LAYOUTS[layout](_load(Path(source)), data)
        facts = list(openie.gather(_load(Path(triples)), data)) if triples else []
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise HopgateError(f"{source} is not in the layout of {layout}: {type(error).__name__} {error}") from None
    if triples and not facts:
        raise HopgateError(f"{triples} holds nothing about the documents of {source}")
    write_folder(Path(out), data, facts, dev)
    return read_dataset(out)


def _corpus(path: Path) -> list[tuple[str, str]]:
    rows = _json(path)
    if isinstance(rows, dict):
        return [(title, hotpot.joined(sentences)) for title, sentences in rows.items()]
    return [(row["title"], row["text"]) for row in rows]


def _load(path: Path) -> list[dict[str, Any]]:
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
