"""A model's word on what the rules leave open: whether two names are one.

An answer that is not one of those asked for counts as none, and the names stay undecided. Merges are recorded with who
decided and are taken back by `hopgate concepts split`.
"""

from __future__ import annotations

import json
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.model.chat_model import ChatModel
from hopgate.extract.model.repair import first_json, without_thoughts

# A word and a short reason.
ROOM = 200


_SAME = (
    "Two names from somebody's notes may stand for one and the same thing (an abbreviation, a variant of spelling, a "
    "nickname) or for two different things that are merely called alike. Answer as JSON: "
    '{"answer": "same"}, {"answer": "different"}, or {"answer": "unknown"} where the names alone do not tell.'
)
_SAME_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["same", "different", "unknown"]}},
    "required": ["answer"],
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

    def _ask(self, system: str, question: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        asked = [
            {"role": "system", "content": system},
            {"role": "user", "content": json.dumps(question, ensure_ascii=False)},
        ]
        text, _ = without_thoughts(self._model.answer(asked, schema, ROOM))
        found = first_json(text, tuple(schema["required"]))
        return found[0] if found and isinstance(found[0], dict) and not found[1] else {}
