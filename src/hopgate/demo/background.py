"""The memories that state no fact: notes, look-alikes, and the sensitive ones with their canaries."""

from __future__ import annotations

from random import Random

from hopgate.demo.drafts import Draft, at_some_hour, some_day
from hopgate.demo.history import Event
from hopgate.demo.notes import DISTRACTORS, NOTES, SENSITIVE
from hopgate.demo.world import names

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
    while len(canaries) < len(SENSITIVE):
        word = rng.choice(_ONSETS) + rng.choice(_MIDDLES) + rng.choice(_CODAS)
        if word not in canaries:
            canaries.append(word)
    return [
        Draft(text.format(c=canary), at_some_hour(rng, some_day(rng)), category, scope=scope, canary=canary)
        for (text, category, scope), canary in zip(SENSITIVE, canaries, strict=True)
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
