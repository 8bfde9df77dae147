"""One's own questions about a store: candidates pooled from every leg, and the judged ones as queries and qrels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import in_dev
from hopgate.eval.data.qrels import write_tsv
from hopgate.eval.data.questions_file import OwnQuestion
from hopgate.memory import cleared

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

# Candidates of each leg: with three legs that differ, some twenty boxes a question, which a person reads in a minute.
POOLED = 8


def store_texts(kb: KnowledgeBase) -> dict[str, str]:
    """The texts that may be shown, by id: those that the sensitivity guard lets pass."""
    return dict(cleared((memory.external_id, memory) for memory in kb.export()))


def with_candidates(kb: KnowledgeBase, questions: Sequence[OwnQuestion], *, depth: int = POOLED) -> list[OwnQuestion]:
    """Add what each leg finds first to the questions that have no candidates yet.

    Every leg gives as many, and they are put in an order that says nothing: who ticks must not see which leg found
    what. Sensitive memories are left out.
    """
    names, texts = kb.id_map(), store_texts(kb)
    pooled = []
    for question in questions:
        if question.candidates:
            pooled.append(question)
            continue
        legs, _ = kb.legs(question.text, exact=True)
        found = {names[key] for leg in legs.found.values() for key, _ in leg[:depth]} & texts.keys()
        order = sorted(found, key=lambda memory: hashlib.sha256(f"{question.text}\0{memory}".encode()).digest())
        pooled.append(replace(question, candidates=dict.fromkeys(order, False)))
    return pooled


def write_judged(
    folder: Path, questions: Sequence[OwnQuestion], known: Sequence[str], *, dev: float = 0.5
) -> tuple[int, int]:
    """Write the judged questions as `queries.jsonl` and `qrels/`, for `hopgate gate FOLDER --store`.

    Returns
    -------
    tuple of int
        How many were written, and how many had no box ticked.
    """
    judged = [question for question in questions if question.gold]
    unknown = {memory for question in judged for memory in question.gold} - set(known)
    if unknown:
        raise HopgateError(f"the store has no memory {min(unknown)!r}: correct its id in the questions")
    if not judged:
        raise HopgateError("no box is ticked: put an x into the boxes of the memories that answer a question")
    names = {question.text: f"q-{hashlib.sha256(question.text.encode()).hexdigest()[:10]}" for question in judged}
    rows = [
        {"_id": names[question.text], "text": question.text, "metadata": {"hops": len(question.gold)}}
        for question in judged
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    for split, wanted in (("dev", True), ("test", False)):
        qrels = {
            names[question.text]: question.gold for question in judged if in_dev(names[question.text], dev) is wanted
        }
        path = folder / "qrels" / f"{split}.tsv"
        path.unlink(missing_ok=True)
        if qrels:
            write_tsv(path, qrels)
    return len(judged), len(questions) - len(judged)
