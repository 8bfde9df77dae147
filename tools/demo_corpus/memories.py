"""The memories of the demo corpus: those that state facts, notes, look-alikes, sensitive ones, and conversations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from random import Random

from world import FIRST_DAY, RELATIONS, names, table

from hopgate.demo import LAST_DAY, WorldFact
from hopgate.memory import Memory

# How many undated facts a second memory states again, in other words.
REPEATED = 10
# Memories that sound like facts and are none.
LOOK_ALIKES = 30
# Not strftime: the files must be the same in every locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it has an id, and what it tells.

    Parameters
    ----------
    mentions : tuple of (str, str)
        Names and their kinds.
    fact : int, optional
        The number of the fact that it states; `dated` is whether it names the day.
    note : int, optional
        The number of the hand-written note that it is.
    canary : str
        A word that no other text holds, of a sensitive memory.
    ask : str
        A query for it in words of the turn before.
    """

    memory: Memory
    mentions: tuple[tuple[str, str], ...] = ()
    fact: int | None = None
    dated: bool = False
    note: int | None = None
    canary: str = ""
    ask: str = ""


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


def written_date(rng: Random, day: date) -> str:
    """Write a day in one of the ways people do.

    Examples
    --------
    >>> written_date(Random(1), date(2025, 3, 9)) in ("9 March 2025", "2025-03-09", "9 Mar 2025", "March 9, 2025")
    True
    """
    month = _MONTHS[day.month - 1]
    return rng.choice(
        (
            f"{day.day} {month} {day.year}",
            day.isoformat(),
            f"{day.day} {month[:3]} {day.year}",
            f"{month} {day.day}, {day.year}",
        )
    )


def _at_some_hour(rng: Random, day: date) -> datetime:
    """Pick a waking hour of a day."""
    return datetime.combine(day, time(rng.randint(7, 22), rng.randrange(60)), UTC)


def _some_day(rng: Random) -> date:
    return FIRST_DAY + timedelta(rng.randrange((LAST_DAY - FIRST_DAY).days))


def _sampled(rng: Random, words: Iterable[str], chance: float) -> tuple[str, ...]:
    return tuple(word for word in words if rng.random() < chance)


def of_facts(rng: Random, facts: Sequence[WorldFact]) -> list[Draft]:
    """Draft a memory for every fact, and a second one for some of those that never change."""
    deck = PhraseDeck(rng)
    drafts = [_of_fact(rng, deck, number, fact) for number, fact in enumerate(facts)]
    lasting = [number for number, fact in enumerate(facts) if not fact.before and not fact.valid_to]
    undated = [number for number in lasting if not drafts[number].dated]
    repeated = sorted(rng.sample(undated, REPEATED))
    return drafts + [_of_fact(rng, deck, number, facts[number], again=True) for number in repeated]


def _of_fact(rng: Random, deck: PhraseDeck, number: int, fact: WorldFact, *, again: bool = False) -> Draft:
    relation = RELATIONS[fact.relation]
    day = written_date(rng, fact.valid_from) if fact.valid_from else ""
    if fact.before:
        phrase = deck.deal(relation.late_phrases if fact.late else relation.change_phrases)
    else:
        phrase = deck.deal(relation.start_phrases if day else relation.phrases)
    if relation.asides and rng.random() < 0.4:
        phrase += " " + deck.deal(relation.asides)
    text = phrase.format(s=fact.subject, o=fact.object, p=fact.before, d=day)
    mentioned = [(fact.subject, relation.subject_type), (fact.object, relation.object_type)]
    if fact.before and fact.before in text:
        mentioned.append((fact.before, relation.object_type))
    memory = Memory(
        "draft",
        text[0].upper() + text[1:] if rng.random() < 0.5 else text,
        created_at=_at_some_hour(rng, fact.recorded_at + timedelta(rng.randint(1, 40) if again else 0)),
        category=relation.category,
        title=fact.subject if rng.random() < 0.12 else "",
        tags=_sampled(rng, relation.tags, 0.45) + _sampled(rng, (fact.subject.lower(),), 0.15),
        expanded_keywords=_sampled(rng, relation.keywords, 0.3),
        importance=round(rng.betavariate(3, 3), 2),
        scope=fact.scope if rng.random() < 0.7 else None,
    )
    return Draft(memory, tuple(mentioned), number, bool(day))


# ---- Memories that state no fact -------------------------------------------------------------------------------------

