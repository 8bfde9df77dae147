"""Changes that two memories tell: each later memory is compared with earlier ones, and what it ends becomes facts.

By itself "Mr Dube has taken Edie on" tells of nothing; after "Edie's piano is with Mrs Lathom" it does. Of such a pair
two facts are written, of which each knows both memories: the earlier memory's, with its end, and the later one's, from
then on. Their relation and names are those of a fact of the earlier memory where it has one of the former value, else
the relation "is" and the words themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.extract.changes.model import Compared
from hopgate.extract.changes.reader import MOST_CHARACTERS, ChangeReader, is_short
from hopgate.extract.extraction import Source
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.progress import Progress
from hopgate.graph.build.derive import rederive
from hopgate.graph.build.sink import is_name, read_alone
from hopgate.graph.names import initials, normalise
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import changes, fact_rows, name_rows, relation_rows
from hopgate.store.graph.changes import NamedFact, Rival
from hopgate.store.graph.fact_rows import FactRow

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection

    from hopgate.store.store import Store

# Memories that are read in one transaction and written in another.
BATCH = 256
# With how many earlier ones each is compared, some 20 ms each: of 5,440 notes in one scope the one that a change is of
# is the first for 885 of 1,160, among three for 1,033, among six for 1,089 (docs/research/extraction.md).
MOST_EARLIER = 8
IS = "is"
"""The relation of a thing and its value where no fact of the earlier memory says another."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An earlier memory and a later one, and the facts of the later that seem to end some of the earlier."""

    earlier_id: int
    later_id: int
    rivals: tuple[Rival, ...] = ()


class Batch(NamedTuple):
    """Memories that wait, with what is compared with them, and the texts of all of these."""

    waiting: Sequence[int]
    pairs: list[Pair]
    texts: dict[int, Source]


@dataclass(frozen=True, slots=True)
class Note:
    """One memory of a pair: its text, when it was known, the names that it mentions and what it says."""

    text: str
    known: datetime
    names: Sequence[str] = ()
    facts: Sequence[NamedFact] = ()


class Change(NamedTuple):
    """What a pair of memories tells: of which thing by which relation what was is over, and what is instead, if any."""

    thing: str
    relation: str
    former: str
    value: str
    since: datetime


def read_changes(
    store: Store, reader: ChangeReader, identity: ExtractorIdentity, show: Callable[[Progress], object] = str
) -> None:
    """Compare every memory that waits for it with earlier ones of its scope; edges follow at once."""
    began, progress = time.monotonic(), Progress(stage="reading changes")
    waiting = store.run(lambda connection: changes.waiting(connection, identity.hash))
    for start in range(0, len(waiting), BATCH):
        batch = store.run(partial(_batch, reader, waiting[start : start + BATCH]))
        compared = reader.read([(batch.texts[p.earlier_id].text, batch.texts[p.later_id].text) for p in batch.pairs])
        read = {
            pair
            if not pair.rivals or reader.refutes(batch.texts[pair.later_id].text, seen)
            else replace(pair, rivals=()): seen
            for pair, seen in zip(batch.pairs, compared, strict=True)
        }
        store.run(partial(_write, reader, batch, read))
        progress = replace(
            progress, memories=start + len(batch.waiting), total=len(waiting), seconds=time.monotonic() - began
        )
        show(progress)


def _batch(reader: ChangeReader, waiting: Sequence[int], connection: Connection[Any]) -> Batch:
    """What is to be compared: of notes that may tell a change the nearest, and of every one what its facts end."""
    texts = read_alone(connection, waiting)
    telling = [key for key, source in texts.items() if reader.may_tell_change(source.text)]
    near = changes.earlier(connection, telling, limit=MOST_EARLIER, longest=MOST_CHARACTERS) if telling else {}
    rivals: dict[tuple[int, int], list[Rival]] = {}
    for rival in changes.rivals(connection, waiting):
        rivals.setdefault((rival.earlier_id, rival.later_id), []).append(rival)
    keys = dict.fromkeys([*((one, later) for later, some in near.items() for one in some), *rivals])
    texts |= read_alone(connection, {key[0] for key in keys} - texts.keys())
    pairs = [
        Pair(*key, tuple(rivals.get(key, ())))
        for key in keys
        if texts.keys() >= {*key} and all(is_short(texts[one].text) for one in key)
    ]
    return Batch(waiting, pairs, texts)


def _write(reader: ChangeReader, batch: Batch, compared: Mapping[Pair, Compared], connection: Connection[Any]) -> None:
    """Write what was read of memories that are still what they were; the others wait on. Rivals left are refuted."""
    deriving = share(connection)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    known = {row.id: row.recorded_at for row in extractions.readable(connection, list(batch.texts.values())).values()}
    name_rows.lock(connection)
    pairs = [pair for pair in compared if {pair.earlier_id, pair.later_id} <= known.keys()]
    refuted = [rival for pair in pairs for rival in pair.rivals]
    changes.set_beside(connection, refuted)
    best: dict[int, Pair] = {}
    for pair in pairs:
        if pair.later_id not in best or compared[pair].end > compared[best[pair.later_id]].end:
            best[pair.later_id] = pair
    changed = {rival.later_id for rival in refuted}
    # In the order of their days: what an earlier one was said to be is what a later one ends.
    for pair in sorted(best.values(), key=lambda pair: (known[pair.later_id], pair.later_id)):
        if compared[pair].end >= reader.threshold:
            earlier, later = (
                Note(batch.texts[key].text, known[key], *changes.names_and_facts(connection, key))
                for key in (pair.earlier_id, pair.later_id)
            )
            if change := change_of(compared[pair], earlier, later):
                _add(connection, pair, change, compared[pair].end, later.known)
                changed.add(pair.later_id)
    done = [key for key in batch.waiting if key in known or key not in batch.texts]
    changes.set_compared(connection, done, reader.name)
    if deriving and changed:
        groups = fact_rows.groups_of_memories(connection, sorted(changed))
        concepts = {end for group in groups for end in (group.src_id, group.dst_id) if end is not None}
        rederive(connection, concept_ids=sorted(concepts), groups=groups)


