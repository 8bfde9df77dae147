"""What is over: the facts that a hit is evidence for, whether they hold, and that what ended them stands above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.names import normalise, tokens
from hopgate.recall.query_time import asked_time, asks_for_past
from hopgate.store.graph import edge_rows
from hopgate.store.graph.edge_rows import MemoryFact
from hopgate.store.graph.visible import view_of
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.recall.filters import Query


@dataclass(frozen=True, slots=True)
class HitFact:
    """A fact that a hit is evidence for.

    Parameters
    ----------
    valid_from, valid_to : datetime, optional
        From when, and up to when, it holds.
    asked : bool
        Whether the query names one of its ends.
    over : bool
        Whether it had ended at the time that is asked about: `as_of`, a time that the query names, or now.
    ended_by : tuple of str
        The memories that ended it.
    """

    source: str
    relation: str
    target: str
    valid_from: datetime | None
    valid_to: datetime | None
    asked: bool
    over: bool
    ended_by: tuple[str, ...]

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
class Present:
    """The facts of a query's best memories, as of the time that it asks about.

    Parameters
    ----------
    query : str
        Decides which facts of a memory are asked about: those that it names, else all of them.
    moment : datetime
        What has ended by then is over.
    past : bool
        Whether the query asks for what was: then nothing stands lower for being over.
    facts : mapping of memory id to facts
    """

    query: str
    moment: datetime
    past: bool
    facts: dict[int, list[MemoryFact]] = field(default_factory=dict)

    def ended(self) -> dict[int, set[int]]:
        """Give the memories of which all that is asked about is over, each with what holds in their place.

        What ended a memory may be over as well: then it is what ended that.
        """
        ended = dict[int, set[int]]()
        if self.past:
            return ended
        words = set(tokens(normalise(self.query)))
        for memory, facts in self.facts.items():
            named = [
                fact
                for fact in facts
                if any(words.issuperset(tokens(normalise(end))) for end in (fact.source, fact.target))
            ]
            # That a memory ends something itself is no reason to call it over.
            said = [fact for fact in named or facts if not (self._is_over(fact) and memory in fact.enders)]
            if said and all(map(self._is_over, said)):
                ended[memory] = {ender for fact in said for ender in fact.enders}
        return {memory: _lasting(memory, ended) for memory in ended}

    def _is_named(self, fact: MemoryFact) -> bool:
        words = set(tokens(normalise(self.query)))
        return any(words.issuperset(tokens(normalise(name))) for name in (fact.source, fact.target))

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
    """Put the best of what holds in a memory's place directly before it, where all of that stood after it.

    Examples
    --------
    >>> current_first([1, 5, 2, 3], {1: {2, 3}})
    [2, 1, 5, 3]
    """
    result = list(order)
    for memory in order:
        place = result.index(memory)
        after = [other for other in result[place:] if other in ended.get(memory, ())]
        if after and not any(other in ended[memory] for other in result[:place]):
            result.remove(after[0])
            result.insert(place, after[0])
    return result


def read_present(connection: Connection, query: Query, ranked: Sequence[int], first: int) -> Present:
    """Read the facts of the first of a ranking, and of what in it ended them."""
    filters, now = query.filters, datetime.now(UTC)
    asked = asked_time(query.text, now)
    moment = filters.as_of or (asked and asked.moment)
    past = moment is None and (asked is not None or asks_for_past(query.text))
    present = Present(query.text, moment or now, past)
    view = view_of(connection, filters.scopes, known_at=filters.known_at) if first else None
    new = list(ranked[:first])
    while view and new:
        present.facts.update({memory: [] for memory in new} | edge_rows.facts_of(connection, view, new))
        enders = {ender for enders in present.ended().values() for ender in enders}
        new = [memory for memory in ranked if memory in enders and memory not in present.facts]
    return present
