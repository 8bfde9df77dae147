"""JSON as language models write it: inside prose or fences, after a thought, cut off, with a comma too many."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_COMMA = re.compile(r",(\s*[}\]])")
_OPENING = re.compile(r"[{\[]")
_MOST_TRIES = 20  # prose with more brackets than this before its JSON is not an answer
_CLOSERS = {"{": "}", "[": "]"}


def without_thoughts(text: str) -> tuple[str, bool]:
    """Take a model's thoughts out of its answer; also return whether the last one was left open.

    Examples
    --------
    >>> without_thoughts("<think>hm</think>{}"), without_thoughts("<think>hm, so")
    (('{}', False), ('', True))
    """
    text = _THOUGHT.sub("", text)
    opened = _OPEN_THOUGHT.search(text)
    if opened:
        return text[: opened.start()].strip(), True
    # A chat template may have opened the thought in the prompt already.
    return text.rpartition("</think>")[2].strip(), False


def first_json(text: str, keys: tuple[str, ...] = ()) -> tuple[Any, bool] | None:
    """Return the first JSON object or list in a text, and whether it was cut off; None where there is none.

    An object with one of the `keys` goes before what has none of them.

    Examples
    --------
    >>> first_json('Sure! {"a": [1, 2,]} Anything else?')
    ({'a': [1, 2]}, False)
    >>> first_json('{"facts": [{"subject": "a"}, {"subj')
    ({'facts': [{'subject': 'a'}]}, True)
    >>> first_json("I cannot help with that.") is None
    True
    """
    first: tuple[Any, bool] | None = None
    at = tries = 0
    while tries < _MOST_TRIES and (opening := _OPENING.search(text, at)):
        start = opening.start()
        end, kept = _extent(text, start)
        whole = text[start:end] if end is not None else text[start : kept[0]] + kept[1] if kept else ""
        value = _lenient(whole)
        at, tries = start + 1, tries + 1
        if isinstance(value, dict | list):
            if isinstance(value, dict) and any(key in value for key in keys):
                return value, end is None
            first = first or (value, end is None)
            at = end if end is not None else len(text)
    return first


def _extent(text: str, start: int) -> tuple[int | None, tuple[int, str] | None]:
    """Find where the value that opens at `start` ends; else where its last whole element does, and what closes it."""
    stack: list[str] = []
    quoted = escaped = False
    kept: tuple[int, str] | None = None
    for at in range(start, len(text)):
        mark = text[at]
        if quoted:
            quoted = escaped or mark != '"'
            escaped = mark == "\\" and not escaped
        elif mark == '"':
            quoted = True
        elif mark in "{[":
            stack.append(mark)
            if len(stack) == 1:
                kept = (at + 1, _CLOSERS[mark])
        elif mark in "}]" and stack:
            stack.pop()
            if not stack:
                return at + 1, None
            kept = (at + 1, "".join(_CLOSERS[opened] for opened in reversed(stack)))
    return None, kept


def _lenient(text: str) -> Any:
    """Read JSON; forgive commas before brackets, raw line ends in strings, and Python's quotes."""
    for attempt in (text, _COMMA.sub(r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
