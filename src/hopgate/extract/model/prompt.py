"""The prompt and the JSON schema that every language-model extractor shares."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

SYSTEM = (
    "You read one memory and write down what it says as JSON. "
    'First "mentions": every person, organisation, place, project, tool, device, event, date and topic that the text '
    'names, spelled exactly as in the text, each with a short kind. Then "facts": what the text itself says about two '
    'of them, as subject, relation, object; the relation is a short verb phrase; "valid_from" and "valid_to" are ISO '
    "dates, given only where the text dates the fact. Use nothing that is not in the text. Write each fact once. "
    'If there is nothing to write, answer {"mentions": [], "facts": []}.'
)

_SHOTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "Photo backups: Immich moved from the old laptop to tern-2 in March 2024. Priya maintains it.",
        {
            "mentions": [
                {"name": "Immich", "kind": "tool"},
                {"name": "old laptop", "kind": "device"},
                {"name": "tern-2", "kind": "host"},
                {"name": "March 2024", "kind": "date"},
                {"name": "Priya", "kind": "person"},
            ],
            "facts": [
                {"subject": "Immich", "relation": "moved from", "object": "old laptop", "valid_from": "2024-03"},
                {"subject": "Immich", "relation": "moved to", "object": "tern-2", "valid_from": "2024-03"},
                {"subject": "Priya", "relation": "maintains", "object": "Immich"},
            ],
        },
    ),
    ("ok, thanks, talk later!", {"mentions": [], "facts": []}),
)

# No string has a maxLength here: a grammar spells a length limit out as states, which makes sampling slow. Over-long
# names are dropped in `answer` instead. 48 items of each are more than a short memory holds and stop endless lists.
_NAME = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mentions": {
            "type": "array",
            "maxItems": 48,
            "items": {
                "type": "object",
                "properties": {"name": _NAME, "kind": {"type": "string"}},
                "required": ["name", "kind"],
                "additionalProperties": False,
            },
        },
        "facts": {
            "type": "array",
            "maxItems": 48,
            "items": {
                "type": "object",
                "properties": {
                    "subject": _NAME,
                    "relation": {"type": "string"},
                    "object": _NAME,
                    "valid_from": {"type": "string"},
                    "valid_to": {"type": "string"},
                },
                "required": ["subject", "relation", "object"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["mentions", "facts"],
    "additionalProperties": False,
}

SEVERAL = (
    "You get several memories at once, as a JSON list of objects with an id and a text. Treat each by itself, as if it "
    'were alone, and answer {"memories": [{"id": …, "mentions": […], "facts": […]}, …]} with one entry for each id.'
)


def several_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer about several memories: for each its id, and these properties, all of them."""
    entry = {
        "type": "object",
        "properties": {"id": {"type": "string"}, **properties},
        "required": ["id", *properties],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"memories": {"type": "array", "items": entry}},
        "required": ["memories"],
        "additionalProperties": False,
    }


SEVERAL_SCHEMA = several_schema(SCHEMA["properties"])

PROMPT = json.dumps([SYSTEM, _SHOTS], ensure_ascii=False)
"""The whole prompt as one string: a part of the cache's key."""

GRAMMAR = json.dumps(SCHEMA, sort_keys=True)
"""The schema as one string: a part of the cache's key."""


def messages(text: str, types: str = "") -> list[dict[str, str]]:
    """Return the chat that asks for one text; all but the last message is the same for every text.

    Parameters
    ----------
    types : str
        What is said about the kinds and relations that are wanted.

    Examples
    --------
    >>> [message["role"] for message in messages("Ada owns the NAS.")]
    ['system', 'user', 'assistant', 'user', 'assistant', 'user']
    """
    chat = [{"role": "system", "content": f"{SYSTEM} {types}".strip()}]
    for shot, answer in _SHOTS:
        chat.append({"role": "user", "content": shot})
        chat.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
    chat.append({"role": "user", "content": text})
    return chat


def several_messages(texts: Sequence[str], types: str = "") -> list[dict[str, str]]:
    """Return the chat that asks for several texts at once; their ids are 1, 2, ….

    Examples
    --------
    >>> several_messages(["Ada owns the NAS.", "It hums."])[-1]["content"]
    '[{"id": "1", "text": "Ada owns the NAS."}, {"id": "2", "text": "It hums."}]'
    """
    numbered = [{"id": str(number), "text": text} for number, text in enumerate(texts, start=1)]
    shots = [{"id": str(number), **answer} for number, (_, answer) in enumerate(_SHOTS, start=1)]
    asked = [{"id": str(number), "text": shot} for number, (shot, _) in enumerate(_SHOTS, start=1)]
    return [
        {"role": "system", "content": f"{SYSTEM} {types} {SEVERAL}"},
        {"role": "user", "content": json.dumps(asked, ensure_ascii=False)},
        {"role": "assistant", "content": json.dumps({"memories": shots}, ensure_ascii=False)},
        {"role": "user", "content": json.dumps(numbered, ensure_ascii=False)},
    ]
