"""A TREC collection: judgements in four columns, topics, and a corpus that is in BEIR's layout already."""

from __future__ import annotations

from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import NewDataset
from hopgate.eval.data.queries import Query, read_queries
from hopgate.eval.data.runs import relevant
from hopgate.eval.data.trec import read_qrels
from hopgate.jsonl import field, json_lines, refuse, text_lines


def gather(judgements: Path, corpus: Path, queries: Path, data: NewDataset) -> None:
    """Add the documents, and every topic that has a relevant document; topics without one cannot be scored.

    Parameters
    ----------
    judgements : Path
        `query 0 document grade` lines.
    corpus : Path
        A `corpus.jsonl`; every judged document must be in it.
    queries : Path
        A `queries.jsonl`, or lines of an id, a tab and a text.
    """
    for line, row in json_lines(corpus):
        data.corpus[field(row, "_id", corpus, line)] = row
    topics = _topics(queries)
    for query, gold in read_qrels(judgements).items():
        if not relevant(gold):
            continue
        if query not in topics:
            raise HopgateError(f"{judgements} judges the query {query!r}, which {queries} lacks")
        unknown = [memory for memory in gold if memory not in data.corpus]
        if unknown:
            raise HopgateError(f"{judgements} judges the document {unknown[0]!r}, which {corpus} lacks")
        data.add(topics[query], gold)
    if not data.queries:
        raise HopgateError(f"{judgements} holds no query with a relevant document")


def _topics(path: Path) -> dict[str, Query]:
    if path.suffix == ".jsonl":
        return read_queries(path)
    topics: dict[str, Query] = {}
    for number, line in text_lines(path):
        name, _, text = (part.strip() for part in line.partition("\t"))
        if not name or not text:
            refuse(path, number, "a topic is an id, a tab and a text")
        topics[name] = Query(name, text)
    return topics