_TEXTS = table("notes")
# Each has a text and a category, and queries for it: `exact` quotes its words, `paraphrase` avoids them.
NOTES = tuple(_TEXTS["note"])
_CANARIES = _TEXTS["canaries"]
_KINDS = {kind: names(*lists) for kind, lists in _TEXTS["kinds"].items()}
# A look-alike must not be true: its second name is one that the first was never related to.
_NEVER = {
    "not_host": ("service", "host"),
    "not_town": ("person", "town"),
    "not_tool": ("project", "tool"),
    "not_service": ("incident", "service"),
}


def of_notes(rng: Random) -> list[Draft]:
    """Place the hand-written notes in time."""
    return [
        Draft(
            Memory(
                "draft",
                note["text"],
                created_at=_at_some_hour(rng, _some_day(rng)),
                category=note["category"],
                tags=tuple(note.get("tags", ())),
                importance=round(rng.betavariate(3, 3), 2),
                scope=note.get("scope"),
            ),
            note=number,
        )
        for number, note in enumerate(NOTES)
    ]


def sensitive(rng: Random) -> list[Draft]:
    """Give every sensitive memory a word that no other text holds."""
    canaries: list[str] = []
    while len(canaries) < len(_TEXTS["sensitive"]):
        word = "".join(rng.choice(_CANARIES[part]) for part in ("onsets", "middles", "codas"))
        if word not in canaries:
            canaries.append(word)
    drafts = []
    for row, canary in zip(_TEXTS["sensitive"], canaries, strict=True):
        at, scope = _at_some_hour(rng, _some_day(rng)), row.get("scope")
        text = row["text"].format(c=canary)
        memory = Memory("draft", text, created_at=at, category=row["category"], is_sensitive=True, scope=scope)
        drafts.append(Draft(memory, canary=canary))
    return drafts


def look_alikes(rng: Random, facts: Sequence[WorldFact]) -> list[Draft]:
    """Draft memories that sound like facts about known concepts and are none."""
    related: dict[str, set[str]] = {}
    for fact in facts:
        related.setdefault(fact.subject, set()).add(fact.object)
    phrases: list[str] = _TEXTS["distractors"]
    phrases = [*phrases, *rng.sample(phrases, LOOK_ALIKES - len(phrases))]
    return [_look_alike(rng, phrase, related) for phrase in phrases]


def _look_alike(rng: Random, phrase: str, related: dict[str, set[str]]) -> Draft:
    slots = {kind: rng.choice(choices) for kind, choices in _KINDS.items()}
    slots["person2"] = rng.choice([name for name in _KINDS["person"] if name != slots["person"]])
    kinds = {**{kind: kind for kind in _KINDS}, "person2": "person"}
    for slot, (subject, kind) in _NEVER.items():
        slots[slot] = rng.choice([name for name in _KINDS[kind] if name not in related.get(slots[subject], set())])
        kinds[slot] = kind
    text = phrase.format(**slots)
    memory = Memory(
        "draft",
        text[0].upper() + text[1:] if rng.random() < 0.3 else text,
        created_at=_at_some_hour(rng, _some_day(rng)),
        category=rng.choice(("journal", "misc", "chatter", "observations")),
        importance=round(0.5 * rng.random(), 2),
    )
    return Draft(memory, tuple((slots[slot], kinds[slot]) for slot in sorted(slots) if f"{{{slot}}}" in phrase))


# Minutes between two turns of a conversation. Their answers share no word with what asks for them: what a query finds
# by its words is the turn that asked; the answer is the next one, to which no name leads, only that it came next.
_PAUSE = (1, 7)


def of_turns(rng: Random) -> list[Draft]:
    """Draw who talks and on which day, and place the turns minutes apart."""
    drafts = []
    for thread in table("threads")["thread"]:
        speakers = dict(zip("ab", rng.sample(names(thread["people"]), 2), strict=True))
        at = _at_some_hour(rng, _some_day(rng))
        for turn in thread["turn"]:
            said, of = f"{speakers[turn['by']]}: {turn['text']}", {"scope": thread["scope"], "thread": thread["name"]}
            memory = Memory("draft", said, created_at=at, category="messages", **of)
            drafts.append(Draft(memory, ((speakers[turn["by"]], "person"),), ask=turn.get("ask", "")))
            at += timedelta(minutes=rng.randint(*_PAUSE))
    return drafts
