"""A language model that is asked in chats, and extraction by it: memories go together, cut answers apart."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Parameter, Source, State, failed
from hopgate.extract.model.answer import merged, read_answers
from hopgate.extract.model.prompt import EXTRACT, row_of
from hopgate.extract.spec import TypeTable
from hopgate.memory import Cleared

# Four characters are one token, as English texts average.
CHARACTERS_A_TOKEN = 4
# What the prompt takes, and what a memory takes beside its text: id, day, quotes. Its answer is some 60 tokens and
# twice the text's.
PROMPT_TOKENS, ROW_TOKENS, ANSWER_TOKENS = 600, 25, 60
# A text whose answer was cut is halved at most twice; a shorter one not at all: its answer is long because the model
# repeats itself, and so would its halves'.
MAX_SPLITS, MIN_CHARACTERS = 2, 200
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and what that took.

    Parameters
    ----------
    cut : bool
        Whether it was stopped at its length limit.
    problem : str
        Why there is no answer.
    is_too_long : bool
        Whether there is none because so much text does not fit into the model's window.
    """

    text: str = ""
    cut: bool = False
    prompt_tokens: int = 0
    answer_tokens: int = 0
    problem: str = ""
    is_too_long: bool = False


@runtime_checkable
class ChatModel(Protocol):
    """Answers a chat with JSON of a schema: what the extractors' models are, beside extracting."""

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Return the reply; `room` is the most tokens that it may take."""
        ...


class ChatExtractor(ABC):
    """Extracts by a model that is asked in chats; a subclass says how that is asked, and what it is."""

    together: int
    window: int
    max_tokens: int
    types: TypeTable

    @abstractmethod
    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Return the reply; `room` is the most tokens that it may take."""

    @property
    def single_valued(self) -> tuple[str, ...]:
        """The relations that the model is told to prefer of which a concept has one object at a time."""
        return self.types.single_valued

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [
            extraction
            for group in groups(sources, self.together, self.window)
            for extraction in self._extract(group, MAX_SPLITS)
        ]

    def _identity(self, name: str, model: str, **parameters: Parameter) -> ExtractorIdentity:
        """The model with its prompt and grammar, and with what else changes its answers."""
        shared: dict[str, Parameter] = {"window": self.window, "max_tokens": self.max_tokens}
        if self.together > 1:
            shared["together"] = self.together
        return ExtractorIdentity(name, model, *EXTRACT.identity(self.types.prompt_text()), shared | parameters)

    def _extract(self, group: Sequence[Source], splits: int) -> list[Extraction]:
        """Ask about sources that fit into one call, and again about those that the answer lacks."""
        chat = EXTRACT.chat([row_of(source) for source in group], self.types.prompt_text())
        left = self.window - sum(len(message["content"]) for message in chat) // CHARACTERS_A_TOKEN
        reply = self.ask(chat, EXTRACT.schema, max(1, min(self.max_tokens * len(group), left)))
        if reply.is_too_long and len(group) == 1:
            made: list[Extraction | None] = [Extraction(state=State.TRUNCATED, reason=reply.problem)]
        elif reply.problem and not reply.is_too_long:
            made = [failed(reply.problem) for _ in group]
        else:
            made = read_answers(reply.text, group, cut=reply.cut)
        answered = [extraction for extraction in made if extraction]
        spent = iter(shares((reply.prompt_tokens, reply.answer_tokens), len(answered) or 1))
        made = [extraction and extraction.spent(*next(spent)) for extraction in made]
        if len(group) == 1 and made[0]:
            return [self._in_halves(group[0], made[0], splits)]
        missing = [source for source, extraction in zip(group, made, strict=True) if extraction is None]
        # What was answered in good part is asked again as it is; else less at a time may be answered.
        middle = len(missing) if 2 * len(missing) <= len(group) else len(missing) // 2
        parts = [part for part in (missing[:middle], missing[middle:]) if part]
        again = [extraction for part in parts for extraction in self._extract(part, splits)]
        if not answered:
            again[0] = again[0].spent(*next(spent))
        later = iter(again)
        return [extraction or next(later) for extraction in made]

    def _in_halves(self, source: Source, whole: Extraction, splits: int) -> Extraction:
        """Where an answer was cut, extract from the halves of the text; the tokens of the first attempt are counted."""
        helps = whole.state is State.TRUNCATED and splits and len(source.text) >= MIN_CHARACTERS
        halves = split_in_two(source.text) if helps else None
        if halves is None:
            return whole
        parts = [part for half in halves for part in self._extract([replace(source, text=half)], splits - 1)]
        # What the whole gave is kept where a half is cut again.
        joined = merged(parts)
        return joined.spent(whole.prompt_tokens, whole.answer_tokens) if joined.state.done else merged([*parts, whole])


def groups(sources: Sequence[Source], most: int, window: int) -> Iterator[list[Source]]:
    """Put sources together, in order: at most `most`, and no more than fits with its answer into a window of tokens.

    Examples
    --------
    >>> texts = [Source(number, Cleared("x" * size)) for number, size in enumerate((40, 80, 9_000, 20))]
    >>> [[source.memory_id for source in group] for group in groups(texts, 100, 4_096)]
    [[0, 1], [2], [3]]
    """
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


def shares(counts: tuple[int, int], parts: int) -> list[tuple[int, int]]:
    """Divide two counts into whole parts that add up to them.

    Examples
    --------
    >>> shares((10, 5), 3)
    [(4, 2), (3, 2), (3, 1)]
    """
    (prompt, more), (answer, further) = (divmod(count, parts) for count in counts)
    return [(prompt + (part < more), answer + (part < further)) for part in range(parts)]


def split_in_two(text: Cleared) -> tuple[Cleared, Cleared] | None:
    """Cut a text at the sentence end (else the space) nearest its middle; None where there is nowhere to cut.

    Examples
    --------
    >>> split_in_two(Cleared("Ada moved. Bob stayed."))
    ('Ada moved.', 'Bob stayed.')
    >>> split_in_two(Cleared("word")) is None
    True
    """
    middle = len(text) // 2
    begins = len(text) - len(text.lstrip())
    for pattern in (_SENTENCE_END, _SPACE):
        cuts = [match for match in pattern.finditer(text.rstrip()) if match.start() > begins]
        if cuts:
            cut = min(cuts, key=lambda match: (abs(match.start() - middle), match.start()))
            return Cleared(text[: cut.start()]), Cleared(text[cut.end() :])
    return None
