"""The world of the demo corpus: its names, its relations, the chains that queries follow, and what becomes true in it.

Names and phrases are data and are read from `tables/*.toml`; the order of every list matters, since the draws of a seed
depend on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from hopgate.demo import LAST_DAY, WorldFact

FIRST_DAY = date(2024, 1, 8)
# Days between two changes of a subject, and days by which a late record follows its change. The longest delay is
# shorter than the shortest gap, so that every change is recorded before the next one happens.
_GAP = (60, 160)
_LATE = (12, 45)


def table(name: str) -> dict[str, Any]:
    """Read one file of `tables`."""
    return tomllib.loads((Path(__file__).parent / "tables" / f"{name}.toml").read_text("utf-8"))


_NAMES: dict[str, list[str]] = table("names")


def names(*lists: str) -> tuple[str, ...]:
    """Return the names of one list of `tables/names.toml`, or of several, one after the other.

    Examples
    --------
    >>> names("home_vaults", "work_vaults")
    ('tallow', 'pewter', 'vellum', 'bramble', 'gannet', 'obsidian')
    """
    return tuple(name for key in lists for name in _NAMES[key])


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


def _relation(row: dict[str, Any]) -> WorldRelation:
    groups = tuple(
        Group(names(*group["subjects"])[: group.get("first")], names(*group["objects"]), group.get("scope"))
        for group in row.pop("group")
    )
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return WorldRelation(groups=groups, **plain)


RELATIONS: dict[str, WorldRelation] = {
    row["name"]: _relation(row) for name in ("services", "hosts", "people", "work") for row in table(name)["relation"]
}
CHAINS = tuple(tuple(RELATIONS[name] for name in chain) for chain in table("chains")["chains"])


def history(rng: Random) -> list[WorldFact]:
    """Draw the facts of every subject of every relation: when each begins, ends and is recorded."""
    return [fact for relation in RELATIONS.values() for fact in _of_relation(rng, relation)]


def _of_relation(rng: Random, relation: WorldRelation) -> Iterator[WorldFact]:
    each, more = divmod(relation.changing, len(relation.groups))
    for place, group in enumerate(relation.groups):
        subjects = rng.sample(group.subjects, min(len(group.subjects), relation.limit or len(group.subjects)))
        # A shuffled cycle spreads the objects evenly: no object is left out, none is a hub by accident.
        objects = rng.sample(group.objects, len(group.objects))
        for number, subject in enumerate(subjects):
            first = objects[number % len(objects)]
            if first == subject:
                first = objects[(number + 1) % len(objects)]
            is_changing = number < each + (place < more)
            changes = rng.choices((1, 2, 3), (45, 40, 15))[0] if is_changing else 0
            said = (subject, relation.name, first, relation.subject_type, relation.object_type)
            if changes:
                yield from _changing(rng, group, WorldFact(*said, None, None, FIRST_DAY, scope=group.scope), changes)
            else:
                recorded = FIRST_DAY + timedelta(rng.randrange((LAST_DAY - FIRST_DAY).days - 40))
                yield WorldFact(*said, None, None, recorded, scope=group.scope)


def _changing(rng: Random, group: Group, first: WorldFact, changes: int) -> Iterator[WorldFact]:
    """A fact and those that follow it."""
    began = FIRST_DAY + timedelta(rng.randrange(120))
    fact = replace(
        first,
        valid_from=began if rng.random() < 0.5 else None,
        recorded_at=began + timedelta(rng.randrange(2)),
    )
    for _ in range(changes):
        began = began + timedelta(rng.randint(*_GAP))
        late = rng.random() < 0.4
        recorded = began + timedelta(rng.randint(*_LATE) if late else rng.randrange(2))
        yield replace(fact, valid_to=began, end_recorded_at=recorded)
        after = rng.choice([name for name in group.objects if name != fact.object])
        fact = replace(fact, object=after, before=fact.object, valid_from=began, recorded_at=recorded, late=late)
    yield fact
