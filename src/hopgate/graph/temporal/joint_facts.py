"""What two memories tell together: one states something of a thing in any words, another that it changed.

"Backups go to Backblaze" says little by itself, and "backups go to Wasabi now" tells of a change of something. Together
they are two facts, of which the second ends the first. A statement that no change follows tells nothing: another value
without a word of change may be of another aspect, another time or another thing (docs/research/extraction.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.agent_nouns import is_agent
from hopgate.extract.rules.capitals import is_given, is_person
from hopgate.extract.rules.distinguishing import is_activity
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.parts_of_things import is_part
from hopgate.extract.rules.places import is_place, is_room
from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.stated_loans import LENT, RETURNED
from hopgate.extract.rules.stated_parts import ANY, AT, BY, OVER
from hopgate.extract.rules.subjects import is_somebody
from hopgate.extract.rules.towns import is_town
from hopgate.graph.names import normalise
from hopgate.graph.temporal.thing_keys import are_compounds, head_of, may_be_short, role_of, thing_key
from hopgate.graph.temporal.value_sorts import JOINT_RELATIONS, ONE_AT_A_TIME, fits, may_follow_named, sorts_of
from hopgate.store.graph.stated_rows import NewStatement, StatedRow
from hopgate.times import moment

_MAX = 200
# Of more things that had a value, nobody knows which a change of it is about.
_MOST_NEAR = 64
_LEADERS = frozenset(map(comparison_form, table("verbs")["leader"].split()))


class JointFact(NamedTuple):
    """A fact that a memory tells together with another one; `valid_to` where what it says is that something is over."""

    memory_id: int
    subject: str
    relation: str
    object: str
    valid_from: datetime | None
    recorded_at: datetime
    valid_to: datetime | None = None


@dataclass(eq=False)
class _Thing:
    """What was said of one thing so far, and by which text it is called."""

    name: str
    said: list[StatedRow] = field(default_factory=list)
    # The values that were told of a relation.
    told: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def statements_of(memory_id: int, stated: Iterable[Stated]) -> Iterator[NewStatement]:
    """Give statements as rows, each with the texts that it is compared by.

    Examples
    --------
    >>> [row] = statements_of(7, [Stated("the Rehearsals", "kept at", "Marlo's garage")])
    >>> row.thing_key, row.value_key
    ('rehearsal', 'marlo garage')
    """
    for place, one in enumerate(stated):
        value = normalise(one.value)
        if value and max(len(one.thing), len(one.value), len(one.former)) <= _MAX:
            key, former = thing_key(one.about or one.thing), normalise(one.former) or None
            yield NewStatement(memory_id, place, one.thing, key, one.relation, one.value, value, former, one.is_change,
                               moment(one.valid_from))  # fmt: skip


def joint_facts(rows: Iterable[StatedRow]) -> list[JointFact]:
    """Follow statements in the order in which they were made, and give the facts that changes make of them.

    Examples
    --------
    >>> from hopgate.extract.rules.stated_parts import AMOUNT
    >>> def row(memory, relation, value, change=False, former=None):
    ...     key = normalise(value)
    ...     return StatedRow(memory, 0, None, "backups", "backup", relation, value, key, former, change, None,
    ...                      datetime(2024, memory, 1))
    >>> joint_facts([row(1, AT, "Backblaze"), row(2, AMOUNT, "3 TB")])
    []
    >>> facts = joint_facts([row(1, AT, "Backblaze"), row(2, AMOUNT, "3 TB"), row(3, AT, "Wasabi", True)])
    >>> for fact in facts:
    ...     print(fact.memory_id, fact.subject, "|", fact.relation, "|", fact.object)
    1 backups | kept at | Backblaze
    3 backups | kept at | Wasabi
    """
    scopes: dict[str | None, list[StatedRow]] = defaultdict(list)
    for row in rows:
        scopes[row.scope].append(row)
    found = (fact for said in scopes.values() for fact in _of_scope(sorted(said, key=_order)))
    return list(dict.fromkeys(found))


def _order(row: StatedRow) -> tuple[datetime, int, int, str, str]:
    # What a memory states as it was read with several others has one place.
    return row.recorded_at, row.memory_id, row.place, row.thing_key, row.former_key or ""


def _of_scope(rows: list[StatedRow]) -> Iterator[JointFact]:  # noqa: PLR0912
    things: dict[str, _Thing] = {}
    holding: dict[str, dict[_Thing, None]] = defaultdict(dict)  # the things that were ever said to have a value
    called: dict[str, dict[_Thing, None]] = defaultdict(dict)  # the things by each word that they were called by
    longer: dict[str, dict[_Thing, None]] = defaultdict(dict)  # the things by the last of several words
    for row in rows:
        thing = things.get(row.thing_key) if row.thing_key else None
        if row.relation == OVER:
            yield from _over(row, thing)
            continue
        if row.relation in (LENT, RETURNED):
            row = _on_loan(row, thing.said if thing else [])  # noqa: PLW2901
        if row.is_change:
            held = _held(row, thing, _near(row, holding, called))
            if not held and not thing:
                held = _held_by_longer(row, longer.get(row.thing_key, ()))
            if held:
                thing, before = held
                typed = [one for one in (*before, row) if one.relation not in JOINT_RELATIONS]
                name = typed[0].thing if typed else thing.name
                relation = typed[0].relation if typed else _named(_sort(before, row), name, (*before, row))
                # What a pattern read is a fact already, of a thing by this name.
                told = [
                    one for one in (*before, row)
                    if one not in typed or (one.thing, one.relation) != (name, relation) or not _has_start(one)
                ]  # fmt: skip
                yield from (_fact(one, name, relation) for one in told)
                if row.former_key and relation not in ONE_AT_A_TIME:
                    yield _end(row, name, relation, before[-1].value)
                thing.told[relation] |= {row.value_key, before[-1].value_key}
                if relation == BY and (role := role_of(name)) and is_agent(role[0]):
                    # "Mr Webb | math teacher of | Maisie", as a pattern may have read it.
                    yield _end(row, before[-1].value, f"{role[0]} of", role[1])
        elif thing:
            for relation, values in thing.told.items():
                if row.value_key in values and fits(row.relation, relation):
                    yield _fact(row, thing.name, relation)  # back where it was, or still there
        if not thing and row.thing_key:
            thing = _Thing(row.thing)
        if thing:
            if row.thing_key:
                things[row.thing_key] = thing  # from here on this text means that thing, too
            if " " in row.thing_key and " for " not in row.thing_key:
                longer[row.thing_key.rpartition(" ")[2]][thing] = None
            holding[row.value_key][thing] = None
            for word in _words(row):
                called[word][thing] = None
            thing.said.append(row)


def _over(row: StatedRow, thing: _Thing | None) -> Iterator[JointFact]:
    """What a thing had, and that it is over; it has nothing instead."""
    before = _last(row, thing) if thing else []
    if thing and before:
        typed = next((one for one in before if one.relation not in JOINT_RELATIONS), None)
        relation = typed.relation if typed else _named(_sort(before, row), thing.name, before)
        name = typed.thing if typed else thing.name
        yield from (_fact(one, name, relation) for one in before if one.relation in JOINT_RELATIONS)
        yield _end(row, name, relation, before[-1].value)
        thing.said = [one for one in thing.said if one.value_key != before[-1].value_key]


def _on_loan(row: StatedRow, said: list[StatedRow]) -> StatedRow:
    """Who has a thing takes the place of where it was; brought back, it is where it was before he had it."""
    if row.relation == LENT:
        placed = [one.relation for one in said if not {AT, BY}.isdisjoint(sorts_of(one.relation))]
        return row._replace(relation=placed[-1] if placed else BY)
    had = len(said) > 1 and said[-1].value_key == row.value_key
    if not had:
        return row._replace(relation=BY, is_change=False, thing_key="")
    was = said[-2]
    return row._replace(relation=was.relation, value=was.value, value_key=was.value_key)


def _held(row: StatedRow, thing: _Thing | None, near: list[_Thing]) -> tuple[_Thing, list[StatedRow]] | None:
    """What held before a change, and of which thing: the one it names, or the only one that had what is over."""
    if thing and (before := _last(row, thing)):
        return thing, before
    if thing and not row.former_key:
        return None
    found = [(one, before) for one in near if one is not thing and (before := _last(row, one))]
    if len(found) != 1:
        return None
    # "Dr Sharma has gone to Australia": that is not who the doctor is.
    elsewhere = is_person(found[0][1][-1].value) and is_town(row.value)
    return None if elsewhere and not row.thing_key else found[0]


def _held_by_longer(row: StatedRow, longer: Collection[_Thing]) -> tuple[_Thing, list[StatedRow]] | None:
    """What the only thing had that a change may call by its last word, and that is nobody's by name."""
    role = row.relation == BY and row.former_key is not None and is_agent(row.thing_key)
    if len(longer) != 1 or not (role or may_be_short(row.thing_key, row.relation)):
        return None
    (thing,) = longer
    before = [] if "'s " in thing.name else _last(row, thing)
    return (thing, before) if before else None