def change_of(compared: Compared, earlier: Note, later: Note) -> Change | None:
    """What a pair tells, by the names that both have; None where neither says what was.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.changes.model import Span
    >>> of_earlier = [Span("thing", "Backups", 0, 1), Span("former", "B2", 14, 1)]
    >>> pair = Compared(0.99, of_earlier, [Span("value", "Wasabi", 4, 1)])
    >>> earlier, later = Note("Backups go to B2", datetime(2024, 1, 1)), Note("Now Wasabi", datetime(2024, 2, 1))
    >>> change_of(pair, earlier, later)[:4]
    ('Backups', 'is', 'B2', 'Wasabi')
    """
    named = compared.with_names(earlier.names, later.names, (earlier.text, later.text))
    # "From 2019 to 2021 she worked at BMW" is no news of where she works.
    if any(fact.valid_to and _shared(fact.object, named.value) for fact in later.facts):
        return None
    was, now = _facts_of(named, *([fact for fact in note.facts if not fact.valid_to] for note in (earlier, later)))
    thing, relation, former = (was.subject, was.relation, was.object) if was else (named.thing, IS, named.former)
    if not was and (now := _stated(named, later.facts)):
        thing, relation = now.subject, now.relation
    # What the later note's own fact says need not be said again.
    value = named.value if not now else now.object if now.subject != thing else ""
    dates = (fact.valid_from for fact in later.facts if fact.valid_from and fact.valid_from > earlier.known)
    since = now.valid_from if now and now.valid_from else next(dates, later.known)
    normals = normalise(thing), normalise(former)
    if normals[0] == normals[1] or not (is_name(thing, normals[0]) and is_name(former, normals[1])):
        return None
    if not is_name(value, normalise(value)) or normalise(value) in normals:
        value = ""
    return Change(thing, relation, former, value, since)


def _facts_of(
    named: Compared, earlier: Sequence[NamedFact], later: Sequence[NamedFact]
) -> tuple[NamedFact | None, NamedFact | None]:
    """The fact of the earlier note that is over, and that of the later one which says what is instead.

    The first is the one whose object has most words of what was, and whose subject most of the thing; or where none has
    any, as of dates and amounts, one that a fact of the later note contradicts.
    """

    def likeness(fact: NamedFact) -> tuple[float, float]:
        return _shared(fact.object, named.former), _shared(fact.subject, named.thing)

    def successor(fact: NamedFact) -> NamedFact | None:
        return next((one for one in later if one.relation == fact.relation and one.object != fact.object
                     and _shared(one.subject, fact.subject)), None)  # fmt: skip

    was = max((fact for fact in earlier if likeness(fact)[0]), key=likeness, default=None)
    was = was or next((fact for fact in earlier if _shared(fact.subject, named.thing) and successor(fact)), None)
    return was, was and successor(was)


def _stated(named: Compared, facts: Sequence[NamedFact]) -> NamedFact | None:
    """The fact of the later note that says of the thing what is instead."""

    def likeness(fact: NamedFact) -> float:
        return _shared(fact.object, named.value) * _shared(fact.subject, named.thing)

    return max((fact for fact in facts if not fact.valid_to and likeness(fact)), key=likeness, default=None)


def _shared(one: str, other: str) -> float:
    """The share of the words of two names that both have."""
    words, others = set(normalise(one).split()), set(normalise(other).split())
    return len(words & others) / (len(words | others) or 1)


def _add(connection: Connection[Any], pair: Pair, change: Change, confidence: float, recorded_at: datetime) -> None:
    scope = name_rows.scopes_of(connection, [pair.later_id])[pair.later_id]
    names = {normalise(name): name for name in (change.thing, change.former, change.value) if name}
    known = name_rows.ensure(
        connection,
        {(scope, normal): (name, None) for normal, name in names.items()},
        {normal: initials(normal) for normal in names},
    )
    thing, former = (known[scope, normalise(name)].id for name in (change.thing, change.former))
    if change.relation == IS:
        # Another memory may have said what the thing and the former value are to each other.
        change = change._replace(relation=changes.relation_between(connection, thing, former) or IS)
    relation_rows.ensure_relations(connection, [(scope, change.relation)])
    rows = [FactRow(pair.earlier_id, thing, change.relation, former, confidence, None, change.since, recorded_at,
                    scope, pair.later_id)]  # fmt: skip
    if change.value:
        value = known[scope, normalise(change.value)].id
        rows.append(FactRow(pair.later_id, thing, change.relation, value, confidence, change.since, None, recorded_at,
                            scope, pair.earlier_id))  # fmt: skip
    fact_rows.add_facts(connection, rows)
