"""A data set: a folder in the BEIR layout, read with every check, written, and divided into dev and test."""

import hashlib
import json
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as member
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import Qrels, numbered_qrels, relevant, write_qrels
from hopgate.extract.files import Statement, Triple, read_statements, read_triples
from hopgate.jsonl import field, json_lines, refuse, text_lines
from hopgate.memory import Cleared, Memory, cleared
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions
from hopgate.times import utc

T = TypeVar("T")
DATES = ("as_of", "known_at")


@dataclass(frozen=True)
class Query:
    """A question to recall for."""

    id: str
    text: str
    # `type`, `hops`, `scope`, `cluster`, `as_of`, `known_at`, and whatever else was written beside it.
    metadata: Mapping[str, Any] = member(default_factory=dict, hash=False)

    @property
    def hops(self) -> int | None:
        """How many memories must be put together, where it is known."""
        return cast("int | None", self.metadata.get("hops"))

    @property
    def scope(self) -> str | None:
        """The only scope it may be answered from, where there is one."""
        return cast("str | None", self.metadata.get("scope"))

    @property
    def cluster(self) -> str | None:
        """What it belongs to by declaration: queries of one cluster are no independent evidence."""
        return cast("str | None", self.metadata.get("cluster"))

    def moment(self, name: str) -> datetime | None:
        """Give the date that it is asked `as_of` or `known_at`, where its metadata has one."""
        date = self.metadata.get(name)
        return utc(datetime.fromisoformat(date)) if date else None


def read_queries(path: Path) -> dict[str, Query]:
    """Read a `queries.jsonl`; the first bad line is refused, naming file, line and reason."""
    queries: dict[str, Query] = {}
    for line, row in json_lines(path):
        name, text = field(row, "_id", path, line), field(row, "text", path, line)
        if name in queries:
            refuse(path, line, f"_id {name!r} stands twice")
        if not isinstance(metadata := row.get("metadata") or {}, dict):
            refuse(path, line, "metadata must be an object")
        hops = metadata.get("hops")
        if hops is not None and (isinstance(hops, bool) or not isinstance(hops, int) or hops < 1):
            refuse(path, line, f"hops must be a whole number of at least 1, not {hops!r}")
        query = queries[name] = Query(name, text, metadata)
        for key in ("type", "scope", "cluster", *DATES):
            if not isinstance(metadata.get(key), str | None):
                refuse(path, line, f"{key} must be a text")
            try:
                _ = key in DATES and query.moment(key)
            except ValueError:
                refuse(path, line, f"{key} must be an ISO date, not {metadata[key][:40]!r}")
    if not queries:
        raise HopgateError(f"{path} holds no queries")
    return queries


@dataclass(frozen=True)
class Dataset:
    """An evaluation set that passed every check: splits are disjoint, and every id in them exists."""

    folder: Path
    memories: tuple[Memory, ...]
    queries: Mapping[str, Query]
    splits: Mapping[str, Qrels]
    triples: tuple[Triple, ...] = ()  # facts and mentions, where there is such a file
    statements: tuple[Statement, ...] = ()  # sentences about memories, where there is such a file

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @cached_property
    def texts(self) -> Mapping[str, Cleared]:
        """Id → text of the memories that the sensitivity guard lets pass."""
        return dict(cleared((memory.external_id, memory) for memory in self.memories))

    def split(self, name: str) -> Qrels:
        """Give a split's judgements, or say which splits there are."""
        if name not in self.splits:
            there = f"the splits there are {', '.join(self.splits)} (--tune none tunes nothing)"
            raise HopgateError(f"{self.folder / 'qrels' / f'{name}.tsv'} is missing: {there}")
        return self.splits[name]

    def counts(self) -> dict[str, Any]:
        """How much of everything there is."""
        known = [query.metadata for query in self.queries.values()]
        facts = sum(triple.is_fact for triple in self.triples)
        return {
            "memories": len(self.memories),
            "sensitive": sum(memory.is_sensitive for memory in self.memories),
            "scopes": len({memory.scope for memory in self.memories} - {None}),
            "queries": len(self.queries),
            "splits": {name: len(qrels) for name, qrels in self.splits.items()},
            "types": dict(sorted(Counter(each["type"] for each in known if each.get("type")).items())),
            "hops": dict(sorted(Counter(each["hops"] for each in known if each.get("hops")).items())),
            "facts": facts,
            "mentions": len(self.triples) - facts,
            "statements": len(self.statements),
        }


def read_dataset(folder: str | Path, memories: Iterable[Memory] | None = None) -> Dataset:
    """Read and check a BEIR folder; the first thing that is wrong is refused, naming file, line and reason.

    Parameters
    ----------
    folder : path
        Holds `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv` and, where there are some, `triples.jsonl` and
        `statements.jsonl`.
    memories : iterable of Memory, optional
        What the queries are about where that is not in the folder, as with a store: then only queries and judgements
        are read.
    """
    dataset, problems = check_dataset(folder, memories)
    if dataset is None:
        raise HopgateError(problems[0])
    return dataset