def _last(row: StatedRow, thing: _Thing) -> list[StatedRow]:
    """The last value that a thing was said to have of the sort that a change is about, by all who said it last."""
    said = [one for one in thing.said if one.memory_id != row.memory_id and
            (_is_former(row.former_key, one.value_key) if row.former_key else _may_follow(row, one))]  # fmt: skip
    if not said or (row.relation != OVER and not _may_be_next(row, said[-1])):
        return []
    if (
        row.relation == said[-1].relation
        and row.relation not in JOINT_RELATIONS
        and row.thing_key == said[-1].thing_key
        and (row.thing == said[-1].thing or not row.former_key)  # of two who speak, one may tell what both have
        and _has_start(row)
    ):
        return []  # both are facts of their own
    if row.former_key and any(
        not _is_former(row.former_key, one.value_key)
        and one.memory_id != row.memory_id
        and _order(one) > _order(said[-1])
        and one.relation == said[-1].relation
        and _are_alike(one, said[-1])
        for one in thing.said
    ):
        return []  # it had another value since
    run: list[StatedRow] = []
    for one in reversed(said):
        if one.value_key != said[-1].value_key:
            break
        run.append(one)
    return run[::-1]


def _may_be_next(row: StatedRow, before: StatedRow) -> bool:
    return row.value_key != before.value_key and may_follow_named(row.relation, before.relation)


