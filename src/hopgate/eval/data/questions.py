"""One's own questions about a store: a file to fill in by hand, candidates of every leg to tick, queries and qrels.

    ## Where is the machine behind Gitea?
    - [x] m1 · Gitea runs on birch.
    - [ ] m9 · Gitea needs 2 GiB of memory.

It is Markdown, so that any editor and any forge shows the boxes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import NewDataset, Query, write_questions
from hopgate.eval.data.runs import read_qrels
from hopgate.jsonl import refuse
from hopgate.memory import cleared
from hopgate.sources.source import read_json, read_utf8

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

HEAD = """\
# Questions about your memories

Write a question after each ##, in the words in which you would ask it, before you look for the answer: questions made
from an answer are easier than those that come up. Ask about what takes two memories to answer, too. Then run the same
command again: it adds candidates, in no particular order. Put an x into the box of every one that answers the question
or part of it, and add a line of your own for what is missing.
"""
BLANK = "\n## \n" * 10
# Candidates of each leg: with legs that differ some twenty-five boxes, which a person reads in a minute or two.
POOLED = 10
MOST_MB = 64
_QUESTION = re.compile(r"##\s*(.*)")
# An id may hold spaces, as the path of a note does; the first point between spaces ends it.
_CANDIDATE = re.compile(r"-\s*\[([ xX])\]\s+(\S.*?)(?:\s+·(?:\s.*)?)?")

Questions: TypeAlias = Mapping[str, Mapping[str, bool]]
"""Question → the ids of its candidates, and whether each was ticked."""


def read_questions(path: Path) -> dict[str, dict[str, bool]]:
    """Read the questions; headings without a text are left out."""
    questions: dict[str, dict[str, bool]] = {}
    boxes: dict[str, bool] | None = None
    for number, line in enumerate(read_utf8(path, MOST_MB).splitlines(), start=1):
        if heading := _QUESTION.fullmatch(line.strip()):
            text, boxes = heading[1].strip(), {}
            if text in questions:
                refuse(path, number, f"the question {text!r} stands twice")
            if text:
                questions[text] = boxes
        elif line.lstrip().startswith("- ["):
            box = _CANDIDATE.fullmatch(line.strip())
            if box is None or boxes is None:
                refuse(path, number, "a candidate stands below a question and is written like '- [ ] id · text'")
            boxes[box[2]] = box[1] != " "
    return questions


def questions_text(questions: Questions, texts: Mapping[str, str]) -> str:
    """Write questions with their boxes, and with room for more."""
    parts = [HEAD]
    for question, boxes in questions.items():
        lines = [
            f"- [{'x' if ticked else ' '}] {memory} · {' '.join(texts.get(memory, '').split())[:200]}"
            for memory, ticked in boxes.items()
        ]
        parts.append("\n".join([f"\n## {question}\n", *lines]) + "\n")
    return "".join(parts) + BLANK


def add_candidates(kb: KnowledgeBase, path: Path, questions: Questions) -> None:
    """Write a file of questions again, with what each leg finds first for those that have no candidates yet.

    Every leg gives as many, whether the store's own settings use it or not, and so does recall with these settings.
    They are put in an order that says nothing: who ticks must not see which leg found what. That is kept beside the
    file, in `questions.pool.json`: question → memory → leg → rank. What the sensitivity guard holds back is in neither.
    """
    beside = path.with_suffix(".pool.json")
    pool = read_json(beside, MOST_MB) if beside.exists() else {}
    texts = dict(cleared((memory.external_id, memory) for memory in kb.export()))
    names, settings = kb.id_map(), kb.settings(lexical=1, dense=1, graph=1)
    for text in [text for text, boxes in questions.items() if not boxes]:
        legs, _ = kb.legs(text, settings=settings, exact=True)
        lists = {leg: [names[key] for key, _ in hits] for leg, hits in legs.found.items()}
        lists["recall"] = [hit.external_id for hit in kb.recall(text, k=POOLED)]
        ranks: dict[str, dict[str, int]] = {}
        for leg, ranked in lists.items():
            for rank, memory in enumerate(ranked[:POOLED], 1):
                if memory in texts:
                    ranks.setdefault(memory, {})[leg] = rank
        pool[text] = ranks
        order = sorted(ranks, key=lambda memory: hashlib.sha256(f"{text}\0{memory}".encode()).digest())
        questions = {**questions, text: dict.fromkeys(order, False)}
    beside.write_text(json.dumps(pool, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    path.write_text(questions_text(questions, texts), encoding="utf-8")


def write_judged(folder: Path, questions: Questions, known: Collection[str], *, dev: float = 0.5) -> int:
    """Write the judged questions as `queries.jsonl` and `qrels/`, for `hopgate gate FOLDER --store`; give how many.

    A candidate without a tick is judged with the grade 0. A question keeps the split that it has in the folder already.
    """
    data = NewDataset()
    for text, boxes in questions.items():
        gold = [memory for memory, ticked in boxes.items() if ticked]
        if unknown := set(gold).difference(known):
            raise HopgateError(f"the store has no memory {min(unknown)!r}: correct its id in the questions")
        if gold:
            name = f"q-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
            grades = {memory: int(ticked) for memory, ticked in boxes.items() if memory in known}
            data.add(Query(name, text, {"hops": len(gold)}), grades)
    if not data.queries:
        raise HopgateError("no box is ticked: put an x into the boxes of the memories that answer a question")
    for path in (folder / "qrels").glob("*.tsv"):
        data.split_of |= dict.fromkeys(read_qrels(path), path.stem)
    write_questions(folder, data, dev)
    return len(data.queries)