def check_dataset(folder: str | Path, known: Iterable[Memory] | None = None) -> tuple[Dataset | None, list[str]]:
    """Read a BEIR folder and give it, or all that is wrong with it.

    Of a file that cannot be read the first bad line is given; where all can, every judgement and query that does not
    fit the others.
    """
    folder, problems = Path(folder), list[str]()

    def attempt(read: Callable[[Path], T], path: Path) -> T | None:
        try:
            if not path.exists():
                raise HopgateError(f"{path} is missing: a data set is a folder in the BEIR layout")
            return read(path)
        except HopgateError as error:
            problems.append(str(error))
            return None

    def corpus(path: Path) -> tuple[Memory, ...]:
        return tuple(read_source(path, "jsonl", ReadOptions(keep_unknown=True)).memories)

    memories = (attempt(corpus, folder / "corpus.jsonl") or ()) if known is None else tuple(known)
    scopes = None if problems else {memory.external_id: memory.scope for memory in memories}
    queries = attempt(read_queries, folder / "queries.jsonl") or {}
    judged = {path: attempt(numbered_qrels, path) or ({}, {}) for path in sorted((folder / "qrels").glob("*.tsv"))}
    if not judged:
        problems.append(f"{folder / 'qrels'} holds no judgements: write qrels/dev.tsv and qrels/test.tsv")
    triples: tuple[Triple, ...] = ()
    if known is None and (path := folder / "triples.jsonl").exists():
        triples = attempt(lambda path: read_triples(path, scopes), path) or ()
        if not triples and not problems:
            problems.append(f"{path} is empty: remove it to have the facts extracted from the corpus")
    statements: tuple[Statement, ...] = ()
    if (path := folder / "statements.jsonl").exists():
        statements = attempt(lambda path: read_statements(path, scopes), path) or ()
    splits = {path.stem: qrels for path, (qrels, _) in judged.items()}
    dataset = Dataset(folder, memories, queries, splits, triples, statements)
    problems = problems or list(_misfits(dataset, {path: lines for path, (_, lines) in judged.items()}))
    return (None if problems else dataset), problems


def _misfits(data: Dataset, lines_of: Mapping[Path, Mapping[tuple[str, str], int]]) -> Iterator[str]:
    """Judgements of unknown queries or memories, of a query in two splits, out of scope, and queries without gold."""
    scopes = {memory.external_id: memory.scope for memory in data.memories}
    split_of: dict[str, str] = {}
    for path, lines in lines_of.items():
        qrels = data.splits[path.stem]
        for (query, memory), line in lines.items():
            at = f"{path}, line {line}:"
            scope = data.queries[query].scope if query in data.queries else None
            if query not in data.queries:
                yield f"{at} the query {query!r} is not in queries.jsonl"
            if memory not in scopes:
                yield f"{at} the memory {memory!r} is not in corpus.jsonl"
            elif scope is not None and qrels[query][memory] > 0 and scopes[memory] != scope:
                yield f"{at} {memory!r} is in the scope {scopes[memory]!r}, the query may only see {scope!r}"
            if split_of.setdefault(query, path.stem) != path.stem:
                yield f"{at} the query {query!r} is in the split {split_of[query]!r} too: splits must be disjoint"
        for query, gold in qrels.items():
            if not relevant(gold):
                line = lines[query, next(iter(gold))]
                yield f"{path}, line {line}: the query {query!r} has no gold: every grade is 0"
    path = data.folder / "queries.jsonl"
    for query, (line, _) in zip(data.queries, text_lines(path), strict=True):
        if query not in split_of:
            yield f"{path}, line {line}: the query {query!r} has no gold in any split: judge it in qrels/, or remove it"


@dataclass
class NewDataset:
    """What a data set is written from: rows of its files by their ids, the queries, and the gold of each."""

    corpus: dict[str, dict[str, Any]] = member(default_factory=dict)
    queries: dict[str, Query] = member(default_factory=dict)
    gold: dict[str, Mapping[str, int]] = member(default_factory=dict)
    triples: list[dict[str, Any]] = member(default_factory=list)
    statements: list[dict[str, Any]] = member(default_factory=list)
    split_of: dict[str, str] = member(default_factory=dict)  # of queries whose split the source gives
    _by_content: dict[tuple[str, str], str] = member(default_factory=dict)

    def document(self, title: str, text: str) -> str:
        """Give the id of a document, adding it when it is new."""
        key = (title, " ".join(text.split()))
        if key not in self._by_content:
            name = self._by_content[key] = f"d{len(self._by_content):06d}"
            self.corpus[name] = {"_id": name, "title": title, "text": text}
        return self._by_content[key]

    def turn(self, name: str, text: str, **metadata: Any) -> None:
        """Add what was said in a conversation."""
        self.corpus[name] = {"_id": name, "title": "", "text": text, "metadata": metadata}

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
        self.queries[query.id], self.gold[query.id] = query, gold


