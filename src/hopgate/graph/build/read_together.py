"""Memories that may tell of a change, each read together with the earlier ones that it may be of.

By itself "Mr Dube has taken Edie on" tells of nothing; after "Edie's piano is with Mrs Lathom" it does. What two say
together is stated by each of them (`graph/temporal/joint_facts.py`), in the words that both are known by.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.embed.onnx import cores
from hopgate.extract.extraction import DOUBTED, Source, Stated
from hopgate.extract.progress import Progress
from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.distinguishing import are_different_ones, is_activity
from hopgate.extract.rules.places import is_place, is_room
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, AT
from hopgate.extract.rules.stated_values import MOST_CHARACTERS
from hopgate.extract.rules.subjects import is_somebody
from hopgate.extract.rules.towns import is_town
from hopgate.extract.tagger.ended_values import Ended, ended_by
from hopgate.extract.tagger.tagged_values import shares_start_or_end
from hopgate.extract.tagger.worth_reading import Likelihood, tells_change
from hopgate.graph.build.derive_joint import derive_joint
from hopgate.graph.build.follow import follow_change
from hopgate.graph.build.store_context import read_alone
from hopgate.graph.names.normal import normalise
from hopgate.graph.temporal.joint_facts import statements_of
from hopgate.graph.temporal.value_sorts import JOINT_RELATIONS, ONE_AT_A_TIME, fits
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import end_rows, name_rows, stated_rows, together_rows, version
from hopgate.store.graph.end_rows import NotedEnd
from hopgate.store.graph.together_rows import StatedFact

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.stated_rows import NewStatement
    from hopgate.store.store import Store

# Memories that are read in one transaction and written in another.
BATCH = 64
# With how many earlier ones each is read, some 20 ms each: of 5,440 notes in one scope the one that a change is of is
# the first for 885 of 1,160, among three for 1,033, among six for 1,089 (docs/research/extraction.md).
MOST_EARLIER, MOST_MAYBE = 8, 4
# How often one is read that changes every time meanwhile.
ATTEMPTS = 3
# After what the memory states by itself.
PLACE = 1000
# A word's ending has no more letters.
_ENDING = 3
_THERE = re.compile(
    r"(?i)\b(?:steht|liegt|hängt|ist|sind|is|are|sits|stands|hangs)\b[^.;,]{0,40}\b"
    r"(?:dort|darin|drin|there)\b(?! hinten| drüben)"
)
_PLACES = {"runs on", "located in"}
_TAUGHT = re.compile(
    r"(?i)\b(?:taught|teach(?:es)?|led|coached|conducts?|(?:class|course|lessons?|kurs) (?:is )?with|leitet)\b"
)
_MOVED = re.compile(r"(?i)\b(?:mov(?:ed|es|ing)|gezogen|umgezogen|zieht|zogen|lives?|living|wohnt|wohnen)\b")
_STARTED = re.compile(
    r"(?i)\b(?:start(?:s|ed)|join(?:s|ed)|mov(?:ed|es)|first day|new job|new post|works?|working|angefangen|fängt|"
    r"arbeitet|gewechselt)\b"
)
# Of these there may be several, and yet one is over where that is said; an allergy does not end in passing.
_SEVERAL = {"part of", "bought from"}


class Together(NamedTuple):
    """An earlier and a later memory, by their ids and as they are read."""

    earlier_id: int
    later_id: int
    earlier: Source
    later: Source
    is_told: bool = True


class Unread(NamedTuple):
    """What waits to be read together, as it is read; and what these memories state by themselves."""

    waiting: dict[int, Source | None]
    pairs: list[Together]
    stated: Mapping[int, Sequence[StatedFact]]


def read_together(store: Store, *, deriving: bool, show: Callable[[Progress], object] = str) -> None:
    """Read every memory that waits for it together with earlier ones; edges follow at once where `deriving`."""
    began, progress = time.monotonic(), Progress(stage="reading changes")
    with ThreadPoolExecutor(cores(), thread_name_prefix="hopgate-together") as pool:
        tries: Counter[int] = Counter()
        while waiting := store.run(_waiting):
            tells = dict(zip(waiting, pool.map(_tells_change, waiting.values()), strict=True))
            read = store.run(partial(_unread, waiting, tells))
            ends = list(pool.map(_ended, read.pairs))
            found = [(pair, ended) for pair, ended in zip(read.pairs, ends, strict=True) if ended]
            tries.update(list(read.waiting))
            given_up = {key for key in read.waiting if tries[key] >= ATTEMPTS}
            store.run(partial(_write, read, found, given_up, deriving))
            done = progress.memories + len(read.waiting)
            progress = replace(progress, memories=done, seconds=time.monotonic() - began)
            show(progress)


def _waiting(connection: Connection[Any]) -> dict[int, Source | None]:
    """Some of the memories that wait, as they are read; those that may not be read have no text."""
    ids = together_rows.waiting(connection, BATCH)
    read = read_alone(connection, ids)
    return {key: read.get(key) for key in ids}


def _tells_change(source: Source | None) -> Likelihood:
    return tells_change(source) if source else Likelihood.NO


def _unread(waiting: dict[int, Source | None], tells: Mapping[int, Likelihood], connection: Connection[Any]) -> Unread:
    """What goes with those of the memories that tell of a change, or may."""
    near: dict[int, list[int]] = {}
    for likely, most in ((Likelihood.YES, MOST_EARLIER), (Likelihood.MAYBE, MOST_MAYBE)):
        if some := [key for key, one in tells.items() if one is likely]:
            near |= together_rows.earlier(connection, some, limit=most, longest=MOST_CHARACTERS)
    if not near:
        return Unread(waiting, [], {})
    telling = near.keys()
    earlier = {one for some in near.values() for one in some}
    read = read_alone(connection, earlier)
    pairs = [
        Together(one, later, read[one], text, tells[later] is Likelihood.YES)
        for later, some in near.items()
        for one in some
        if one in read and (text := waiting[later])
    ]
    return Unread(waiting, pairs, together_rows.stated_by(connection, sorted(earlier.union(telling)), doubted=DOUBTED))


def _ended(pair: Together) -> Ended | None:
    return ended_by(pair.earlier, pair.later, sure=not pair.is_told)


def _write(
    read: Unread,
    found: Sequence[tuple[Together, Ended]],
    given_up: Collection[int],
    deriving: bool,
    connection: Connection[Any],
) -> None:
    """Write what was read, of memories that are still what they were; and take them, or who is given up, off the list.

    One that changed meanwhile stays on it, and so does one that was read with such a one.
    """
    deriving = share(connection) if deriving else False
    read_of = {pair.earlier_id: pair.earlier for pair, _ in found} | {
        key: source for key, source in read.waiting.items() if source
    }
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    readable = extractions.readable(connection, list(read_of.values()))
    name_rows.lock(connection)
    unchanged = {row.id for row in readable.values()} & read_of.keys()
    together = together_rows.still_together(connection, [(pair.earlier_id, pair.later_id) for pair, _ in found])
    kept = [
        (pair, ended)
        for pair, ended in found
        if {pair.earlier_id, pair.later_id} <= unchanged and (pair.earlier_id, pair.later_id) in together
    ]
    again = {pair.later_id for pair, _ in found} - {pair.later_id for pair, _ in kept}
    again |= {key for key, source in read.waiting.items() if source and key not in unchanged}
    together_rows.waited(connection, [key for key in read.waiting if key not in again or key in given_up])
    stated = {pair: list(_statements(pair, ended, read.stated)) for pair, ended in kept}
    rows = [row for some in stated.values() for row in some]
    if not rows:
        return
    stated_rows.add(connection, rows)
    end_rows.note_read(connection, (NotedEnd(pair.earlier_id, pair.later_id) for pair, some in stated.items() if some))
    if not deriving:
        version.bump(connection)
        return
    joint = derive_joint(connection, {row.memory_id for row in rows})
    follow_change(connection, concept_ids=joint.concept_ids, groups=joint.groups)


def _statements(pair: Together, ended: Ended, stated: Mapping[int, Sequence[StatedFact]]) -> Iterator[NewStatement]:
    """What each of two memories states, in the words in which it is known to state it by itself."""
    before = [one for one in stated.get(pair.earlier_id, ()) if shares_start_or_end(one.value, ended.former)]
    if any(one.is_over for one in before):
        return  # "Ada lived in Rome from 2010 to 2015"
    told = (one for one in stated.get(pair.later_id, ()) if not one.is_over)
    now = [one for one in told if shares_start_or_end(one.value, ended.value)]
    words = set(normalise(ended.thing).split())
    # What a pattern read is a fact already; else it is the same thing where it is called so.
    before = [one for one in before if one.relation not in JOINT_RELATIONS] or [
        one for one in before if one.thing and (not words or words & set(normalise(one.thing).split()))
    ]
    if not before and (typed := _stated_alike(stated.get(pair.earlier_id, ()), now)):
        before = typed
    was = before[0] if before else StatedFact(ended.thing, ended.former_relation, ended.former)
    if not was.thing or _is_told_by_itself(was, now) or not _may_end(was, ended, now, pair.later):
        return
    if (
        _is_of_somebody_else(was, pair.later, now)
        or _names_another(was, now)
        or _is_other_thing(was, ended, pair.earlier, pair.later)
    ):
        return
    if any(_is_called(one, was) for one in now):
        return  # it is what was that has changed: of "Paperless runs on the NAS" the NAS is in the attic now
    value = next((one.value for one in now if one.relation not in JOINT_RELATIONS), ended.value)
    change = Stated(was.thing, _relation(was, ended, now), value, was.value, is_change=True)
    for row in statements_of(pair.earlier_id, [Stated(was.thing, was.relation, was.value)]):
        yield row._replace(place=PLACE, read_with=pair.later_id)
    for row in statements_of(pair.later_id, [change]):
        yield row._replace(place=PLACE, read_with=pair.earlier_id, valid_from=_since(now, pair.earlier))


def _stated_alike(earlier: Sequence[StatedFact], now: Sequence[StatedFact]) -> list[StatedFact]:
    """What the earlier memory states by a relation of which the later states another value of the same thing."""
    told = {(normalise(one.thing), one.relation) for one in now if one.relation not in JOINT_RELATIONS}
    return [one for one in earlier if (normalise(one.thing), one.relation) in told and not one.is_over]


def _relation(was: StatedFact, ended: Ended, now: Sequence[StatedFact]) -> str:
    """How the new value goes with the thing: as the rules read it, where they read it of this thing by its name."""
    read = (
        one.relation
        for one in now
        if one.relation in ONE_AT_A_TIME and one.relation not in JOINT_RELATIONS and not one.is_doubted
        if normalise(one.thing) == normalise(was.thing)
    )
    if was.relation in JOINT_RELATIONS:
        return next(read, ended.relation)
    # Of "my desk is 14" no 22 is the price.
    return ANY if was.relation.startswith("has ") and ended.relation == AMOUNT else ended.relation


def _is_told_by_itself(was: StatedFact, now: Sequence[StatedFact]) -> bool:
    """Whether the later memory states the same by itself: of the same thing, which ends what was; or of another one."""
    if was.relation in JOINT_RELATIONS or was.relation not in ONE_AT_A_TIME:
        return False
    mine = normalise(was.thing).split()
    others = [normalise(one.thing).split() for one in now if one.relation == was.relation and not one.is_doubted]
    return bool(others) and (mine in others or not any(set(mine) & set(words) for words in others))


def _is_of_somebody_else(was: StatedFact, later: Source, now: Sequence[StatedFact]) -> bool:
    """Whether the later memory says of another by name what it might say of this one, whom it does not mention.

    "Hannah has left Fairfield Primary, she works at the museum now" is not about Marcus Bell, who teaches there, too.
    """
    named = set(normalise(was.thing).split())
    if was.thing.islower() or named & set(normalise(later.text).split()):
        return False
    others = [one.thing for one in now if one.relation not in JOINT_RELATIONS and not one.is_doubted]
    return any(not one.islower() and named.isdisjoint(normalise(one).split()) for one in others)


def _names_another(was: StatedFact, now: Sequence[StatedFact]) -> bool:
    """Whether the later memory says itself what is over, and that is something else: "took it over from Ralf"."""
    named = [one.former for one in now if one.relation in JOINT_RELATIONS]
    value = normalise(was.value)
    return bool(named) and all(named) and not any(shares_start_or_end(former, value) for former in named)


def _is_other_thing(was: StatedFact, ended: Ended, earlier: Source, later: Source) -> bool:
    """Whether the later memory speaks of another thing of the kind, or of what the thing is for: not of it."""
    told = set(normalise(later.text).split())
    if are_different_ones(was.thing, later.text) or _is_there(was, later) or _is_in_a_compound(was.thing, told):
        return True
    # "Handouts for puppy class" are not the puppy class, which has moved.
    head, of, owner = normalise(was.thing).partition(" for ")
    if of and not ended.names_former and told.isdisjoint(head.split()) and set(owner.split()) <= told:
        return True
    # "Denise is Aunt Peggy's carer": that is not Peggy.
    if any(set(normalise(value).split()) <= set(normalise(was.thing).split()) for value in (ended.value, was.value)):
        return True
    # Of somebody, and of what somebody teaches, a place is no other one of a person.
    if (is_somebody(was.thing) or is_activity(was.thing)) and _are_unlike(was.value, ended.value):
        return True
    # A class that moves to another room does not get another teacher.
    of_person = was.relation.startswith(("has ", "led by", "owned by", "reports to")) or _TAUGHT.search(earlier.text)
    somebody = is_person(was.value) and of_person
    return bool(somebody) and (ended.value.islower() or is_room(ended.value) or any(map(str.isdigit, ended.value)))


def _is_there(was: StatedFact, later: Source) -> bool:
    """Whether a place is only told more closely: "the mower is there now, at the back under the shelf"."""
    return bool(_THERE.search(later.text)) and was.relation in {*_PLACES, AT}


def _is_in_a_compound(thing: str, told: set[str]) -> bool:
    """Whether a thing is only named as the first part of a word: "das Praxiskonto" is not the Praxis."""
    called = normalise(thing).rpartition(" ")[2]
    longer = (word for word in told if word.startswith(called) and len(word) > len(called) + _ENDING)
    return len(called) > _ENDING and called not in told and any(longer)


def _are_unlike(one: str, other: str) -> bool:
    """Whether one of two values is somebody and the other is not; of two names nobody knows they are alike."""
    if is_somebody(one) == is_somebody(other):
        return False
    unknown = other if is_somebody(one) else one
    known = is_room(unknown) or is_place(unknown) or is_town(unknown)
    return known or not unknown.istitle() or " " not in unknown


def _is_called(one: StatedFact, was: StatedFact) -> bool:
    """Whether a statement is of what was, by its name, and not of the thing that had it."""
    thing, value, name = (set(normalise(text).split()) for text in (was.thing, was.value, one.thing))
    return one.relation != "replaced by" and bool(name & value - thing)


def _may_end(was: StatedFact, ended: Ended, now: Sequence[StatedFact], later: Source) -> bool:
    """Whether a note may end what a pattern read, by what its own words are known to say of the new value."""
    if was.relation in JOINT_RELATIONS:
        return True
    if was.relation in ("lives in", "works at"):
        # Where one works is not where one lives; and "the desk by the window" is no employer.
        words = _MOVED if was.relation == "lives in" else _STARTED
        moved = ended.names_former or bool(words.search(later.text))
        read = [one.relation for one in now if one.relation not in JOINT_RELATIONS]
        fitting = any(fits(one, was.relation) for one in read) if read else moved
        # "It is quiet above my head": nobody lives there.
        plain = ended.value.islower()
        told = not plain or (was.value.islower() and (is_room(ended.value) or is_place(ended.value)))
        return fitting and told and not is_person(ended.value)
    # What the rules read of "the reverse proxy" goes with what somebody "has reverse proxy".
    role = was.relation.removeprefix("has ")
    others = [
        one.relation
        for one in now
        if one.relation not in JOINT_RELATIONS and one.relation != "replaced by" and normalise(one.thing) != role
    ]
    if was.relation in _SEVERAL:
        return ended.names_former or was.relation in others
    # Where the rules read the new value otherwise, it is of something else.
    fitting = not others or any({one, was.relation} <= _PLACES or fits(one, was.relation) for one in others)
    return was.relation in ONE_AT_A_TIME and was.relation != "married to" and fitting


def _since(now: Sequence[StatedFact], earlier: Source) -> datetime | None:
    """Since when something is so; not since before it was noted to be otherwise."""
    dates = (one.valid_from for one in now if one.valid_from)
    return next((day for day in dates if not earlier.created_at or day > earlier.created_at), None)
