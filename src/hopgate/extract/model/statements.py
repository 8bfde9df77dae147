"""A model writes statements: what each memory says, in sentences that can be understood without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Source
from hopgate.extract.files import MAX_STATEMENT, Statement
from hopgate.extract.model.answer import MAX_NAME, MODEL_CONFIDENCE, clean, fold, ground_of, grounded, read_entries
from hopgate.extract.model.chat import ChatModel
from hopgate.extract.model.prompt import STATE, row_of

# What an answer about one short memory may take, in tokens, and what a call may ask for at most.
TOKENS_EACH, MOST_TOKENS = 400, 8192
# So much of a statement's words must stand in the memory or in what was told beside it: the rest is grammar, and a
# sentence of which less does is about something else.
GROUNDED = 0.5


class StatementWriter:
    """Asks a model for statements, several memories in a call, and counts what was dropped.

    Parameters
    ----------
    model : ChatModel
        The model of an extractor: `Llama` or `OpenAI`; another extractor is refused.
    room : int
        Tokens that an answer about one memory may take.
    """

    def __init__(self, model: object, room: int = TOKENS_EACH) -> None:
        if not isinstance(model, ChatModel):
            raise HopgateError("only a model writes statements: give --extractor llama or openai, with --model")
        self._model, self._room = model, room
        self.dropped: Counter[str] = Counter()
        self.unanswered = 0

    def write(self, sources: Sequence[Source]) -> list[Statement]:
        """Return what the model states about these memories; what it does not answer about them is counted."""
        chat = STATE.chat([row_of(source) for source in sources])
        reply = self._model.ask(chat, STATE.schema, min(MOST_TOKENS, self._room * len(sources)))
        statements, answered = read_statements_answer(reply.text, sources, self.dropped)
        self.unanswered += len(sources) - answered
        return statements


def read_statements_answer(
    answer: str, sources: Sequence[Source], dropped: Counter[str]
) -> tuple[list[Statement], int]:
    """Read what a model stated: each memory's own, grounded, each once; and how many memories it answered about.

    Examples
    --------
    >>> import json
    >>> from hopgate.memory import Cleared
    >>> item = {"subject": "Ada", "statement": "Ada keeps the key."}
    >>> answer = json.dumps({"memories": [{"id": "1", "statements": [item, item]}]})
    >>> counts: Counter[str] = Counter()
    >>> statements, answered = read_statements_answer(answer, [Source("m1", Cleared("Ada keeps the key"))], counts)
    >>> [(one.doc_id, one.statement) for one in statements], answered, dict(counts)
    ([('m1', 'Ada keeps the key.')], 1, {'repeated statement': 1})
    """
    entries = read_entries(answer, len(sources)).by_id
    statements: list[Statement] = []
    answered = 0
    for number, source in enumerate(sources, start=1):
        items = entries.get(str(number), {}).get("statements")
        if isinstance(items, list):
            answered += 1
            statements += _kept(items, source, dropped)
    return statements, answered


def _kept(items: Sequence[Any], source: Source, dropped: Counter[str]) -> list[Statement]:
    """A memory's statements that can be kept."""
    ground = f"{ground_of(source)}{fold(' '.join(source.before))} "
    kept: dict[str, Statement] = {}
    for item in items:
        sentence = clean(item.get("statement")) if isinstance(item, dict) else ""
        subject = clean(item.get("subject")) if isinstance(item, dict) else ""
        words = fold(sentence).split()
        if not words or len(sentence) > MAX_STATEMENT:
            dropped["statement without a usable sentence"] += 1
        elif sum(f" {word} " in ground for word in words) < GROUNDED * len(words):
            dropped["ungrounded statement"] += 1
        elif fold(sentence) in kept:
            dropped["repeated statement"] += 1
        else:
            about = subject if len(subject) <= MAX_NAME and grounded(subject, ground) else ""
            kept[fold(sentence)] = Statement(
                str(source.memory_id), sentence, about, iso(clean(item.get("valid_from"))), None, MODEL_CONFIDENCE
            )
    return list(kept.values())
