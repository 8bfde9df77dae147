"""JSON as language models write it: inside prose or fences, after a thought, cut off, with a comma too many."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, NamedTuple

from hopgate.options import expression

_OPENS = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_CLOSES = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_COMMA = re.compile(r",(\s*[}\]])")
_OPENING = re.compile(r"[{\[]")
_MOST_TRIES = 20  # prose with more brackets than this before its JSON is not an answer
_CLOSERS = {"{": "}", "[": "]"}
# What an answer has, and what an entry that stands alone has.
_KEYS = ("memories", "mentions", "facts", "statements", "ended")


class Entries(NamedTuple):
    """What a model answered about several memories: the entries by their ids, and why there are none or not all."""

    by_id: dict[str, dict[str, Any]]
    problem: str = ""
    is_cut: bool = False


def read_entries(answer: str, count: int, *, cut: bool = False) -> Entries:
    """Read the entries of an answer about `count` memories, whose ids are 1, 2, ….

    Of several the last one is left out where the answer was cut, since it may have lost its end. About one memory a
    model may answer without a list and an id.

    Parameters
    ----------
    cut : bool
        Whether the model was stopped at its length limit.

    Examples
    --------
    >>> read_entries('{"memories": [{"id": "1", "facts": []}, {"id": "2"}, {"id": 2}]}', 2).by_id
    {'1': {'id': '1', 'facts': []}}
    >>> read_entries('{"facts": [{"subject": "Ada"}, {"sub', 1)
    Entries(by_id={'1': {'facts': [{'subject': 'Ada'}]}}, problem='the JSON was cut off', is_cut=True)
    >>> read_entries("I am only a model.", 1).problem
    'the answer holds no JSON'
    """
    text, thinking = without_thoughts(answer)
    parsed = first_json(text, _KEYS)
    if parsed is None:
        if thinking:
            return Entries({}, "the model was still thinking when it stopped", is_cut=True)
        if cut:
            return Entries({}, "the answer was cut before any JSON was whole", is_cut=True)
        return Entries({}, "the answer holds no JSON" if text else "the answer is blank")
    value, broken = parsed
    if isinstance(value, dict) and ("$schema" in value or "properties" in value):
        return Entries({}, "the answer is the schema, echoed")
    problem = "stopped at the length limit" if cut else "the JSON was cut off" if broken else ""
    listed = value.get("memories") if isinstance(value, dict) else value
    if count == 1:
        first = listed[0] if isinstance(listed, list) and listed else value
        return Entries({"1": first} if isinstance(first, dict) else {}, problem, bool(problem))
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if problem and entries:
        entries.pop()
    ids = [str(entry.get("id")) for entry in entries]
    # An id that comes twice says nothing about which of the two was meant.
    return Entries(
        {key: entry for key, entry in zip(ids, entries, strict=True) if ids.count(key) == 1}, problem, bool(problem)
    )


def without_thoughts(text: str) -> tuple[str, bool]:
    """Take a model's thoughts out of its answer; also return whether the last one was left open.

    Examples
    --------
    >>> without_thoughts("<think>hm</think>{}"), without_thoughts("<think>hm, so")
    (('{}', False), ('', True))
    """
    # A chat template may have opened the thought in the prompt already.
    end = max((match.end() for match in _CLOSES.finditer(text)), default=0)
    opened = _OPENS.search(text, end)
    return text[end : opened.start() if opened else None].strip(), opened is not None


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
