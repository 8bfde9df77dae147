"""The world of the demo corpus: its names, its relations, the chains that queries follow, and what happens in it.

Names and phrases are data and are read from `tables/*.toml`; the order of every list matters, since the draws of a seed
depend on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from importlib import resources
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Group:
    """Subjects that take their objects from the same names: what belongs to the home never runs at work."""

    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class WorldRelation:
    """A typed relation, with the phrases that memories state it in and the other words that queries ask for it in.

    The two sets of words are kept apart, and apart from those of every relation it is chained with, so that a
    multi-hop query can only be followed through the concepts. Slots: ``{s}`` subject, ``{o}`` object, ``{p}`` the
    object before, ``{d}`` the day of a change, ``{x}`` the subject or the noun phrase that leads to it.

    Parameters
    ----------
    phrases : tuple of str
        Sentences that state it without a day.
    start_phrases, change_phrases, late_phrases : tuple of str
        Sentences that state the day of the first object, a change on its day, and a change that was learned of later.
    asides : tuple of str
        Sentences that may follow, in words of this relation's own.
    nouns : tuple of str
        Noun phrases for the object, to put a query about it into a longer one.
    questions, past_questions : tuple of str
        Questions for the object today, and on a day.
    changing : int
        How many subjects see it change.
    limit : int, optional
        How many subjects of a group have it; all when None.
    """

    name: str
    subject_type: str
    object_type: str
    category: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    groups: tuple[Group, ...]
    phrases: tuple[str, ...]
    nouns: tuple[str, ...]
    questions: tuple[str, ...]
    start_phrases: tuple[str, ...] = ()
    change_phrases: tuple[str, ...] = ()
    late_phrases: tuple[str, ...] = ()
    past_questions: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    changing: int = 0
    limit: int | None = None
    single_valued: bool = True


def table(name: str) -> dict[str, Any]:
    """Read one file of `tables`."""
    text = resources.files("hopgate.demo").joinpath("tables", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


_NAMES: dict[str, list[str]] = table("names")


def names(*lists: str) -> tuple[str, ...]:
    """Return the names of one list of `tables/names.toml`, or of several, one after the other.

    Examples
    --------
    >>> names("home_vaults", "work_vaults")
    ('tallow', 'pewter', 'vellum', 'bramble', 'gannet', 'obsidian')
    """
    return tuple(name for key in lists for name in _NAMES[key])


def _relation(row: dict[str, Any]) -> WorldRelation:
    groups = tuple(
        Group(names(*group["subjects"])[: group.get("first")], names(*group["objects"]), group.get("scope"))
        for group in row.pop("group")
    )
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return WorldRelation(groups=groups, **plain)


RELATIONS: tuple[WorldRelation, ...] = tuple(
    _relation(row) for name in ("services", "hosts", "people", "work") for row in table(name)["relation"]
)


def _chains(*chains: Sequence[str]) -> tuple[tuple[WorldRelation, ...], ...]:
    by_name = {relation.name: relation for relation in RELATIONS}
    return tuple(tuple(by_name[name] for name in chain) for chain in chains)


CHAINS = _chains(
    ("runs on", "stands in"),
    ("runs on", "is fed by"),
    ("runs on", "was bought from"),
    ("is fed by", "takes cells"),
    ("was bought from", "has contact"),
    ("backs up to", "keeps for"),
    ("depends on", "runs on"),
    ("depends on", "is looked after by"),
    ("is looked after by", "lives in"),
    ("is looked after by", "drinks"),
    ("is looked after by", "is a member of"),
    ("is a member of", "works from"),
    ("works from", "has network"),
    ("was caused by", "is looked after by"),
    ("was caused by", "runs on"),
    ("is funded by", "drinks"),
    ("builds with", "is licensed by"),
    ("runs on", "is fed by", "takes cells"),
    ("runs on", "was bought from", "has contact"),
    ("depends on", "runs on", "stands in"),
    ("depends on", "is looked after by", "is a member of"),
    ("is looked after by", "is a member of", "works from"),
    ("is a member of", "works from", "has network"),
    ("was caused by", "runs on", "stands in"),
    ("was caused by", "is looked after by", "drinks"),
    ("was caused by", "backs up to", "keeps for"),
    ("is funded by", "is a member of", "works from"),
    ("builds with", "is licensed by", "has contact"),
)


# What happens: which facts begin, change and end, when, and when a memory records it.

FIRST_DAY = date(2024, 1, 8)
LAST_DAY = date(2025, 12, 19)

# Days between two changes of a subject, and days by which a late record follows its change. The longest delay is
# shorter than the shortest gap, so that every change is recorded before the next one happens.
_GAP = (60, 160)
_LATE = (12, 45)


@dataclass(frozen=True, slots=True)
class Event:
    """A fact begins, and a memory records it: on its day, or late."""

    relation: WorldRelation
    subject: str
    object: str
    before: str | None
    valid_from: date | None
    valid_to: date | None
    recorded_at: date
    end_recorded_at: date | None
    late: bool
    scope: str | None


def events(rng: Random, relations: tuple[WorldRelation, ...]) -> list[Event]:
    """Draw the history of every subject of every relation."""
    return [event for relation in relations for event in _relation_events(rng, relation)]


def _relation_events(rng: Random, relation: WorldRelation) -> Iterator[Event]:
    shares = _shares(relation)
    for group, changing in zip(relation.groups, shares, strict=True):
        subjects = rng.sample(group.subjects, min(len(group.subjects), relation.limit or len(group.subjects)))
        # A shuffled cycle spreads the objects evenly: no object is left out, none is a hub by accident.
        objects = rng.sample(group.objects, len(group.objects))
        for number, subject in enumerate(subjects):
            first = objects[number % len(objects)]
            if first == subject:
                first = objects[(number + 1) % len(objects)]
            changes = rng.choices((1, 2, 3), (45, 40, 15))[0] if number < changing else 0
            yield from _subject_events(rng, relation, group, subject=subject, first=first, changes=changes)


def _subject_events(
    rng: Random, relation: WorldRelation, group: Group, *, subject: str, first: str, changes: int
) -> Iterator[Event]:
    if not changes:
        recorded = FIRST_DAY + timedelta(rng.randrange((LAST_DAY - FIRST_DAY).days - 40))
        yield Event(relation, subject, first, None, None, None, recorded, None, False, group.scope)
        return
    began = FIRST_DAY + timedelta(rng.randrange(120))
    starts: list[date | None] = [began if rng.random() < 0.5 else None]
    records = [began + timedelta(rng.randrange(2))]
    objects, lates = [first], [False]
    for _ in range(changes):
        began = began + timedelta(rng.randint(*_GAP))
        late = rng.random() < 0.4
        starts.append(began)
        records.append(began + timedelta(rng.randint(*_LATE) if late else rng.randrange(2)))
        objects.append(rng.choice([name for name in group.objects if name != objects[-1]]))
        lates.append(late)
    for number, name in enumerate(objects):
        follows = number < changes
        yield Event(
            relation,
            subject,
            name,
            objects[number - 1] if number else None,
            starts[number],
            starts[number + 1] if follows else None,
            records[number],
            records[number + 1] if follows else None,
            lates[number],
            group.scope,
        )


def _shares(relation: WorldRelation) -> list[int]:
    """Split the changing subjects over the groups as evenly as whole numbers allow."""
    count = len(relation.groups)
    return [relation.changing // count + (number < relation.changing % count) for number in range(count)]
