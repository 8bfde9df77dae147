"""A file of one's own questions, to be filled in by hand: a heading a question, and candidates to tick.

    ## Where is the machine behind Gitea?
    - [x] m1 · Gitea runs on birch.
    - [ ] m9 · Gitea needs 2 GiB of memory.

It is Markdown, so that any editor and any forge shows the boxes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.jsonl import refuse

HEAD = """\
# Questions about your memories

Write a question after each ##, in the words in which you would ask it, before you look for the answer: questions made
from an answer are easier than those that come up. Ask about what takes two memories to answer, too. Then run the same
command again: it adds candidates, in no particular order. Put an x into the box of every one that answers the question
or part of it, and add a line of your own for what is missing.
"""
BLANK = "\n## \n" * 10
_QUESTION = re.compile(r"##\s*(.*)")
# An id may hold spaces, as the path of a note does; the first point between spaces ends it.
_CANDIDATE = re.compile(r"-\s*\[([ xX])\]\s+(\S.*?)(?:\s+·(?:\s.*)?)?")


@dataclass(frozen=True)
class OwnQuestion:
    """A question with its candidates.

    Parameters
    ----------
    text : str
    candidates : mapping of memory id to bool
        Whether each was ticked.
    """

    text: str
    candidates: Mapping[str, bool]

    @property
    def gold(self) -> dict[str, int]:
        """The memories that answer it."""
        return {memory: 1 for memory, ticked in self.candidates.items() if ticked}


def read_questions(path: Path) -> list[OwnQuestion]:
    """Read the questions; headings without a text are left out.

    Raises
    ------
    HopgateError
        For a question that stands twice, or a box that cannot be read, naming file and line.
    """
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
    """Write questions with their boxes, and with room for more.

    Examples
    --------
    >>> text = questions_text([OwnQuestion("Who?", {"m1": True})], {"m1": "Bea waters the plants."})
    >>> [line for line in text.splitlines() if line.startswith(("##  ", "## W", "-"))]
    ['## Who?', '- [x] m1 · Bea waters the plants.']
    """
    parts = [HEAD]
    for question in questions:
        boxes = [
            f"- [{'x' if ticked else ' '}] {memory} · {' '.join(texts.get(memory, '').split())[:200]}"
            for memory, ticked in question.candidates.items()
        ]
        parts.append("\n".join([f"\n## {question.text}\n", *boxes]) + "\n")
    return "".join(parts) + BLANK
