"""A model's word on what the rules leave open: whether two names are one, and what a new memory means for older ones.

An answer that is not one of those asked for counts as none, and the rules decide. Merges are recorded with who decided
and are taken back by `hopgate concepts split`; superseded memories come back by `hopgate curate --restore`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.model.chat_model import ChatModel
from hopgate.extract.model.repair import first_json, without_thoughts
from hopgate.memory import Cleared

# A word and a short reason.
ROOM = 200


class Action(StrEnum):
    """What to do with a new memory."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An older memory that resembles a new one; `contradicted` when the new one's facts end all of its facts."""

    external_id: str
    text: Cleared
    contradicted: bool = False


_SAME = (
    "Two names from somebody's notes may stand for one and the same thing (an abbreviation, a variant of spelling, a "
    "nickname) or for two different things that are merely called alike. Answer as JSON: "
    '{"answer": "same"}, {"answer": "different"}, or {"answer": "unknown"} where the names alone do not tell.'
)
_CHANGE = (
    "You keep somebody's notes in order. A new note is compared with older ones, which are numbered. Answer as JSON "
    '{"action": …, "older": …, "reason": …}. ADD: none of the older ones says this; older is 0. NOOP: the older note '
    "says all of it already. UPDATE: the new note says everything that the older one says, and more. DELETE: the new "
    "note says that the older one no longer holds. When in doubt, ADD."
)
_SAME_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["same", "different", "unknown"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
_CHANGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [action.value for action in Action]},
        "older": {"type": "integer"},
        "reason": {"type": "string"},
    },
    "required": ["action", "older", "reason"],
    "additionalProperties": False,
}


class Judge:
    """Asks a model, and counts.

    Parameters
    ----------
    model : ChatModel
        The model of an extractor: `Llama` or `OpenAI`; another extractor is refused.
    """

    def __init__(self, model: object) -> None:
        if not isinstance(model, ChatModel):
            raise HopgateError("only a model has a second opinion: give --extractor llama or openai, with --model")
        self._model = model
        self.asked = self.answered = 0

    def same(self, name: str, kind: str | None, names: tuple[str, ...]) -> bool | None:
        """Whether a name stands for the concept that these names stand for; None where the model does not know."""
        question = {"first": name, "kind": kind or "unknown", "second": list(names)}
        answer = self._ask(_SAME, question, _SAME_SCHEMA).get("answer")
        if answer not in ("same", "different"):
            return None
        self.answered += 1
        return bool(answer == "same")

    def decide(self, text: Cleared, neighbours: Sequence[Neighbour]) -> tuple[Action, str | None, str] | None:
        """What a new memory means for older ones; None where there is none to compare, or the answer is no answer."""
        if not neighbours:
            return None
        older = {str(number): neighbour.text for number, neighbour in enumerate(neighbours, start=1)}
        found = self._ask(_CHANGE, {"new": text, "older": older}, _CHANGE_SCHEMA)
        number, reason = found.get("older"), " ".join(str(found.get("reason") or "").split())[:200]
        try:
            action = Action(str(found.get("action")))
        except ValueError:
            return None
        about = isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(neighbours)
        if action is not Action.ADD and not about:
            return None
        self.answered += 1
        chosen = None if action is Action.ADD else neighbours[int(str(number)) - 1].external_id
        return action, chosen, f"the model: {reason}"

    def _ask(self, system: str, question: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        asked = [
            {"role": "system", "content": system},
            {"role": "user", "content": json.dumps(question, ensure_ascii=False)},
        ]
        text, _ = without_thoughts(self._model.answer(asked, schema, ROOM))
        found = first_json(text, tuple(schema["required"]))
        return found[0] if found and isinstance(found[0], dict) and not found[1] else {}
