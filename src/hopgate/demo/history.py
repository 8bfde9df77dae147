"""What happens in the world: which facts begin, change and end, when, and when a memory records it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from hopgate.demo.world import Group, WorldRelation

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
