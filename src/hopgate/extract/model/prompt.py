"""The one form in which a model is asked: about several memories at once, each with what it needs beside its text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hopgate.extract.extraction import OWNER, Source

_ENTRIES = (
    'You get memories as a JSON list, each with an id and a text, and where they are known the day it was "written", '
    'who "says_I" in it, and in "before" the turns of the conversation just before it, which serve only to know who '
    "and what is meant. Treat each memory by itself, as if it were alone, and use nothing that is not in it. "
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
            {"role": "system", "content": f"{_ENTRIES}{self.task} {more}".strip()},
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

EXTRACT = Question(
    'Write down what each memory says. "mentions": every person, organisation, place, project, tool, device, event, '
    "date and topic that the text names, spelled exactly as in the text, each with a short kind. "
    '"facts": what the text itself says about two of them, as subject, relation, object; the relation is a short verb '
    'phrase; "I" is called by the name of who says it, where that is given; "valid_from" and "valid_to" are ISO dates, '
    'given only where the text dates the fact, "yesterday" and the like counted from the day it was written. '
    "Write each fact once. Where there is nothing to write, both lists are empty.",
    (
        [
            {
                "text": "Photo backups: Immich moved from the old laptop to tern-2 yesterday. I maintain it.",
                "written": "2024-03-05",
                "says_I": "Priya",
            },
            {"text": "ok, thanks, talk later!"},
        ],
        [
            {
                "mentions": [
                    {"name": "Immich", "kind": "tool"},
                    {"name": "old laptop", "kind": "device"},
                    {"name": "tern-2", "kind": "host"},
                    {"name": "Priya", "kind": "person"},
                ],
                "facts": [
                    {"subject": "Immich", "relation": "runs on", "object": "old laptop", "valid_to": "2024-03-04"},
                    {"subject": "Immich", "relation": "runs on", "object": "tern-2", "valid_from": "2024-03-04"},
                    {"subject": "Priya", "relation": "maintains", "object": "Immich"},
                ],
            },
            {"mentions": [], "facts": []},
        ],
    ),
    {
        "mentions": {
            "type": "array",
            "maxItems": _MOST,
            "items": _object({"name": _TEXT, "kind": _TEXT}, required=("name", "kind")),
        },
        "facts": {
            "type": "array",
            "maxItems": _MOST,
            "items": _object(dict.fromkeys(_FACT, _TEXT), required=_FACT[:3]),
        },
    },
)
STATE = Question(
    "Write down what each memory says that is worth remembering, in short sentences that can be understood on their "
    'own: name the person or thing instead of "she", "it" or "I", and give days as dates. A greeting or a question '
    "alone gives none. valid_from is an ISO date, given only where the memory dates it.",
    (
        [
            {
                "text": "Moved it to tern-2 in March, much quieter now.",
                "written": "2024-04-02",
                "says_I": "Priya",
                "before": ["Sam: Does Immich still run on the old laptop?"],
            },
            {"text": "ok, thanks, talk later!"},
        ],
        [
            {
                "statements": [
                    {
                        "subject": "Immich",
                        "statement": "Priya moved Immich to tern-2 in March 2024.",
                        "valid_from": "2024-03",
                    }
                ]
            },
            {"statements": []},
        ],
    ),
    {
        "statements": {
            "type": "array",
            "maxItems": 12,
            "items": _object(
                dict.fromkeys(("subject", "statement", "valid_from"), _TEXT), required=("subject", "statement")
            ),
        }
    },
)
ENDS = Question(
    'Beside each memory stand "open" facts of earlier memories, numbered, that were true until it was written. Answer '
    'in "ended" the numbers of those that no longer hold after what this memory says, and in "since" the ISO date from '
    "which on, empty where the memory does not date it. A fact that may go on holding beside the news is not ended. "
    "Most memories end nothing: then the list is empty.",
    (
        [
            {
                "text": "Immich moved to tern-2 yesterday, the old laptop is for the kids now.",
                "written": "2024-03-05",
                "open": {"1": "Immich: runs on: old laptop", "2": "Immich: maintained by: Priya"},
            },
            {"text": "Priya fixed Immich again.", "open": {"1": "Immich: runs on: tern-2"}},
        ],
        [{"ended": [1], "since": "2024-03-04"}, {"ended": [], "since": ""}],
    ),
    {"ended": {"type": "array", "maxItems": 16, "items": {"type": "integer"}}, "since": _TEXT},
)
