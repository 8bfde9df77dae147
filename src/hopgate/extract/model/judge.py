"""What a model is asked beside extraction: whether names are one, and which facts are over.

An answer that is not one of those asked for counts as none, and the names stay undecided. Merges are recorded with who
decided and are taken back by `hopgate concepts split`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.model.answer import clean, first_json, read_entries, without_thoughts
from hopgate.extract.model.chat import ENDS, SAME, SAME_SCHEMA, ChatModel, row_of
from hopgate.extract.rules.dates import iso

# Tokens of a word and a short reason; of a list of numbers.
ROOM, ROOM_OF_ENDS = 200, 60


@dataclass(frozen=True, slots=True)
class Ended:
    """Which of some open facts are over after a new memory, by their places, and since when where that is said."""

    places: tuple[int, ...] = ()
    since: str | None = None


class Judge:
    """Asks the model of an extractor, `Llama` or `OpenAI`, and counts; another extractor is refused."""

    def __init__(self, model: object) -> None:
        if not isinstance(model, ChatModel):
            raise HopgateError("only a model has a second opinion: give --extractor llama or openai, with --model")
        self._model = model
        self.asked = self.answered = 0

    def same(self, name: str, kind: str | None, names: tuple[str, ...]) -> bool | None:
        """Whether a name stands for the concept that these names stand for; None where the model does not know."""
        question = {"first": name, "kind": kind or "unknown", "second": list(names)}
        chat = [
            {"role": "system", "content": SAME},
            {"role": "user", "content": json.dumps(question, ensure_ascii=False)},
        ]
        self.asked += 1
        text, _ = without_thoughts(self._model.ask(chat, SAME_SCHEMA, ROOM).text)
        value, is_cut = first_json(text, ("answer",)) or (None, True)
        answer = value.get("answer") if isinstance(value, dict) and not is_cut else None
        if answer not in ("same", "different"):
            return None
        self.answered += 1
        return bool(answer == "same")

    def ends(self, new: Sequence[Source], open_facts: Sequence[Sequence[Fact]]) -> list[Ended | None]:
        """Which of the open facts about its subjects no longer hold after each of some new memories, in one call.

        None stands for a memory about which the model gives no answer.
        """
        rows = []
        for source, facts in zip(new, open_facts, strict=True):
            numbered = enumerate(facts, start=1)
            told = {str(number): f"{fact.subject}: {fact.relation}: {fact.object}" for number, fact in numbered}
            rows.append(row_of(source) | {"open": told})
        self.asked += 1
        reply = self._model.ask(ENDS.chat(rows), ENDS.schema, ROOM_OF_ENDS * len(rows))
        entries = read_entries(reply.text, len(rows), cut=reply.cut).by_id
        ended = [_ended(entries.get(str(row), {}), len(facts)) for row, facts in enumerate(open_facts, start=1)]
        self.answered += any(one is not None for one in ended)
        return ended


def _ended(entry: dict[str, Any], count: int) -> Ended | None:
    numbers = entry.get("ended")
    if not isinstance(numbers, list):
        return None
    places = sorted({number - 1 for number in numbers if type(number) is int and 1 <= number <= count})
    return Ended(tuple(places), iso(clean(entry.get("since"))[:10]) if places else None)