def write_dataset(out: Path, data: NewDataset, dev: float) -> Dataset:
    """Write a folder that is new or empty, with the splits `dev` and `test`, and read it back with every check.

    Where that fails nothing half made stays.
    """
    existed = out.exists()
    if existed and (not out.is_dir() or any(out.iterdir())):
        raise HopgateError(f"{out} is not empty: give a new folder")
    out.mkdir(parents=True, exist_ok=True)
    try:
        write_rows(out / "corpus.jsonl", data.corpus.values())
        for name, rows in (("triples", data.triples), ("statements", data.statements)):
            if rows:
                write_rows(out / f"{name}.jsonl", rows)
        write_questions(out, data, dev)
        return read_dataset(out)
    except BaseException:
        shutil.rmtree(out)
        if existed:
            out.mkdir()
        raise


def write_questions(folder: Path, data: NewDataset, dev: float) -> None:
    """Write the queries of a folder, and their judgements in the splits that `divide` makes."""
    splits = divide(data.queries, data.gold, dev, given=data.split_of)
    folder.mkdir(parents=True, exist_ok=True)
    rows = ({"_id": query.id, "text": query.text, "metadata": dict(query.metadata)} for query in data.queries.values())
    write_rows(folder / "queries.jsonl", rows)
    for path in (folder / "qrels").glob("*.tsv"):
        path.unlink()
    for split, qrels in splits.items():
        write_qrels(folder / "qrels" / f"{split}.tsv", qrels)


def split_dataset(folder: str | Path, out: str | Path, *, dev: float = 0.5) -> Dataset:
    """Copy a data set with new splits as `divide` makes them."""
    old = read_dataset(folder)
    gold = {query: grades for qrels in old.splits.values() for query, grades in qrels.items()}
    if len(divide(old.queries, gold, dev)) < 2:
        raise HopgateError("one of the two splits would be empty: give another --dev")
    paths = {name: old.folder / f"{name}.jsonl" for name in ("corpus", "triples", "statements")}
    rows = {name: [row for _, row in json_lines(path)] if path.exists() else [] for name, path in paths.items()}
    corpus = {row["_id"]: row for row in rows["corpus"]}
    data = NewDataset(corpus, dict(old.queries), gold, rows["triples"], rows["statements"])
    return write_dataset(Path(out), data, dev)


def divide(
    queries: Mapping[str, Query], judged: Qrels, dev: float, *, given: Mapping[str, str] | None = None
) -> dict[str, dict[str, Mapping[str, int]]]:
    """Divide judged queries into `dev` and `test`, so that nothing tuned on the one is known of the other.

    Queries of one scope, with the same text or with a relevant memory in common stay together. What stays together goes
    to `dev` as a whole, in the order of a hash of its first id, until `dev` has its share of the queries whose split is
    not `given`.
    """
    if not 0 <= dev <= 1:
        raise HopgateError(f"the share of development queries must be between 0 and 1, not {dev:g}")
    given = given or {}
    keys: dict[str, list[Hashable]] = {}
    for name, gold in judged.items():
        query = queries[name]
        keys[name] = [("text", folded(query.text)), *(("memory", memory) for memory in relevant(gold))]
        keys[name] += [("scope", query.scope)] if query.scope is not None else []
    groups: dict[str, list[str]] = {}
    for name, first in together(keys).items():
        if name not in given:
            groups.setdefault(first, []).append(name)
    wanted, taken = dev * sum(map(len, groups.values())), 0
    split_of = dict(given)
    for first in sorted(groups, key=lambda name: hashlib.sha256(name.encode()).digest()):
        split = "dev" if taken + len(groups[first]) / 2 < wanted else "test"
        taken += len(groups[first]) if split == "dev" else 0
        split_of |= dict.fromkeys(groups[first], split)
    splits: dict[str, dict[str, Mapping[str, int]]] = {}
    for name, gold in judged.items():
        splits.setdefault(split_of[name], {})[name] = gold
    return splits


def together(keys: Mapping[str, Iterable[Hashable]]) -> dict[str, str]:
    """Give for each name the first of all the names that it hangs together with, by keys that they share."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    holder: dict[Hashable, int] = {}
    links = [(place, holder.setdefault(key, place)) for place, own in enumerate(keys.values()) for key in own]
    ends = tuple(zip(*links, strict=True)) or ((), ())
    _, groups = connected_components(coo_array(([1] * len(links), ends), shape=(len(keys), len(keys))), directed=False)
    first: dict[int, str] = {}
    return {name: first.setdefault(group, name) for name, group in zip(keys, groups.tolist(), strict=True)}


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def folded(text: str) -> str:
    """Fold case, spaces, marks and punctuation, so that the same question compares equal."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter if letter.isalnum() else " " for letter in plain).split())
