"""LongMemEval: questions, each with its own history of dated chat sessions and the turns that answer it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.data.new_dataset import NewDataset
from hopgate.times import utc

# The id of a question whose answer is not in its history: there is no gold for it.
ABSTENTION = "_abs"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?:\s*\(\w+\))?(?:\s+(\d{1,2}):(\d{2}))?")


def gather(questions: Iterable[dict[str, Any]], data: NewDataset) -> None:
    """Add every turn as a memory in its question's scope, and every question that has an answer.

    Gold are the turns marked `has_answer`; where none is, all turns of the sessions that answer.

    Examples
    --------
    >>> data = NewDataset()
    >>> turns = [{"role": "user", "content": "I got a cat.", "has_answer": True}]
    >>> gather([{"question_id": "q", "question_type": "t", "question": "Pet?", "answer": "cat"} | {
    ...     "haystack_session_ids": ["s"], "haystack_dates": ["2023/05/20 (Sat) 02:21"], "haystack_sessions": [turns],
    ...     "answer_session_ids": ["s"]}], data)
    >>> data.gold, data.corpus["q/s/0"]["metadata"]["created_at"]
    ({'q': {'q/s/0': 1}}, '2023-05-20T02:21:00+00:00')
    """
    for row in questions:
        name = str(row["question_id"])
        if name.endswith(ABSTENTION):
            continue
        marked, answering = list[str](), list[str]()
        sessions = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
        for session, date, turns in sessions:
            for number, turn in enumerate(turns):
                key = f"{name}/{session}/{number}"
                if key in data.corpus or not turn["content"].strip():
                    continue
                metadata = {"scope": name, "thread": f"{name}/{session}", "created_at": _instant(date)}
                text = f"{turn['role']}: {turn['content']}"
                data.corpus[key] = {"_id": key, "title": "", "text": text, "metadata": metadata}
                marked += [key] if turn.get("has_answer") else []
                answering += [key] if session in row["answer_session_ids"] else []
        kind, answer = row["question_type"], str(row["answer"])
        data.query(name, row["question"], marked or answering, scope=name, type=kind, answer=answer)


def _instant(text: str) -> str:
    found = _DATE.fullmatch(text.strip())
    try:
        if found:
            return utc(datetime(*(int(part or 0) for part in found.groups()))).isoformat()  # type: ignore[arg-type]
    except ValueError:
        pass
    raise HopgateError(f"a session's date must read like '2023/05/20 (Sat) 02:21', not {text!r}")
