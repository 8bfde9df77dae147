"""JSON as language models write it: inside prose or fences, after a thought, cut off, with a comma too many."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from hopgate.expressions import expression

_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
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
    text, opened = _closed_thoughts_out(text)
    if opened is not None:
        return text[:opened].strip(), True
    # A chat template may have opened the thought in the prompt already.
    return text.rpartition("</think>")[2].strip(), False


def _closed_thoughts_out(text: str) -> tuple[str, int | None]:
    """Take out each thought up to its own end; give the rest, and where in it one is open that has none.

    By hand, and not by one expression: that would look for the end of each of a thousand open ones anew.
    """
    tags = [(tag.start(), tag.end(), bool(tag[1]), tag[2].lower()) for tag in _THOUGHT_TAG.finditer(text)]
    last_end = {name: start for start, _, closes, name in tags if closes}
    kept: list[str] = []
    at, inside, opened = 0, "", None
    for start, end, closes, name in tags:
        if inside:
            if closes and name == inside:
                at, inside = end, ""
        elif not closes:
            if last_end.get(name, -1) > start:
                kept.append(text[at:start])
                inside = name
            elif opened is None:
                opened = sum(map(len, kept)) + start - at
    kept.append(text[at:])
    return "".join(kept), opened


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
        # By way of JSON: Python's brackets also write sets, which are no object, and bytes, which are no text.
        return json.loads(json.dumps(ast.literal_eval(expression(text))))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
