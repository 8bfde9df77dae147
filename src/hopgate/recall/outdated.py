"""Outdated memories: which facts of a hit have ended, by what, and that what holds instead is ranked above it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hopgate.graph.names import normalise, tokens
from hopgate.memory import Memory
from hopgate.recall.query_time import asked_time, asks_for_past
from hopgate.store.graph import edge_rows
from hopgate.store.graph.edge_rows import MemoryFact
from hopgate.store.graph.visible import view_of
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.recall.filters import Query


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class HitFact:
    """A fact that a hit is evidence for."""

    source: str
    relation: str
    target: str
    valid_from: datetime | None  # from when, and up to when, it holds
    valid_to: datetime | None
    asked: bool  # whether the query names one of its ends
    over: bool  # whether it had ended at the time that is asked about: `as_of`, a time that the query names, or now
    ended_by: tuple[str, ...]  # the memories that ended it

    def to_dict(self) -> dict[str, Any]:
        """The fact as plain values."""
        times = {name: time and time.isoformat() for name, time in (("from", self.valid_from), ("to", self.valid_to))}
        fact = {"source": self.source, "relation": self.relation, "target": self.target}
        return {**fact, **times, "over": self.over, "ended_by": list(self.ended_by)}

    def __str__(self) -> str:
        since = f", over since {self.valid_to:%Y-%m-%d}" if self.over and self.valid_to else ""
        by = f" by {', '.join(self.ended_by)}" if since and self.ended_by else ""
        return f"{self.source} {self.relation} {self.target}{since}{by}"


@dataclass(frozen=True)
class Outdated:
    """Which facts of a query's best memories have ended at the time that it asks about."""

    # Those of the query, which decide what of a memory is asked about: the facts that it names, else all of them.
    words: frozenset[str]
    moment: datetime  # what has ended by then is over
    past: bool  # whether the query asks for what was: then nothing stands lower for being over
    facts: Mapping[int, Sequence[MemoryFact]] = field(default_factory=dict)

    @cached_property
    def ended(self) -> dict[int, set[int]]:
        """The memories of which all that is asked about is over, each with what holds in their place.

        What ended a memory may be over as well: then it is what ended that.
        """
        ended = dict[int, set[int]]()
        for memory, facts in self.facts.items():
            # That a memory ends something itself is no reason to call it over.
            asked = list(filter(self._is_named, facts)) or facts
            told = [fact for fact in asked if not (self._is_over(fact) and memory in fact.enders)]
            if told and not self.past and all(map(self._is_over, told)):
                ended[memory] = {ender for fact in told for ender in fact.enders}
        return {memory: _lasting(memory, ended) for memory in ended}

    def among(self, memories: Mapping[int, Memory]) -> dict[int, set[int]]:
        """Give those of `ended` that the query is about: it names a fact, or the memory says no more than its facts.

        "The password is hunter1. Anna lives in Rome." stays where it is when the password is asked for.
        """
        return {
            key: enders
            for key, enders in self.ended.items()
            if key in memories
            and (
                any(map(self._is_named, self.facts[key]))
                or len(_SENTENCE_END.split(memories[key].text.strip())) <= len(self.facts[key])
            )
        }

    @property
    def enders(self) -> set[int]:
        """All that holds in the place of something that is over."""
        return set[int]().union(*self.ended.values())

    def _is_named(self, fact: MemoryFact) -> bool:
        return any(self.words.issuperset(tokens(normalise(name))) for name in (fact.source, fact.target))

    def _is_over(self, fact: MemoryFact) -> bool:
        return fact.valid_to is not None and fact.valid_to <= self.moment

    def hit_facts(self, memory: int, names: Mapping[int, str]) -> tuple[HitFact, ...]:
        """Give a memory's facts as a hit shows them; `names` are external ids."""
        return tuple(
            HitFact(
                fact.source,
                fact.relation,
                fact.target,
                fact.valid_from,
                fact.valid_to,
                asked=self._is_named(fact),
                over=self._is_over(fact),
                ended_by=tuple(names[ender] for ender in fact.enders if ender in names),
            )
            for fact in self.facts.get(memory, ())
        )


def _lasting(memory: int, ended: Mapping[int, Collection[int]]) -> set[int]:
    """What holds in the place of a memory, over any number of ends; in a circle nothing does."""
    met, ahead = {memory}, list(ended[memory])
    while ahead:
        ender = ahead.pop()
        if ender not in met:
            met.add(ender)
            ahead += ended.get(ender, ())
    return {ender for ender in met if ender not in ended}


def current_first(order: Sequence[int], ended: Mapping[int, Collection[int]]) -> list[int]:
    """Put the best of what holds in a memory's place directly before it, where all of that stood after it."""
    result = list(order)
    for memory in order:
        place = result.index(memory)
        after = [other for other in result[place:] if other in ended.get(memory, ())]
        if after and not any(other in ended[memory] for other in result[:place]):
            result.remove(after[0])
            result.insert(place, after[0])
    return result


def read_outdated(connection: Connection, query: Query, ranked: Sequence[int], first: int) -> Outdated:
    """Read the facts of the first of a ranking, and of what in it ended them."""
    filters, now = query.filters, datetime.now(UTC)
    asked = asked_time(query.text, now)
    moment = filters.as_of or (asked and asked.moment)
    past = moment is None and (asked is not None or asks_for_past(query.text))
    outdated = Outdated(frozenset(tokens(normalise(query.text))), moment or now, past)
    view = view_of(connection, filters.scopes, known_at=filters.known_at) if first else None
    new = list(ranked[:first])
    while view and new:
        read: dict[int, list[MemoryFact]] = {memory: [] for memory in new} | edge_rows.facts_of(connection, view, new)
        outdated = replace(outdated, facts={**outdated.facts, **read})
        new = [memory for memory in ranked if memory in outdated.enders and memory not in outdated.facts]
    return outdated
