"""Public layouts → a BEIR folder: a function for each layout, and one door to them."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, NewDataset, Query, read_queries, write_dataset
from hopgate.eval.data.runs import read_qrels, relevant
from hopgate.jsonl import json_lines, refuse, text_lines
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions, read_json
from hopgate.times import utc

Rows: TypeAlias = Iterable[dict[str, Any]]

# Where a BEIR set has no `dev`, its `train` takes that place: a gate tunes on the one and reports the other.
DEV_OF = {"dev": "dev", "validation": "dev", "train": "dev", "test": "test"}
# The numbers of LoCoMo's file; 5 is adversarial: a question whose answer is not there, so there is no gold.
LOCOMO_TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_LOCOMO_TURN = re.compile(r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)")
_LOCOMO_SESSION = re.compile(r"session_(\d+)")
# How LongMemEval ends the id of a question whose answer is not in its history: there is no gold for it.
ABSTENTION = "_abs"
# LongMemEval has files of gigabytes.
MOST_MB = 16_384
# How the dates of chat sessions are written.
LOCOMO_DATE, LONGMEMEVAL_DATE = "%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M"


def musique(questions: Rows, data: NewDataset) -> None:
    """MuSiQue: questions with `paragraphs`, each marked `is_supporting`; a new paragraph is added to the corpus."""
    for row in questions:
        if row.get("answerable") is False:
            continue
        gold = []
        for paragraph in row["paragraphs"]:
            document = data.document(paragraph["title"], paragraph.get("paragraph_text") or paragraph["text"])
            if paragraph.get("is_supporting"):
                gold.append(document)
        kind = row["id"].split("__")[0]
        hops = int(kind[0]) if kind[:1].isdigit() else len(set(gold))
        data.query(row["id"], row["question"], gold, hops=hops, type=kind, answer=row.get("answer"))


def hotpot(questions: Rows, data: NewDataset) -> None:
    """HotpotQA, 2WikiMultiHopQA: a `context` of titles and sentences, and `supporting_facts`, as pairs or as lists."""
    for row in questions:
        name = row.get("_id") or row["id"]
        documents: dict[str, str] = {}
        for title, sentences in _pairs(row["context"], "title", "sentences"):
            # HotpotQA's sentences carry their own spaces, 2WikiMultiHopQA's do not.
            text = " ".join(sentence.strip() for sentence in sentences if sentence.strip())
            documents.setdefault(title, data.document(title, text))
        gold = []
        for title, _ in _pairs(row["supporting_facts"], "title", "sent_id"):
            if title not in documents:
                raise HopgateError(f"the question {name!r} is supported by {title!r}, which its context lacks")
            gold.append(documents[title])
        data.query(name, row["question"], gold, type=row.get("type"), answer=row.get("answer"))


def _pairs(value: Any, first: str, second: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(zip(value[first], value[second], strict=True))
    return [(pair[0], pair[1]) for pair in value]


def locomo(conversations: Rows, data: NewDataset) -> None:
    """LoCoMo: every turn of a conversation is a memory in its scope, with the answerable questions about them.

    A few questions name turns that do not exist; those turns are left out, and the question too when none is left.
    """
    for row in conversations:
        scope, conversation = str(row["sample_id"]), row["conversation"]
        turns = {}
        for session in filter(_LOCOMO_SESSION.fullmatch, conversation):
            when = _instant(conversation[f"{session}_date_time"], LOCOMO_DATE)
            for turn in conversation[session]:
                name = turns[turn["dia_id"]] = f"{scope}/{turn['dia_id']}"
                photo = f" [shares a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                text = f"{turn['speaker']}: {turn['text']}{photo}"
                data.turn(name, text, scope=scope, category=session, created_at=when, thread=f"{scope}/{session}")
        for number, asked in enumerate(row["qa"]):
            named = [pair for text in asked.get("evidence", ()) for pair in _LOCOMO_TURN.findall(text)]
            gold = [turns[turn] for session, place in named if (turn := f"D{session}:{place}") in turns]
            kind, answer = LOCOMO_TYPES.get(asked["category"]), asked.get("answer")
            if kind and gold:
                data.query(f"{scope}/q{number}", asked["question"], gold, scope=scope, type=kind, answer=answer)


def longmemeval(questions: Rows, data: NewDataset) -> None:
    """LongMemEval: every turn of a question's own history is a memory in its scope.

    Gold are the turns marked `has_answer`; where none is, all turns of the sessions that answer.
    """
    for row in questions:
        scope = str(row["question_id"])
        if scope.endswith(ABSTENTION):
            continue
        marked, answering = list[str](), list[str]()
        sessions = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
        for session, date, turns in sessions:
            thread = f"{scope}/{session}"
            for number, turn in enumerate(turns):
                name = f"{thread}/{number}"
                if name in data.corpus or not turn["content"].strip():
                    continue
                when = _instant(date, LONGMEMEVAL_DATE)
                data.turn(name, f"{turn['role']}: {turn['content']}", scope=scope, thread=thread, created_at=when)
                marked += [name] if turn.get("has_answer") else []
                answering += [name] if session in row["answer_session_ids"] else []
        kind, answer = row["question_type"], str(row["answer"])
        data.query(scope, row["question"], marked or answering, scope=scope, type=kind, answer=answer)


def _instant(text: str, form: str) -> str:
    try:
        return utc(datetime.strptime(text.strip(), form)).isoformat()
    except ValueError:
        raise HopgateError(f"a session's date must read like {form!r}, not {text!r}") from None


def collection(corpus: Path, queries: Path, judged: Mapping[str, Path], data: NewDataset) -> None:
    """A corpus, and the queries that have a relevant document in it, as others cannot be scored, by their splits."""
    asked = read_queries(queries) if queries.suffix == ".jsonl" else _topics(queries)
    memories = read_source(corpus, "jsonl", ReadOptions(keep_unknown=True)).memories
    data.corpus |= {memory.external_id: to_record(memory) for memory in memories}
    for split, path in judged.items():
        for query, gold in read_qrels(path).items():
            if not relevant(gold):
                continue
            if query not in asked:
                raise HopgateError(f"{path} judges the query {query!r}, which {queries} lacks")
            if unknown := [document for document in gold if document not in data.corpus]:
                raise HopgateError(f"{path} judges the document {unknown[0]!r}, which the corpus lacks")
            data.add(asked[query], gold)
            if len(judged) > 1:  # a set with one split is divided like any other
                data.split_of[query] = DEV_OF.get(split, split)
    if not data.queries:
        raise HopgateError(f"no query of {queries} has a relevant document: there are no judgements of any")


def _topics(path: Path) -> dict[str, Query]:
    """Read lines of an id, a tab and a text."""
    queries = {}
    for number, line in text_lines(path):
        name, _, text = (part.strip() for part in line.partition("\t"))
        if not name or not text:
            refuse(path, number, "a topic is an id, a tab and a text")
        queries[name] = Query(name, text)
    return queries


QUESTIONS: Mapping[str, Callable[[Rows, NewDataset], None]] = {
    "musique": musique,
    "2wiki": hotpot,
    "hotpotqa": hotpot,
    "locomo": locomo,
    "longmemeval": longmemeval,
}
LAYOUTS = ("beir", "trec", *QUESTIONS)


def import_dataset(
    layout: str, source: Path, out: Path, *, corpus: Path | None = None, queries: Path | None = None, dev: float = 0.5
) -> Dataset:
    """Turn a public file into a BEIR folder that is new or empty, and read that back with every check.

    The source is a file of questions, as a JSON list or as JSON lines; for `beir` a folder, which keeps its splits
    where it has several; for `trec` judgements, which need a `corpus.jsonl`, and as queries a `queries.jsonl` or lines
    of an id, a tab and a text.
    """
    data = NewDataset()
    if layout not in LAYOUTS:
        raise HopgateError(f"there is no importer for {layout!r}: use one of {', '.join(LAYOUTS)}")
    if layout == "trec":
        if corpus is None or queries is None:
            raise HopgateError("the layout trec has only judgements: give the corpus and the queries they are about")
        collection(corpus, queries, {"": source}, data)
    elif corpus or queries:
        raise HopgateError(f"the layout {layout} carries its own corpus and queries: leave those out")
    elif layout == "beir":
        judged = {path.stem: path for path in sorted((source / "qrels").glob("*.tsv"))}
        if {"dev", "validation"} & judged.keys():
            judged.pop("train", None)
        collection(source / "corpus.jsonl", source / "queries.jsonl", judged, data)
    else:
        lines = source.suffix == ".jsonl"
        rows = [row for _, row in json_lines(source)] if lines else read_json(source, MOST_MB)
        try:
            QUESTIONS[layout](rows, data)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            reason = f"is not in the layout of {layout}: {type(error).__name__} {error}"
            raise HopgateError(f"{source} {reason}") from None
    return write_dataset(out, data, dev)
