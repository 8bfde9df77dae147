"""A BEIR folder: corpus, queries, judgements by split, and triples where there are some."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hopgate.corpus import read_corpus
from hopgate.errors import HopgateError
from hopgate.eval.data.qrels import read_tsv
from hopgate.eval.data.queries import Query, read_queries
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.eval.data.triples import Triple, read_triples
from hopgate.jsonl import refuse, text_lines
from hopgate.memory import Cleared, Memory, cleared


@dataclass(frozen=True)
class Dataset:
    """An evaluation set that passed every check.

    Parameters
    ----------
    folder : Path
        Where it was read from.
    memories : tuple of Memory
        The corpus.
    queries : mapping of id to Query
    splits : mapping of split to qrels
        Disjoint, and every id in them exists.
    triples : tuple of Triple
        Facts and mentions; empty where there is no `triples.jsonl`.
    """

    folder: Path
    memories: tuple[Memory, ...]
    queries: Mapping[str, Query]
    splits: Mapping[str, Qrels]
    triples: tuple[Triple, ...] = ()

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @cached_property
    def fingerprint(self) -> str:
        """What was read, in twelve hexadecimal digits: the same files, the same digits."""
        digest = hashlib.sha256()
        for path in sorted([*self.folder.glob("*.jsonl"), *self.folder.glob("qrels/*.tsv")]):
            digest.update(f"{path.relative_to(self.folder)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    @cached_property
    def texts(self) -> Mapping[str, Cleared]:
        """Id → text of the memories that the sensitivity guard lets pass."""
        return {memory.external_id: text for memory, text in cleared(self.memories)}

    def split(self, name: str) -> Qrels:
        """Give a split's judgements, or say which splits there are."""
        if name not in self.splits:
            there = ", ".join(self.splits)
            raise HopgateError(f"{self.folder / 'qrels' / f'{name}.tsv'} is missing: the splits there are {there}")
        return self.splits[name]


def read_dataset(folder: str | Path) -> Dataset:
    """Read and check a BEIR folder.

    Parameters
    ----------
    folder : path
        Holds `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and, where facts were extracted, `triples.jsonl`.

    Raises
    ------
    HopgateError
        For the first thing that is wrong, naming file, line and reason.
    """
    folder = Path(folder)
    for part in ("corpus.jsonl", "queries.jsonl"):
        if not (folder / part).is_file():
            raise HopgateError(f"{folder / part} is missing: a data set is a folder in the BEIR layout")
    memories = tuple(read_corpus(folder / "corpus.jsonl"))
    scopes = {memory.external_id: memory.scope for memory in memories}
    queries = read_queries(folder / "queries.jsonl")
    splits = _splits(folder, queries, scopes)
    _all_judged(folder / "queries.jsonl", queries, splits)
    triples = folder / "triples.jsonl"
    facts = read_triples(triples, scopes.keys()) if triples.is_file() else ()
    return Dataset(folder, memories, queries, splits, facts)


def _splits(folder: Path, queries: Mapping[str, Query], scopes: Mapping[str, str | None]) -> dict[str, Qrels]:
    paths = sorted((folder / "qrels").glob("*.tsv"))
    if not paths:
        raise HopgateError(f"{folder / 'qrels'} holds no judgements: write qrels/dev.tsv and qrels/test.tsv")
    splits: dict[str, Qrels] = {}
    home: dict[str, str] = {}
    for path in paths:
        qrels, lines = read_tsv(path)
        for (query, memory), line in lines.items():
            if query not in queries:
                refuse(path, line, f"the query {query!r} is not in queries.jsonl")
            if memory not in scopes:
                refuse(path, line, f"the memory {memory!r} is not in corpus.jsonl")
            if home.setdefault(query, path.stem) != path.stem:
                refuse(path, line, f"the query {query!r} is in the split {home[query]!r} too: splits must be disjoint")
            scope = queries[query].scope
            if scope is not None and qrels[query][memory] > 0 and scopes[memory] != scope:
                refuse(path, line, f"{memory!r} is in the scope {scopes[memory]!r}, the query may only see {scope!r}")
        for query, gold in qrels.items():
            if not relevant(gold):
                refuse(path, lines[query, next(iter(gold))], f"the query {query!r} has no gold: every grade is 0")
        splits[path.stem] = qrels
    return splits


def _all_judged(path: Path, queries: Mapping[str, Query], splits: Mapping[str, Qrels]) -> None:
    judged = {query for qrels in splits.values() for query in qrels}
    for index, query in enumerate(queries):
        if query not in judged:
            line = [number for number, _ in text_lines(path)][index]
            refuse(path, line, f"the query {query!r} has no gold in any split: judge it in qrels/, or remove it")
