"""What an assistant is given: the hits of a query as text with numbered citations, under a budget of tokens. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

from hopgate.memory import Memory
from hopgate.recall.hit import Hit

DEFAULT_TOKENS = 2000
# So many memories are looked through.
CONTEXT_HITS = 20
# Of these at most so large a part says what holds; the rest are memories.
FACTS_PART = 0.2
# Shorter than this a memory that does not fit is left out rather than cut.
LEAST_CUT = 40
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Citation:
    """A memory that the text cites."""

    number: int  # as the text has it, in brackets
    external_id: str
    created_at: datetime | None
    over: str  # what it says that no longer holds, and what ended that; empty where it holds
    similarity: float | None  # how near it is to the query, see `Hit`

    def to_dict(self) -> dict[str, Any]:
        """The citation as plain values."""
        return {**asdict(self), "created_at": self.created_at and self.created_at.isoformat()}


@dataclass(frozen=True, slots=True)
class Context:
    """What memories say of a query, ready to stand in an assistant's prompt; `str` is its text."""

    query: str
    # Facts that hold, then memories, each with its number, its date and the turns beside it that the query needs.
    text: str
    citations: tuple[Citation, ...]
    tokens: int  # how long the text is, as the bundled model counts

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The context as plain values."""
        cited = [citation.to_dict() for citation in self.citations]
        return {"query": self.query, "text": self.text, "tokens": self.tokens, "citations": cited}


def context_of(query: str, hits: Sequence[Hit], beside: Mapping[str, Memory], tokens: int, count: Count) -> Context:
    """Write as many of the hits as fit, the best first.

    Hits have their matches, and none is of a sensitive memory; `beside` are the open turns that matched a hit's words
    in its place (`turns_beside`); `count` says how many tokens a text has.
    """
    left = tokens - int(FACTS_PART * tokens)
    entries, cited = list[str](), list[Hit]()
    for hit in hits:
        for entry in _entries(len(cited) + 1, hit, beside, partial(_cut, room=left, count=count)):
            size = count(entry)
            if entry and size <= left:
                left -= size
                entries.append(entry)
                cited.append(hit)
                break
    numbers = {hit.external_id: number for number, hit in enumerate(cited, start=1)}
    left += int(FACTS_PART * tokens)
    facts = list[str]()
    for line in _holding(cited, numbers):
        size = count(line)
        if size <= left:
            left -= size
            facts.append(line)
    text = "\n".join([*facts, *([""] if facts else []), *entries])
    citations = tuple(
        Citation(number, hit.external_id, hit.memory.created_at, hit.over, hit.similarity)
        for number, hit in enumerate(cited, start=1)
    )
    return Context(query, text, citations, count(text))


def turns_beside(hits: Sequence[Hit]) -> list[str]:
    """Give the neighbours by whose words hits were matched, and that are no hits themselves."""
    there = {hit.external_id for hit in hits}
    near = (match.by for hit in hits for match in hit.matches if match.part == "threads")
    return [name for name in dict.fromkeys(near) if name not in there]


def _entries(number: int, hit: Hit, beside: Mapping[str, Memory], cut: Callable[[str], str]) -> Iterator[str]:
    """A hit as it is written: with the turns beside it, without them, and cut short."""
    memory = hit.memory
    day = f"{memory.created_at:%Y-%m-%d}" if memory.created_at else "no date"
    over = f" (over: {hit.over})" if hit.over else ""
    head = f"[{number}] {day}{over}: "
    text = " ".join((hit.passage.text if hit.passage else memory.content).split())
    turns = [beside[name] for name in dict.fromkeys(match.by for match in hit.matches) if name in beside]
    near = [f"    {_when(turn, memory)}: {' '.join(turn.content.split())}" for turn in turns]
    yield "\n".join([f"{head}{text}", *near])
    yield f"{head}{text}"
    short = cut(f"{head}{text}")
    yield f"{short} …" if len(short) > len(head) + LEAST_CUT else ""


def _when(turn: Memory, memory: Memory) -> str:
    earlier = turn.created_at and memory.created_at and turn.created_at < memory.created_at
    return "just before" if earlier else "just after"


def _cut(text: str, room: int, count: Count) -> str:
    """The longest beginning of a text, by words, that has no more tokens than there is room for."""
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(" ".join(words[:middle])) < room else (low, middle - 1)
    return " ".join(words[:low])


def _holding(hits: Sequence[Hit], numbers: Mapping[str, int]) -> Iterator[str]:
    """What the hits say that holds, a line each, with the numbers of those that say it."""
    said: dict[str, list[int]] = {}
    for hit in hits:
        for fact in hit.facts:
            if fact.asked and not fact.over:
                since = f" since {fact.valid_from:%Y-%m-%d}" if fact.valid_from else ""
                said.setdefault(f"{fact.source} {fact.relation} {fact.target}{since}", []).append(
                    numbers[hit.external_id]
                )
    if said:
        yield "What holds:"
    for line, by in said.items():
        yield f"- {line} {''.join(f'[{number}]' for number in by)}"
