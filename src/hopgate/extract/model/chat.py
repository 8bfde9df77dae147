"""A language model that is asked in chats, and extraction by it: memories go together, what lacks is asked again."""

import json
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import resources
from typing import Any, Protocol, runtime_checkable

from hopgate.errors import HopgateError
from hopgate.extract.extraction import OWNER, Extraction, ExtractorIdentity, Parameter, Source, State, failed
from hopgate.extract.model.answer import Read, read_answers, read_facts, read_statements
from hopgate.extract.spec import TypeTable, shared_types

# Four characters are one token, as English texts average.
CHARACTERS_A_TOKEN = 4
# What the prompt takes, and what a memory takes beside its text: id, day, quotes. Its answer is some 60 tokens and
# twice the text's.
PROMPT_TOKENS, ROW_TOKENS, ANSWER_TOKENS = 600, 25, 60


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and what that took."""

    text: str = ""
    cut: bool = False  # whether it was stopped at its length limit
    prompt_tokens: int = 0
    answer_tokens: int = 0
    problem: str = ""  # why there is no answer
    is_too_long: bool = False  # whether there is none because so much text does not fit into the model's window


@runtime_checkable
class ChatModel(Protocol):
    """Answers a chat with JSON of a schema: what the extractors' models are, beside extracting."""

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Return the reply; `room` is the most tokens that it may take."""
        ...


# What is asked.

_TEXTS: dict[str, Any] = tomllib.loads(
    resources.files("hopgate.extract.model").joinpath("prompts.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class Question:
    """What is asked of each of several memories: a task, an example, what an entry must have, and how one is read."""

    task: str
    example: tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]
    properties: dict[str, Any]
    read: Read = read_facts

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""
        properties = {"id": {"type": "string"}, **self.properties}
        entry = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        entries = {"memories": {"type": "array", "items": entry}}
        return {"type": "object", "properties": entries, "required": ["memories"], "additionalProperties": False}

    def chat(self, rows: Sequence[dict[str, Any]], more: str = "") -> list[dict[str, str]]:
        """The chat that asks about memories as `row_of` gives them; `more` is added to the task.

        All but its last message is the same for all rows, whose ids are 1, 2, ….
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
    """A memory as a model is told of it."""
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


def _question(name: str, read: Read = read_facts) -> Question:
    row = _TEXTS[name]
    return Question(row["task"], (row["asked"], row["answered"]), row["properties"], read)


EXTRACT, STATE, ENDS = _question("extract"), _question("state", read_statements), _question("ends")
SAME, SAME_SCHEMA = _TEXTS["same"]["task"], _TEXTS["same"]["schema"]
ANSWER, ANSWER_SCHEMA = _TEXTS["answer"]["task"], _TEXTS["answer"]["schema"]


# Extraction.


@dataclass(frozen=True, kw_only=True)
class ChatExtractor(ABC):
    """Extracts by a model that is asked in chats; a subclass says how that is asked, and what it is."""

    window: int = 16_384  # tokens of a call, its answer with it
    max_tokens: int = 1024  # the most that the model may write about one memory
    seed: int = 0
    together: int = 1  # so many memories go into one call where they fit; what the answer lacks is asked for again
    types: TypeTable = field(default_factory=shared_types)  # the kinds and relations that are wanted
    question: Question = field(default=EXTRACT, repr=False)  # what is asked of each memory

    @property
    @abstractmethod
    def identity(self) -> ExtractorIdentity:
        """The model, the question, and what else changes the answers."""

    @abstractmethod
    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Return the reply; `room` is the most tokens that it may take."""

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a worker: the settings; connections and weights are each process's own."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def single_valued(self) -> tuple[str, ...]:
        """The relations that the model is told to prefer of which a concept has one object at a time."""
        return self.types.single_valued

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order; what a call took stands with the first it answers about."""
        return [one for group in groups(sources, self.together, self.window) for one in self._extract(group)]

    def _identity(self, name: str, model: str, **more: Parameter) -> ExtractorIdentity:
        """The model with its prompt and grammar, and with what else changes its answers."""
        parameters = {"window": self.window, "max_tokens": self.max_tokens, "seed": self.seed, **more}
        if self.together > 1:
            parameters["together"] = self.together
        return ExtractorIdentity(name, model, *self.question.identity(self.types.prompt), parameters)

    def _extract(self, group: Sequence[Source]) -> list[Extraction]:
        """Ask about sources that fit into one call, and again about those that the answer lacks."""
        chat = self.question.chat([row_of(source) for source in group], self.types.prompt)
        left = self.window - sum(len(message["content"]) for message in chat) // CHARACTERS_A_TOKEN
        reply = self.ask(chat, self.question.schema, max(1, min(self.max_tokens * len(group), left)))
        if reply.is_too_long and len(group) == 1:
            made: list[Extraction | None] = [Extraction(state=State.TRUNCATED, reason=reply.problem)]
        elif reply.problem and not reply.is_too_long:
            made = [failed(reply.problem) for _ in group]
        else:
            made = read_answers(reply.text, group, cut=reply.cut, read=self.question.read)
        missing = [source for source, extraction in zip(group, made, strict=True) if extraction is None]
        # What was answered in good part is asked again as it is; else less at a time may be answered.
        middle = len(missing) if 2 * len(missing) <= len(group) else len(missing) // 2
        parts = [part for part in (missing[:middle], missing[middle:]) if part]
        again = iter([extraction for part in parts for extraction in self._extract(part)])
        first, *others = (extraction or next(again) for extraction in made)
        return [first.spent(reply.prompt_tokens, reply.answer_tokens), *others]


def statement_writer(extractor: object) -> ChatExtractor:
    """The extractor that asks the same model for statements: its facts are a subject, *states* and a sentence."""
    if not isinstance(extractor, ChatExtractor):
        raise HopgateError("only a model writes statements: give --extractor llama or openai, with --model")
    return replace(extractor, question=STATE, types=TypeTable("", ()))


def groups(sources: Sequence[Source], most: int, window: int) -> Iterator[list[Source]]:
    """Put sources together, in order: at most `most`, and no more than fits with its answer into a window of tokens."""
    group: list[Source] = []
    tokens = PROMPT_TOKENS
    for source in sources:
        texts = len(source.text) + sum(map(len, source.before))
        cost = ROW_TOKENS + ANSWER_TOKENS + (texts + 2 * len(source.text)) // CHARACTERS_A_TOKEN
        if group and (len(group) == most or tokens + cost > window):
            yield group
            group, tokens = [], PROMPT_TOKENS
        group.append(source)
        tokens += cost
    if group:
        yield group
