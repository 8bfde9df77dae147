"""Conversations: turns that follow each other, whose answers share no word with what asks for them.

What a query finds by its words is the turn that asked; the answer is the next one. No name leads there, only that one
was said after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from hopgate.demo.drafts import Draft, at_some_hour, some_day
from hopgate.demo.world import names, table

CATEGORY = "messages"
# Minutes between two turns.
_PAUSE = (1, 7)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one of two people says; `ask` is a query for it in words of the turn before."""

    by: str
    text: str
    ask: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation of two people out of one list of names."""

    name: str
    scope: str
    people: str
    turns: tuple[Turn, ...]


THREADS: tuple[Thread, ...] = tuple(
    Thread(row["name"], row["scope"], row["people"], tuple(Turn(**turn) for turn in row["turn"]))
    for row in table("threads")["thread"]
)


def turn_drafts(rng: Random) -> list[Draft]:
    """Draw who talks and on which day, and place the turns minutes apart."""
    return [draft for thread in THREADS for draft in _drafts(rng, thread)]


def _drafts(rng: Random, thread: Thread) -> Iterator[Draft]:
    speakers = dict(zip("ab", rng.sample(names(thread.people), 2), strict=True))
    at = at_some_hour(rng, some_day(rng))
    for turn in thread.turns:
        yield Draft(
            f"{speakers[turn.by]}: {turn.text}",
            at,
            CATEGORY,
            scope=thread.scope,
            mentions=((speakers[turn.by], "person"),),
            thread=thread.name,
            ask=turn.ask,
        )
        at += timedelta(minutes=rng.randint(*_PAUSE))
