"""The memories of the demo corpus: those that state facts, notes, look-alikes, sensitive ones, and conversations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random

from hopgate.demo.world import FIRST_DAY, LAST_DAY, Event, WorldRelation, names, table
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
    mentioned = [(event.subject, relation.subject_type), (event.object, relation.object_type)]
    if event.before and event.before in text:
        mentioned.append((event.before, relation.object_type))
    return Draft(
        text[0].upper() + text[1:] if rng.random() < 0.5 else text,
        at_some_hour(rng, event.recorded_at + timedelta(rng.randint(1, 40) if again else 0)),
        relation.category,
        title=event.subject if rng.random() < 0.12 else "",
        tags=sampled(rng, relation.tags, 0.45) + sampled(rng, (event.subject.lower(),), 0.15),
        keywords=sampled(rng, relation.keywords, 0.3),
        importance=round(rng.betavariate(3, 3), 2),
        scope=event.scope if rng.random() < 0.7 else None,
        mentions=tuple(mentioned),
        event=number,
        dated=bool(day),
    )


def single_valued(relations: Iterable[WorldRelation]) -> frozenset[str]:
    """Name the relations of which a subject has one object at a time."""
    return frozenset(relation.name for relation in relations if relation.single_valued)


# The memories that state no fact.


@dataclass(frozen=True, slots=True)
class Note:
    """A memory outside every chain; `exact` quotes its words, `paraphrase` avoids them."""

    text: str
    category: str
    tags: tuple[str, ...] = ()
    scope: str | None = None
    exact: str = ""
    paraphrase: str = ""


_TEXTS = table("notes")
NOTES = tuple(Note(**{**row, "tags": tuple(row.get("tags", ()))}) for row in _TEXTS["note"])
DISTRACTORS: tuple[str, ...] = tuple(_TEXTS["distractors"])

_ONSETS = ("qua", "zor", "vex", "ply", "thru", "snib", "glo", "drum", "frim", "wug")
_MIDDLES = ("ver", "bla", "mip", "dro", "lun", "tas", "gor", "nel")
_CODAS = ("tine", "wick", "moss", "quill", "dax", "forn", "bley", "zoon")

_KINDS = {
    "service": names("home_services", "work_services"),
    "host": names("home_hosts", "work_hosts"),
    "person": names("home_people", "work_people"),
    "team": names("teams"),
    "town": names("towns"),
    "tool": names("tools"),
    "project": names("projects"),
    "vendor": names("vendors"),
    "office": names("offices"),
    "incident": names("home_incidents", "work_incidents"),
    "supply": names("home_supplies", "work_supplies"),
}
# A look-alike must not be true: its second name is one that the first was never related to.
_NEVER = {
    "not_host": ("service", "host"),
    "not_town": ("person", "town"),
    "not_tool": ("project", "tool"),
    "not_service": ("incident", "service"),
}


def notes(rng: Random) -> list[Draft]:
    """Place the hand-written notes in time."""
    return [
        Draft(
            note.text,
            at_some_hour(rng, some_day(rng)),
            note.category,
            tags=note.tags,
            importance=round(rng.betavariate(3, 3), 2),
            scope=note.scope,
            note=number,
        )
        for number, note in enumerate(NOTES)
    ]


def sensitive(rng: Random) -> list[Draft]:
    """Give every sensitive memory a word that no other text holds."""
    canaries: list[str] = []
    while len(canaries) < len(_TEXTS["sensitive"]):
        word = rng.choice(_ONSETS) + rng.choice(_MIDDLES) + rng.choice(_CODAS)
        if word not in canaries:
            canaries.append(word)
    return [
        Draft(
            row["text"].format(c=canary),
            at_some_hour(rng, some_day(rng)),
            row["category"],
            scope=row.get("scope"),
            canary=canary,
        )
        for row, canary in zip(_TEXTS["sensitive"], canaries, strict=True)
    ]


def distractors(rng: Random, happened: list[Event], count: int = 30) -> list[Draft]:
    """Draft memories that sound like facts about known concepts and are none."""
    related: dict[str, set[str]] = {}
    for event in happened:
        related.setdefault(event.subject, set()).add(event.object)
    phrases = [*DISTRACTORS, *rng.sample(DISTRACTORS, count - len(DISTRACTORS))]
    return [_distract(rng, phrase, related) for phrase in phrases]


def _distract(rng: Random, phrase: str, related: dict[str, set[str]]) -> Draft:
    slots = {kind: rng.choice(choices) for kind, choices in _KINDS.items()}
    slots["person2"] = rng.choice([name for name in _KINDS["person"] if name != slots["person"]])
    kinds = {**{kind: kind for kind in _KINDS}, "person2": "person"}
    for slot, (subject, kind) in _NEVER.items():
        slots[slot] = rng.choice([name for name in _KINDS[kind] if name not in related.get(slots[subject], set())])
        kinds[slot] = kind
    mentions = tuple((slots[slot], kinds[slot]) for slot in sorted(slots) if f"{{{slot}}}" in phrase)
    text = phrase.format(**slots)
    return Draft(
        text[0].upper() + text[1:] if rng.random() < 0.3 else text,
        at_some_hour(rng, some_day(rng)),
        rng.choice(("journal", "misc", "chatter", "observations")),
        importance=round(0.5 * rng.random(), 2),
        mentions=mentions,
    )


# Conversations: turns that follow each other, whose answers share no word with what asks for them. What a query finds
# by its words is the turn that asked; the answer is the next one, to which no name leads, only that it came next.

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
            "messages",
            scope=thread.scope,
            mentions=((speakers[turn.by], "person"),),
            thread=thread.name,
            ask=turn.ask,
        )
        at += timedelta(minutes=rng.randint(*_PAUSE))
