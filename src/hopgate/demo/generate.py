"""The synthetic corpus as a BEIR folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from hopgate.corpus import to_record
from hopgate.demo import Corpus, Qrels, corpus
from hopgate.errors import HopgateError


def write(folder: Path, made: Corpus | None = None, *, leave_out: Collection[str] = ()) -> Path:
    """Write a corpus, by default the usual one, into a folder, which is made where it is missing.

    Parameters
    ----------
    leave_out : collection of str
        Names of files that are not written.
    """
    made = made or corpus()
    texts = {
        "corpus.jsonl": _lines(map(to_record, made.memories)),
        "queries.jsonl": _lines({"_id": q.id, "text": q.text, "metadata": q.metadata} for q in made.queries),
        "triples.jsonl": _lines(made.triples),
        "facts.jsonl": _lines(map(asdict, made.facts)),
        **{f"qrels/{split}.tsv": _table(qrels) for split, qrels in made.qrels.items()},
    }
    try:
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if name not in leave_out:
                (folder / name).write_bytes(text.encode())
    except OSError as error:
        raise HopgateError(f"cannot write the corpus into {folder}: {error.strerror}") from error
    return folder


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, default=date.isoformat) + "\n" for row in rows)


def _table(qrels: Qrels) -> str:
    rows = (f"{query}\t{key}\t{score}\n" for query, keys in qrels.items() for key, score in sorted(keys.items()))
    return "query-id\tcorpus-id\tscore\n" + "".join(rows)
