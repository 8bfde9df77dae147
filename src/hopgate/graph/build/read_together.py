"""Memories that may tell of a change, each read together with the earlier ones that it may be of.

By itself "Mr Dube has taken Edie on" tells of nothing; after "Edie's piano is with Mrs Lathom" it does. What two say
together is stated by each of them (`graph/temporal/joint_facts.py`), in the words that both are known by.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.embed.bundled import cores
from hopgate.extract.extraction import DOUBTED, Source
from hopgate.extract.progress import Progress
from hopgate.extract.rules.stated_values import MOST_CHARACTERS
from hopgate.extract.tagger.ended_values import Ended, ended_by
from hopgate.extract.tagger.worth_reading import Likelihood, tells_change
from hopgate.graph.build.derive_joint import derive_joint
from hopgate.graph.build.follow import follow_change
from hopgate.graph.build.stated_together import Together, statements
from hopgate.graph.build.store_context import read_alone
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import end_rows, name_rows, stated_rows, together_rows, version
from hopgate.store.graph.end_rows import NotedEnd
from hopgate.store.graph.together_rows import StatedFact

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# Memories that are read in one transaction and written in another.
BATCH = 64
# With how many earlier ones each is read, some 20 ms each: of 5,440 notes in one scope the one that a change is of is
# the first for 885 of 1,160, among three for 1,033, among six for 1,089 (docs/research/extraction.md).
MOST_EARLIER, MOST_MAYBE = 8, 4
# How often one is read that changes every time meanwhile.
ATTEMPTS = 3


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
    stated = {pair: list(statements(pair, ended, read.stated)) for pair, ended in kept}
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
