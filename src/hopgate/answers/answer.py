"""A question answered by a language model from what memories say, every sentence with its citations."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.answers.context import Context
from hopgate.errors import HopgateError
from hopgate.extract.model.answer import first_json, without_thoughts
from hopgate.extract.model.chat import ANSWER, ANSWER_SCHEMA, ChatModel

UNKNOWN = "I do not know."
# What has nothing to do with a question is nearer than this to it in one of twenty cases, by model: 440 questions of
# notes, chats and passages asked of each other's stores (docs/measurements.md).
STRANGERS = {"answerai-colbert-small-v1": 0.77, "bge-small-en-v1.5": 0.58}
# Tokens of eight short sentences with their numbers.
ROOM = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer, and the ids of the memories that it cites."""

    text: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What memories say to a question; `str` is its text with citations, or that the answer is not known."""

    # None where nothing near the question is stored, or where the model found no answer in it.
    sentences: tuple[Sentence, ...]
    context: Context  # what the model was given
    problem: str = ""  # why the model gave no answer, where it failed

    def __str__(self) -> str:
        numbers = {citation.external_id: citation.number for citation in self.context.citations}
        cited = [
            " ".join([sentence.text, *(f"[{numbers[name]}]" for name in sentence.memories)])
            for sentence in self.sentences
        ]
        return " ".join(cited) or UNKNOWN

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        said = [{"text": sentence.text, "memories": list(sentence.memories)} for sentence in self.sentences]
        return {"answer": str(self), "sentences": said, "problem": self.problem, "context": self.context.to_dict()}


def answered(context: Context, model: object, nearness: str = "") -> Answer:
    """Ask a model the context's question; a sentence that cites no memory of the context is left out.

    `nearness` is the model that says how near memories are: where all are as far as strangers, the answer is not known.
    """
    if not isinstance(model, ChatModel):
        raise HopgateError("only a model answers questions: give --extractor llama or openai, with --model")
    least = STRANGERS.get(nearness, 0.0)
    if not any(citation.similarity is None or citation.similarity >= least for citation in context.citations):
        return Answer((), context)
    asked = {"question": context.query, "memories": context.text}
    chat = [{"role": "system", "content": ANSWER}, {"role": "user", "content": json.dumps(asked, ensure_ascii=False)}]
    reply = model.ask(chat, ANSWER_SCHEMA, ROOM)
    text, _ = without_thoughts(reply.text)
    value, _ = first_json(text, ("sentences",)) or (None, True)
    entries = value.get("sentences") if isinstance(value, dict) else None
    names = {citation.number: citation.external_id for citation in context.citations}
    return Answer(tuple(_sentences(entries, names)) if isinstance(entries, list) else (), context, reply.problem)


def _sentences(entries: Sequence[Any], names: dict[int, str]) -> list[Sentence]:
    sentences = []
    for entry in entries:
        text, numbers = (entry.get("text"), entry.get("memories")) if isinstance(entry, dict) else (None, None)
        cited = [names[number] for number in numbers if number in names] if isinstance(numbers, list) else []
        if isinstance(text, str) and text.strip() and cited:
            sentences.append(Sentence(" ".join(text.split()), tuple(dict.fromkeys(cited))))
    return sentences
