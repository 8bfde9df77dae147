"""What a model is asked beside extraction: whether names are one, which facts are over, and what a memory states.

An answer that is not one of those asked for counts as none, and the names stay undecided. Merges are recorded with who
decided and are taken back by `hopgate concepts split`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.files import MAX_STATEMENT, Statement
from hopgate.extract.model.answer import (
    MAX_NAME,
    MODEL_CONFIDENCE,
    clean,
    first_json,
    fold,
    ground_of,
    grounded,
    read_entries,
    without_thoughts,
)
from hopgate.extract.model.chat import ChatModel
from hopgate.extract.model.prompt import ENDS, STATE, row_of

# Tokens of a word and a short reason; of a list of numbers; of a memory's statements, and of a call for those.
ROOM, ROOM_OF_ENDS, ROOM_OF_STATEMENTS, MOST_ROOM = 200, 60, 400, 8192
# So much of a statement's words must stand in the memory or in what was told beside it: the rest is grammar, and a
# sentence of which less does is about something else.
GROUNDED = 0.5
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


def _asked(model: object, what: str) -> ChatModel:
    if not isinstance(model, ChatModel):
        raise HopgateError(f"only a model {what}: give --extractor llama or openai, with --model")
    return model


@dataclass(frozen=True, slots=True)
class Ended:
    """Which of some open facts are over after a new memory, by their places, and since when where that is said."""

    places: tuple[int, ...] = ()
    since: str | None = None


class Judge:
    """Asks a model, and counts.

    Parameters
    ----------
    model : ChatModel
        The model of an extractor: `Llama` or `OpenAI`; another extractor is refused.
    """

    def __init__(self, model: object) -> None:
        self._model = _asked(model, "has a second opinion")
        self.asked = self.answered = 0

    def same(self, name: str, kind: str | None, names: tuple[str, ...]) -> bool | None:
        """Whether a name stands for the concept that these names stand for; None where the model does not know."""
        question = {"first": name, "kind": kind or "unknown", "second": list(names)}
        chat = [
            {"role": "system", "content": _SAME},
            {"role": "user", "content": json.dumps(question, ensure_ascii=False)},
        ]
        self.asked += 1
        text, _ = without_thoughts(self._model.ask(chat, _SAME_SCHEMA, ROOM).text)
        value, is_cut = first_json(text, ("answer",)) or (None, True)
        answer = value.get("answer") if isinstance(value, dict) and not is_cut else None
        if answer not in ("same", "different"):
            return None
        self.answered += 1
        return bool(answer == "same")

    def ends(self, new: Sequence[Source], open_facts: Sequence[Sequence[Fact]]) -> list[Ended | None]:
        """Which facts of earlier memories no longer hold after each of some new memories, in one call.

        Parameters
        ----------
        new : sequence of Source
            The memories.
        open_facts : sequence of sequence of Fact
            For each memory the facts about its subjects that were true until it was written.

        Returns
        -------
        list
            One answer for each memory; None where the model gives none.
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


class StatementWriter:
    """Asks a model for statements, several memories in a call, and counts what was dropped.

    Parameters
    ----------
    model : ChatModel
        The model of an extractor: `Llama` or `OpenAI`; another extractor is refused.
    room : int
        Tokens that an answer about one memory may take.
    """

    def __init__(self, model: object, room: int = ROOM_OF_STATEMENTS) -> None:
        self._model, self._room = _asked(model, "writes statements"), room
        self.dropped: Counter[str] = Counter()
        self.unanswered = 0

    def write(self, sources: Sequence[Source]) -> list[Statement]:
        """Return what the model states about these memories; what it does not answer about them is counted."""
        chat = STATE.chat([row_of(source) for source in sources])
        reply = self._model.ask(chat, STATE.schema, min(MOST_ROOM, self._room * len(sources)))
        statements, answered = read_statements_answer(reply.text, sources, self.dropped)
        self.unanswered += len(sources) - answered
        return statements


def read_statements_answer(
    answer: str, sources: Sequence[Source], dropped: Counter[str]
) -> tuple[list[Statement], int]:
    """Read what a model stated: each memory's own, grounded, each once; and how many memories it answered about.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> item = {"subject": "Ada", "statement": "Ada keeps the key."}
    >>> answer = json.dumps({"memories": [{"id": "1", "statements": [item, item]}]})
    >>> counts: Counter[str] = Counter()
    >>> statements, answered = read_statements_answer(answer, [Source("m1", Cleared("Ada keeps the key"))], counts)
    >>> [(one.doc_id, one.statement) for one in statements], answered, dict(counts)
    ([('m1', 'Ada keeps the key.')], 1, {'repeated statement': 1})
    """
    entries = read_entries(answer, len(sources)).by_id
    said = [entries.get(str(number), {}).get("statements") for number in range(1, len(sources) + 1)]
    answered = [(items, source) for items, source in zip(said, sources, strict=True) if isinstance(items, list)]
    return [one for items, source in answered for one in _kept(items, source, dropped)], len(answered)


def _kept(items: Sequence[Any], source: Source, dropped: Counter[str]) -> Iterator[Statement]:
    """A memory's statements that can be kept."""
    ground = f"{ground_of(source)}{fold(' '.join(source.before))} "
    seen: set[str] = set()
    for item in items:
        given = item if isinstance(item, dict) else {}
        sentence, subject = clean(given.get("statement")), clean(given.get("subject"))
        words = fold(sentence).split()
        if not words or len(sentence) > MAX_STATEMENT:
            dropped["statement without a usable sentence"] += 1
        elif sum(f" {word} " in ground for word in words) < GROUNDED * len(words):
            dropped["ungrounded statement"] += 1
        elif fold(sentence) in seen:
            dropped["repeated statement"] += 1
        else:
            seen.add(fold(sentence))
            about = subject if len(subject) <= MAX_NAME and grounded(subject, ground) else ""
            since = iso(clean(given.get("valid_from")))
            yield Statement(str(source.memory_id), sentence, about, since, None, MODEL_CONFIDENCE)
