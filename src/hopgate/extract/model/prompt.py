"""The one form in which a model is asked: about several memories at once, each with what it needs beside its text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

from hopgate.extract.extraction import OWNER, Source

_TEXTS: dict[str, Any] = tomllib.loads(
    resources.files("hopgate.extract.model").joinpath("prompts.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class Question:
    """What is asked of each of several memories.

    Parameters
    ----------
    task : str
        What the model is told to do with each memory.
    example : pair of lists
        Memories as they are asked about, and the entries that answer them.
    properties : dict
        The JSON schema of an entry's properties beside its id, all of them required.

    Examples
    --------
    >>> count = Question("Count its words.", ([{"text": "Ada sings."}], [{"words": 2}]), {"words": {"type": "integer"}})
    >>> [message["role"] for message in count.chat([{"text": "It hums."}])]
    ['system', 'user', 'assistant', 'user']
    >>> count.chat([{"text": "It hums."}])[-1]["content"]
    '[{"id": "1", "text": "It hums."}]'
    """

    task: str
    example: tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]
    properties: dict[str, Any]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""
        entry = _object({"id": _TEXT, **self.properties}, required=("id", *self.properties))
        return _object({"memories": {"type": "array", "items": entry}}, required=("memories",))

    def chat(self, rows: Sequence[dict[str, Any]], more: str = "") -> list[dict[str, str]]:
        """The chat that asks about these rows; all but its last message is the same for all rows.

        Parameters
        ----------
        rows : sequence of dict
            Memories as `row_of` gives them; their ids are 1, 2, ….
        more : str
            What is added to the task: which kinds and relations are wanted.
        """
        asked, answered = self.example
        answer = json.dumps({"memories": _numbered(answered)}, ensure_ascii=False)
        return [
            {"role": "system", "content": f"{_TEXTS['entries']}{self.task} {more}".strip()},
            {"role": "user", "content": json.dumps(_numbered(asked), ensure_ascii=False)},
            {"role": "assistant", "content": answer},
            {"role": "user", "content": json.dumps(_numbered(rows), ensure_ascii=False)},
        ]

    def identity(self, more: str = "") -> tuple[str, str]:
        """The prompt and the grammar, each as one string: parts of the key under which answers are cached."""
        return json.dumps(self.chat((), more), ensure_ascii=False), json.dumps(self.schema, sort_keys=True)


def row_of(source: Source) -> dict[str, Any]:
    """A memory as a model is told of it.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> row_of(Source("m1", Cleared("I moved."), owner="Ada"))
    {'text': 'I moved.', 'says_I': 'Ada'}
    """
    row: dict[str, Any] = {"text": source.text}
    if source.created_at:
        row["written"] = source.created_at.date().isoformat()
    if source.owner != OWNER:
        row["says_I"] = source.owner
    if source.before:
        row["before"] = list(source.before)
    return row


def _numbered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": str(number), **row} for number, row in enumerate(rows, start=1)]


def _object(properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


_TEXT = {"type": "string"}
# No string has a maxLength: a grammar spells a length limit out as states, which makes sampling slow. Over-long names
# are dropped in `answer` instead. 48 items of each are more than a short memory holds and stop endless lists.
_MOST = 48
_FACT = ("subject", "relation", "object", "valid_from", "valid_to")


def _list_of(items: dict[str, Any], most: int = _MOST) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": items}


def _question(name: str, properties: dict[str, Any]) -> Question:
    row = _TEXTS[name]
    return Question(row["task"], (row["asked"], row["answered"]), properties)


EXTRACT = _question(
    "extract",
    {
        "mentions": _list_of(_object({"name": _TEXT, "kind": _TEXT}, required=("name", "kind"))),
        "facts": _list_of(_object(dict.fromkeys(_FACT, _TEXT), required=_FACT[:3])),
    },
)
ENDS = _question("ends", {"ended": _list_of({"type": "integer"}, most=16), "since": _TEXT})
