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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query, divide, write_queries
from hopgate.eval.data.runs import read_qrels, write_qrels
from hopgate.jsonl import refuse
from hopgate.memory import cleared

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
_QUESTION = re.compile(r"##\s*(.*)")
# An id may hold spaces, as the path of a note does; the first point between spaces ends it.
_CANDIDATE = re.compile(r"-\s*\[([ xX])\]\s+(\S.*?)(?:\s+·(?:\s.*)?)?")

Pool: TypeAlias = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Question → memory → leg → rank: who found what. It is kept beside the file, and whoever ticks does not see it."""


@dataclass(frozen=True)
class OwnQuestion:
    """A question with the ids of its candidates, and whether each was ticked."""

    text: str
    candidates: Mapping[str, bool]

    @property
    def gold(self) -> dict[str, int]:
        """The memories that answer it."""
        return {memory: 1 for memory, ticked in self.candidates.items() if ticked}


def read_questions(path: Path) -> list[OwnQuestion]:
    """Read the questions; headings without a text are left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HopgateError(f"{path} cannot be read: {error}") from None
    found: list[tuple[str, dict[str, bool]]] = []
    for number, line in enumerate(lines, start=1):
        if heading := _QUESTION.fullmatch(line.strip()):
            text = heading[1].strip()
            if text and any(text == other for other, _ in found):
                refuse(path, number, f"the question {text!r} stands twice")
            found.append((text, {}))
        elif line.lstrip().startswith("- ["):
            box = _CANDIDATE.fullmatch(line.strip())
            if box is None or not found:
                refuse(path, number, "a candidate stands below a question and is written like '- [ ] id · text'")
            found[-1][1][box[2]] = box[1] != " "
    return [OwnQuestion(text, boxes) for text, boxes in found if text]


def questions_text(questions: Sequence[OwnQuestion], texts: Mapping[str, str]) -> str:
    """Write questions with their boxes, and with room for more."""
    parts = [HEAD]
    for question in questions:
        boxes = [
            f"- [{'x' if ticked else ' '}] {memory} · {' '.join(texts.get(memory, '').split())[:200]}"
            for memory, ticked in question.candidates.items()
        ]
        parts.append("\n".join([f"\n## {question.text}\n", *boxes]) + "\n")
    return "".join(parts) + BLANK


def with_candidates(
    kb: KnowledgeBase, questions: Sequence[OwnQuestion]
) -> tuple[list[OwnQuestion], Pool, Mapping[str, str]]:
    """Add what each leg finds first to the questions that have no candidates yet, and say who found what.

    Every leg gives as many, whether the store's own settings use it or not, and so does recall with these settings.
    They are put in an order that says nothing: who ticks must not see which leg found what. Gives the texts that may be
    shown, too: those that the sensitivity guard lets pass.
    """
    texts = dict(cleared((memory.external_id, memory) for memory in kb.export()))
    names, settings = kb.id_map(), kb.settings(lexical=1, dense=1, graph=1)
    pool: dict[str, dict[str, dict[str, int]]] = {}
    for text in (question.text for question in questions if not question.candidates):
        legs, _ = kb.legs(text, settings=settings, exact=True)
        lists = {leg: [names[key] for key, _ in found] for leg, found in legs.found.items()}
        lists["recall"] = [hit.external_id for hit in kb.recall(text, k=POOLED)]
        found_by = pool.setdefault(text, {})
        for leg, ranked in lists.items():
            for rank, memory in enumerate(ranked[:POOLED], 1):
                if memory in texts:
                    found_by.setdefault(memory, {})[leg] = rank

    def filled(question: OwnQuestion) -> OwnQuestion:
        found = pool.get(question.text, {})
        order = sorted(found, key=lambda memory: hashlib.sha256(f"{question.text}\0{memory}".encode()).digest())
        return replace(question, candidates=question.candidates or dict.fromkeys(order, False))

    return [filled(question) for question in questions], pool, texts


def keep_pool(questions: Path, new: Pool) -> None:
    """Keep who found what for `questions.md` beside it, in `questions.pool.json`."""
    path = questions.with_suffix(".pool.json")
    try:
        pool = {**(json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}), **new}
    except (OSError, ValueError, TypeError) as error:
        raise HopgateError(f"{path} cannot be read ({error}): restore it, or remove it") from None
    path.write_text(json.dumps(pool, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_judged(
    folder: Path, questions: Sequence[OwnQuestion], known: Collection[str], *, dev: float = 0.5
) -> tuple[int, int]:
    """Write the judged questions as `queries.jsonl` and `qrels/`, for `hopgate gate FOLDER --store`.

    A candidate without a tick is judged with the grade 0. A question keeps the split that it has in the folder already.
    Gives how many were written, and how many had no box ticked.
    """
    queries: dict[str, Query] = {}
    grades: dict[str, dict[str, int]] = {}
    for question in questions:
        if unknown := question.gold.keys() - set(known):
            raise HopgateError(f"the store has no memory {min(unknown)!r}: correct its id in the questions")
        if question.gold:
            name = f"q-{hashlib.sha256(question.text.encode()).hexdigest()[:10]}"
            queries[name] = Query(name, question.text, {"hops": len(question.gold)})
            grades[name] = {memory: int(ticked) for memory, ticked in question.candidates.items() if memory in known}
    if not queries:
        raise HopgateError("no box is ticked: put an x into the boxes of the memories that answer a question")
    paths = [folder / "qrels" / f"{split}.tsv" for split in ("dev", "test")]
    given = {name: path.stem for path in paths if path.exists() for name in read_qrels(path)}
    splits = divide(queries, grades, dev, given=given)
    folder.mkdir(parents=True, exist_ok=True)
    write_queries(folder, queries.values())
    for path in paths:
        path.unlink(missing_ok=True)
        if path.stem in splits:
            write_qrels(path, splits[path.stem])
    return len(queries), len(questions) - len(queries)
