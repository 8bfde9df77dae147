"""A BEIR folder: corpus, queries, judgements by split, and triples where there are some."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from hopgate.corpus import read_corpus
from hopgate.errors import HopgateError
from hopgate.eval.data.qrels import read_tsv
from hopgate.eval.data.queries import Query, read_queries
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.extract.statements import Statement, read_statements
from hopgate.extract.triples import Triple, read_triples
from hopgate.jsonl import text_lines
from hopgate.memory import Cleared, Memory, cleared

T = TypeVar("T")


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
    statements : tuple of Statement
        Sentences about memories; empty where there is no `statements.jsonl`. A build takes them from that file.
    """

    folder: Path
    memories: tuple[Memory, ...]
    queries: Mapping[str, Query]
    splits: Mapping[str, Qrels]
    triples: tuple[Triple, ...] = ()
    statements: tuple[Statement, ...] = ()

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
        return dict(cleared((memory.external_id, memory) for memory in self.memories))

    def split(self, name: str) -> Qrels:
        """Give a split's judgements, or say which splits there are."""
        if name not in self.splits:
            there = ", ".join(self.splits)
            raise HopgateError(f"{self.folder / 'qrels' / f'{name}.tsv'} is missing: the splits there are {there}")
        return self.splits[name]

    def counts(self) -> dict[str, Any]:
        """How much of everything there is."""
        queries, facts = self.queries.values(), sum(triple.is_fact for triple in self.triples)
        return {
            "memories": len(self.memories),
            "sensitive": sum(memory.is_sensitive for memory in self.memories),
            "scopes": len({memory.scope for memory in self.memories if memory.scope is not None}),
            "queries": len(self.queries),
            "splits": {name: len(qrels) for name, qrels in self.splits.items()},
            "types": dict(sorted(Counter(query.type for query in queries if query.type).items())),
            "hops": dict(sorted(Counter(query.hops for query in queries if query.hops).items())),
            "facts": facts,
            "mentions": len(self.triples) - facts,
            "statements": len(self.statements),
            "fingerprint": self.fingerprint,
        }


def read_dataset(folder: str | Path, memories: Iterable[Memory] | None = None) -> Dataset:
    """Read and check a BEIR folder.

    Parameters
    ----------
    folder : path
        Holds `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and, where facts were extracted or statements
        written, `triples.jsonl` and `statements.jsonl`.
    memories : iterable of Memory, optional
        What the queries are about where that is not in the folder, as with a store: then only queries and judgements
        are read.

    Raises
    ------
    HopgateError
        For the first thing that is wrong, naming file, line and reason.
    """
    dataset, problems = check_dataset(folder, memories)
    if dataset is None:
        raise HopgateError(problems[0])
    return dataset


def check_dataset(folder: str | Path, known: Iterable[Memory] | None = None) -> tuple[Dataset | None, list[str]]:
    """Read a BEIR folder and give it, or all that is wrong with it.

    Of a file that cannot be read the first bad line is given; of files that can, every judgement and query that does
    not fit the others.
    """
    folder, problems = Path(folder), list[str]()

    def attempt(read: Callable[[Path], T], path: Path) -> T | None:
        try:
            if not path.is_file():
                raise HopgateError(f"{path} is missing: a data set is a folder in the BEIR layout")
            return read(path)
        except HopgateError as error:
            problems.append(str(error))
            return None

    memories = (
        tuple(known)
        if known is not None
        else attempt(lambda path: tuple(read_corpus(path, keep_unknown=True)), folder / "corpus.jsonl")
    )
    queries = attempt(read_queries, folder / "queries.jsonl")
    scopes = None if memories is None else {memory.external_id: memory.scope for memory in memories}
    paths = sorted((folder / "qrels").glob("*.tsv"))
    judged = [(path, *read) for path in paths if (read := attempt(read_tsv, path)) is not None]
    if not paths:
        problems.append(f"{folder / 'qrels'} holds no judgements: write qrels/dev.tsv and qrels/test.tsv")
    problems += _misfits(judged, queries, scopes)
    splits = {path.stem: qrels for path, qrels, _ in judged}
    if queries is not None and len(splits) == len(paths) > 0:
        problems += _unjudged(folder / "queries.jsonl", queries, splits)
    triples: tuple[Triple, ...] | None = ()
    if known is None and scopes is not None and (folder / "triples.jsonl").exists():
        triples = attempt(lambda path: read_triples(path, scopes), folder / "triples.jsonl")
        if triples == ():
            problems.append(
                f"{folder / 'triples.jsonl'} is empty: remove it to have the facts extracted from the corpus"
            )
    statements: tuple[Statement, ...] | None = ()
    if scopes is not None and (folder / "statements.jsonl").exists():
        statements = attempt(lambda path: read_statements(path, scopes), folder / "statements.jsonl")
    if problems or memories is None or queries is None or triples is None or statements is None:
        return None, problems
    return Dataset(folder, memories, queries, splits, triples, statements), []


def _misfits(
    judged: Iterable[tuple[Path, Qrels, Mapping[tuple[str, str], int]]],
    queries: Mapping[str, Query] | None,
    scopes: Mapping[str, str | None] | None,
) -> Iterator[str]:
    """Judgements of unknown queries or memories, of a query in two splits, out of scope, or without any gold."""
    split_of: dict[str, str] = {}
    for path, qrels, lines in judged:
        for (query, memory), line in lines.items():
            at = f"{path}, line {line}:"
            if queries is not None and query not in queries:
                yield f"{at} the query {query!r} is not in queries.jsonl"
            if scopes is not None and memory not in scopes:
                yield f"{at} the memory {memory!r} is not in corpus.jsonl"
            if split_of.setdefault(query, path.stem) != path.stem:
                yield f"{at} the query {query!r} is in the split {split_of[query]!r} too: splits must be disjoint"
            if queries is None or scopes is None or query not in queries or memory not in scopes:
                continue
            scope = queries[query].scope
            if scope is not None and qrels[query][memory] > 0 and scopes[memory] != scope:
                yield f"{at} {memory!r} is in the scope {scopes[memory]!r}, the query may only see {scope!r}"
        for query, gold in qrels.items():
            if not relevant(gold):
                line = lines[query, next(iter(gold))]
                yield f"{path}, line {line}: the query {query!r} has no gold: every grade is 0"


def _unjudged(path: Path, queries: Mapping[str, Query], splits: Mapping[str, Qrels]) -> Iterator[str]:
    judged = {query for qrels in splits.values() for query in qrels}
    if judged >= queries.keys():
        return
    for query, (line, _) in zip(queries, text_lines(path), strict=True):
        if query not in judged:
            yield f"{path}, line {line}: the query {query!r} has no gold in any split: judge it in qrels/, or remove it"
