"""Events become drafts of memories: which phrase states a fact, in which memory, on which day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random

from hopgate.demo.history import FIRST_DAY, LAST_DAY, Event
from hopgate.demo.world import WorldRelation
from hopgate.memory import Memory

# How many undated facts a second memory states again, in other words.
REPEATED = 10

# Not strftime: the files must be the same in every locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it has an id."""

    text: str
    created_at: datetime
    category: str
    title: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    importance: float = 0.5
    scope: str | None = None
    canary: str = ""
    mentions: tuple[tuple[str, str], ...] = ()
    event: int | None = None
    dated: bool = False
    note: int | None = None
    thread: str | None = None
    ask: str = ""

    def memory(self, key: str) -> Memory:
        """Give it its id."""
        return Memory(
            key,
            self.text,
            title=self.title,
            tags=self.tags,
            category=self.category,
            expanded_keywords=self.keywords,
            importance=self.importance,
            is_sensitive=bool(self.canary),
            scope=self.scope,
            created_at=self.created_at,
            thread=self.thread,
        )


class PhraseDeck:
    """Deals phrases like cards: each of a tuple is used once, in random order, before any is used again."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._left: dict[tuple[str, ...], list[str]] = {}

    def deal(self, phrases: tuple[str, ...]) -> str:
        """Take the next phrase."""
        left = self._left.setdefault(phrases, [])
        if not left:
            left.extend(self._rng.sample(phrases, len(phrases)))
        return left.pop()


def event_drafts(rng: Random, happened: list[Event]) -> list[Draft]:
    """Draft a memory for every event, and a second one for some of the facts that never change."""
    deck = PhraseDeck(rng)
    drafts = [_draft(rng, deck, number, event) for number, event in enumerate(happened)]
    lasting = [number for number, event in enumerate(happened) if not event.before and not event.valid_to]
    undated = [number for number in lasting if not drafts[number].dated]
    repeated = sorted(rng.sample(undated, REPEATED))
    drafts += [_draft(rng, deck, number, happened[number], again=True) for number in repeated]
    return drafts


def written_date(rng: Random, day: date) -> str:
    """Write a day in one of the ways people do.

    Examples
    --------
    >>> written_date(Random(1), date(2025, 3, 9)) in ("9 March 2025", "2025-03-09", "9 Mar 2025", "March 9, 2025")
    True
    """
    month = _MONTHS[day.month - 1]
    ways = (
        f"{day.day} {month} {day.year}",
        day.isoformat(),
        f"{day.day} {month[:3]} {day.year}",
        f"{month} {day.day}, {day.year}",
    )
    return rng.choice(ways)


def at_some_hour(rng: Random, day: date) -> datetime:
    """Pick a waking hour of a day."""
    return datetime.combine(day, time(rng.randint(7, 22), rng.randrange(60)), UTC)


def some_day(rng: Random) -> date:
    """Pick a day of the two years."""
    return FIRST_DAY + timedelta(rng.randrange((LAST_DAY - FIRST_DAY).days))


def sampled(rng: Random, words: Iterable[str], chance: float) -> tuple[str, ...]:
    """Keep each word with this probability."""
    return tuple(word for word in words if rng.random() < chance)


def _draft(rng: Random, deck: PhraseDeck, number: int, event: Event, *, again: bool = False) -> Draft:
    relation = event.relation
    day = written_date(rng, event.valid_from) if event.valid_from else ""
    if event.before:
        phrase = deck.deal(relation.late_phrases if event.late else relation.change_phrases)
    else:
        phrase = deck.deal(relation.start_phrases if day else relation.phrases)
    if relation.asides and rng.random() < 0.4:
        phrase += " " + deck.deal(relation.asides)
    text = phrase.format(s=event.subject, o=event.object, p=event.before, d=day)
    names = [(event.subject, relation.subject_type), (event.object, relation.object_type)]
    if event.before and event.before in text:
        names.append((event.before, relation.object_type))
    return Draft(
        text[0].upper() + text[1:] if rng.random() < 0.5 else text,
        at_some_hour(rng, event.recorded_at + timedelta(rng.randint(1, 40) if again else 0)),
        relation.category,
        title=event.subject if rng.random() < 0.12 else "",
        tags=sampled(rng, relation.tags, 0.45) + sampled(rng, (event.subject.lower(),), 0.15),
        keywords=sampled(rng, relation.keywords, 0.3),
        importance=round(rng.betavariate(3, 3), 2),
        scope=event.scope if rng.random() < 0.7 else None,
        mentions=tuple(names),
        event=number,
        dated=bool(day),
    )


def single_valued(relations: Iterable[WorldRelation]) -> frozenset[str]:
    """Name the relations of which a subject has one object at a time."""
    return frozenset(relation.name for relation in relations if relation.single_valued)
