"""Write the synthetic corpus as a BEIR folder: ``python -m hopgate.demo.generate DIR [--seed N]``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from hopgate.demo.make_corpus import DEFAULT_SEED, Corpus, corpus
from hopgate.errors import HopgateError
from hopgate.memory import DEFAULT_IMPORTANCE, Memory


def files(made: Corpus) -> dict[str, str]:
    """Render every file of the folder: its name and its text."""
    return {
        "corpus.jsonl": _lines(_row(memory) for memory in made.memories),
        "queries.jsonl": _lines({"_id": q.id, "text": q.text, "metadata": q.metadata} for q in made.queries),
        "triples.jsonl": _lines(made.triples),
        "facts.jsonl": _lines(asdict(fact) for fact in made.facts),
        **{f"qrels/{split}.tsv": _table(qrels) for split, qrels in made.qrels.items()},
    }


def write(folder: Path, seed: int = DEFAULT_SEED) -> Path:
    """Write the files into a folder, which is made where it is missing."""
    try:
        for name, text in files(corpus(seed)).items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
    except OSError as error:
        raise HopgateError(f"cannot write the corpus into {folder}: {error.strerror}") from error
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m hopgate.demo.generate", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write the BEIR folder")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="draws another world (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        write(options.folder, options.seed)
    except HopgateError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _row(memory: Memory) -> dict[str, Any]:
    """Leave out what is at its default, as a hand-kept file would."""
    metadata: dict[str, Any] = {
        "tags": list(memory.tags) or None,
        "category": memory.category,
        "expanded_keywords": list(memory.expanded_keywords) or None,
        "importance": memory.importance if memory.importance != DEFAULT_IMPORTANCE else None,
        "is_sensitive": memory.is_sensitive or None,
        "scope": memory.scope,
        "created_at": memory.created_at.isoformat() if memory.created_at else None,
        "thread": memory.thread,
    }
    kept = {name: value for name, value in metadata.items() if value is not None}
    return {"_id": memory.external_id, "title": memory.title, "text": memory.text, "metadata": kept}


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, default=_plain) + "\n" for row in rows)


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a JSON line")


def _table(qrels: dict[str, dict[str, int]]) -> str:
    rows = (f"{query}\t{key}\t{score}\n" for query, keys in qrels.items() for key, score in sorted(keys.items()))
    return "query-id\tcorpus-id\tscore\n" + "".join(rows)


if __name__ == "__main__":
    sys.exit(main())