def _is_former(former: str, value: str) -> bool:
    """Whether a change says that this is over, or its first words: "St Luke's", of "St Luke's Hospital"."""
    return value == former or value.startswith(f"{former} ")


def _may_follow(row: StatedRow, before: StatedRow) -> bool:
    """Whether a change that names no former value may be of this one."""
    return fits(row.relation, before.relation) and _are_alike(row, before)


def _are_alike(one: StatedRow, other: StatedRow) -> bool:
    """Whether values whose relation nobody knows may be of one sort: who conducts a choir is not where it sings."""
    if is_person(one.value) == is_person(other.value):
        return True
    # "Dad is under Dr Lomax now" is not where he lives; but a key may be with somebody now.
    is_placed = not is_somebody(other.thing) and not is_activity(other.thing)
    return ANY not in (one.relation, other.relation) and is_placed


def _sort(before: Sequence[StatedRow], row: StatedRow) -> str:
    """The relation of what held last, or else of the change; where nobody knows it, where or what something is."""
    placed = all(is_place(one.value) or is_room(one.value) or is_town(one.value) for one in (before[-1], row))
    named = (one.relation for one in (*reversed(before), row) if one.relation not in (ANY, OVER))
    return next(named, AT if placed else BY)


def _near(
    row: StatedRow, holding: Mapping[str, Mapping[_Thing, None]], called: Mapping[str, Mapping[_Thing, None]]
) -> list[_Thing]:
    """The things that had what a change says to be over, and that it may be about: they share a word with its text."""
    held = holding.get(row.former_key, {}) if row.former_key else {}
    if not row.thing_key:
        return list(held) if len(held) <= _MOST_NEAR else []
    head = head_of(row.thing_key)
    if head in _LEADERS and len(held) <= _MOST_NEAR:
        # "Herr Krüger hört auf, Frau Demir ist die neue Vorsitzende": of what he led.
        return [thing for thing in held if any(one.relation == "led by" for one in thing.said)]
    owned = row.thing.rpartition("'s ")[2] if "'s " in row.thing else ""
    # "Jellyfin's cache" is not Jellyfin, nor is "Ulrich's wife" Ulrich.
    words = [head] if is_part(head) else thing_key(owned or row.thing_key).split()
    shared = dict.fromkeys(thing for word in words for thing in _shared(held, called.get(word, {})))
    if not shared and len(held) <= _MOST_NEAR:
        # "die Büromiete" after "die Miete"
        shared = dict.fromkeys(thing for thing in held if are_compounds(head, head_of(thing_key(thing.name))))
    return [thing for thing in shared if not _is_of_another_body(row.thing_key, thing_key(thing.name))]


