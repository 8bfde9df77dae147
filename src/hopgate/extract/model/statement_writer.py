"""A model writes statements: what each memory says, in sentences that can be understood without it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Source
from hopgate.extract.model.answer import MAX_NAME, MODEL_CONFIDENCE, clean, fold, grounded
from hopgate.extract.model.chat_model import ChatModel
from hopgate.extract.model.prompt import several_schema
from hopgate.extract.model.several import MOST_TOKENS, TOKENS_EACH, entries_by_id
from hopgate.extract.statements import MAX_STATEMENT, Statement
from hopgate.sending import check_sending

SYSTEM = (
    "You get memories as a JSON list, each with an id and a text, and where they are known the day it was written, who "
    'says "I" in it, and the turns of the conversation just before it. For each memory write down what it says that is '
    "worth remembering, in short sentences that can be understood on their own: name the person or thing instead of "
    '"she", "it" or "I", and give days as dates. Use the earlier turns only to know who and what is meant. Say nothing '
    "that is not in the memory. A greeting or a question alone gives none. Answer "
    '{"memories": [{"id": …, "statements": [{"subject": …, "statement": …, "valid_from": …}]}]} with an entry for each '
    "id; valid_from is an ISO date, given only where the memory dates it."
)
_SHOT = (
    [
        {"id": "1", "text": "Moved it to tern-2 in March, much quieter now.", "written": "2024-04-02",
         "says_I": "Priya", "before": ["Sam: Does Immich still run on the old laptop?"]},
        {"id": "2", "text": "ok, thanks, talk later!"},
    ],
    {
        "memories": [
            {"id": "1", "statements": [{"subject": "Immich", "statement": "Priya moved Immich to tern-2 in March 2024.",
                                        "valid_from": "2024-03"}]},
            {"id": "2", "statements": []},
        ]
    },
)  # fmt: skip
_ITEM = {
    "type": "object",
    "properties": {key: {"type": "string"} for key in ("subject", "statement", "valid_from")},
    "required": ["subject", "statement"],
    "additionalProperties": False,
}
SCHEMA = several_schema({"statements": {"type": "array", "maxItems": 12, "items": _ITEM}})
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
        chat = [{"role": "system", "content": SYSTEM}]
        for asked, told in (_SHOT,):
            chat.append({"role": "user", "content": json.dumps(asked, ensure_ascii=False)})
            chat.append({"role": "assistant", "content": json.dumps(told, ensure_ascii=False)})
        chat.append({"role": "user", "content": json.dumps(_asked(sources), ensure_ascii=False)})
        room = min(MOST_TOKENS, self._room * len(sources))
        check_sending()
        answer = self._model.answer(chat, SCHEMA, room)
        found, answered = read_statements_answer(answer, sources, self.dropped)
        self.unanswered += len(sources) - answered
        return found


def _asked(sources: Sequence[Source]) -> list[dict[str, Any]]:
    entries = []
    for number, source in enumerate(sources, start=1):
        entry: dict[str, Any] = {"id": str(number), "text": source.text}
        if source.created_at:
            entry["written"] = source.created_at.date().isoformat()
        entry["says_I"] = source.owner
        if source.before:
            entry["before"] = list(source.before)
        entries.append(entry)
    return entries


def read_statements_answer(
    answer: str, sources: Sequence[Source], dropped: Counter[str]
) -> tuple[list[Statement], int]:
    """Read what a model stated: each memory's own, grounded, each once; and how many memories it answered about.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> said = {"subject": "Ada", "statement": "Ada keeps the spare key."}
    >>> answer = json.dumps({"memories": [{"id": "1", "statements": [said, said]}]})
    >>> counts: Counter[str] = Counter()
    >>> found, answered = read_statements_answer(answer, [Source("m1", Cleared("Ada keeps the spare key"))], counts)
    >>> [(one.doc_id, one.statement) for one in found], answered, dict(counts)
    ([('m1', 'Ada keeps the spare key.')], 1, {'repeated statement': 1})
    """
    known = entries_by_id(answer)
    found: list[Statement] = []
    answered = 0
    for number, source in enumerate(sources, start=1):
        items = known.get(str(number), {}).get("statements")
        if not isinstance(items, list):
            continue
        answered += 1
        found += _kept(items, source, dropped)
    return found, answered


def _kept(items: Sequence[Any], source: Source, dropped: Counter[str]) -> list[Statement]:
    """A memory's statements that can be kept."""
    told = [source.text, *source.before, source.owner, source.title or "", *source.tags, *source.keywords]
    ground = f" {fold(' '.join(told))} "
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