def _is_of_another_body(one: str, other: str) -> bool:
    """Whether two offices are of two bodies: "treasurer of the school board" and the club's treasurer."""
    mine, theirs = one.split(), other.split()
    return len(mine) > 1 and len(theirs) > 1 and is_agent(mine[-1]) and set(mine) & set(theirs) == {mine[-1]}


def _shared(one: Mapping[_Thing, None], other: Mapping[_Thing, None]) -> Iterator[_Thing]:
    """What two mappings share, at the cost of the smaller; a word that very many are called by tells none of them."""
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    return (thing for thing in few if thing in many) if len(few) <= _MOST_NEAR else iter(())


def _words(row: StatedRow) -> set[str]:
    """The words by which a statement calls its thing."""
    return {*row.thing_key.split(), *normalise(row.thing).split()}


def _named(relation: str, thing: str, rows: Sequence[StatedRow]) -> str:
    """What a joint relation is called where the words allow more than "kept at".

    Examples
    --------
    >>> def row(value):
    ...     return StatedRow(1, 0, None, "", "", AT, value, value, None, False, None, datetime(2024, 1, 1))
    >>> _named(AT, "weather station", [row("balcony"), row("roof")]), _named(AT, "Immich", [row("puffin"), row("teal")])
    ('located in', 'runs on')
    >>> _named(AT, "backups", [row("Backblaze"), row("Wasabi")]), _named(AT, "Lena", [row("chemo"), row("aspirin")])
    ('kept at', 'kept at')
    """
    rooms = [is_room(row.value) or is_place(row.value) for row in rows]
    if relation != AT or not all(room or row.value.islower() for room, row in zip(rooms, rows, strict=True)):
        return relation
    if thing.islower() or all(rooms):
        return "located in"
    hosts = not is_given(thing.partition(" ")[0]) and not any(rooms) and not any(" " in row.value for row in rows)
    return "runs on" if hosts else relation


def _has_start(row: StatedRow) -> bool:
    """Whether what a pattern read of a change says since when: else it would not end what was."""
    return row.valid_from is not None or not row.is_change


def _end(row: StatedRow, name: str, relation: str, value: str) -> JointFact:
    """That a thing has a value no more, which another one of its relation does not say: a team is part of several."""
    return JointFact(row.memory_id, name, relation, value, None, row.recorded_at, row.valid_from or row.recorded_at)


def _fact(row: StatedRow, name: str, relation: str) -> JointFact:
    since = row.valid_from or (row.recorded_at if row.is_change else None)
    return JointFact(row.memory_id, name, relation, row.value, since, row.recorded_at)
