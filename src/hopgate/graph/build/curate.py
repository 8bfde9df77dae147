"""Curation, never on by default: what a new memory means for those it resembles, as proposals to review or apply.

ADD keeps it beside them. UPDATE: it contains what an older one contains, and more. DELETE: it contradicts all facts of
an older one. NOOP: an older one contains it already. Nothing is deleted: the superseded one gets a tombstone (since
when, and by which other) and is left out of recall unless asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError, WithdrawnError
from hopgate.extract.model.judge import Action, Neighbour
from hopgate.graph.names import name_words
from hopgate.memory import Cleared, Memory, cleared
from hopgate.sending import SendingGuard, guarded
from hopgate.store import journal, memories, superseded, vectors
from hopgate.store.graph import version
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

# Of the words of the shorter text so many must be in the longer one. Short memories differ in a name or a number, one
# word of ten: nothing below 1 keeps "the NAS has 4 disks" apart from "the NAS has 8 disks".
CONTAINED = 1.0
NEIGHBOURS = 10
# So many memories' neighbours are asked for in one statement.
TOGETHER = 64
# Texts whose words are remembered: neighbours come again and again.
REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a new memory means for an older one, and why. ADD has no older one."""

    action: Action
    memory: str
    older: str | None
    reason: str

    @property
    def gives_way(self) -> str | None:
        """The memory that would be superseded."""
        return {Action.UPDATE: self.older, Action.DELETE: self.older, Action.NOOP: self.memory}.get(self.action)


@dataclass(frozen=True, slots=True)
class Curation:
    """Proposals by which a memory would give way; `complete` when no memory is left that was not compared."""

    proposals: tuple[Proposal, ...]
    complete: bool


Decide = Callable[[Cleared, Sequence[Neighbour]], "tuple[Action, str | None, str] | None"]
"""A model's decision: an action, the older memory it is about, and why; None leaves it to the rules."""


def propose(
    external_id: str, text: Cleared, neighbours: Sequence[Neighbour], words: Callable[[str], list[str]] = name_words
) -> Proposal:
    """Decide by rules alone: repeated and extended texts by their words, contradicted ones by their facts.

    Parameters
    ----------
    words : callable, optional
        Gives the words of a text; whoever proposes for many memories has one that remembers them.

    Examples
    --------
    >>> old = Neighbour("m1", Cleared("The NAS is in the attic."))
    >>> propose("m2", Cleared("The NAS is in the attic."), [old]).action.value
    'NOOP'
    >>> propose("m2", Cleared("The NAS is in the attic, behind the chimney."), [old]).action.value
    'UPDATE'
    >>> propose("m2", Cleared("The NAS moved to the cellar."), [Neighbour("m1", old.text, True)]).action.value
    'DELETE'
    """
    new = words(text)
    for older in neighbours:
        if _within(new, words(older.text)):
            return Proposal(Action.NOOP, external_id, older.external_id, superseded.REPEATED)
    for older in neighbours:
        if older.contradicted:
            return Proposal(Action.DELETE, external_id, older.external_id, superseded.ENDED)
        if _within(words(older.text), new):
            return Proposal(Action.UPDATE, external_id, older.external_id, superseded.EXTENDED)
    return Proposal(Action.ADD, external_id, None, "no older memory says this")


def _within(short: list[str], long: list[str]) -> bool:
    """Whether a text's words are all in another, in the same order: then nothing of it is lost or turned around."""
    rest = iter(long)
    return bool(short) and sum(word in rest for word in short) >= CONTAINED * len(short)


def proposals(
    connection: Connection[Any],
    *,
    since: datetime | None = None,
    decide: Decide | None = None,
    guard: Callable[[Mapping[int, Memory]], SendingGuard] | None = None,
    compared: dict[str, str] | None = None,
) -> Iterator[Proposal]:
    """Go through memories in the order in which they became known and propose what each means for older ones.

    Parameters
    ----------
    since : datetime, optional
        Only memories made at or after this time are new.
    decide : callable, optional
        Asked first. Sensitive memories are never shown to it.
    guard : callable, optional
        Gives the guard of some memories, which is asked before each request about them: with one that may not be read
        any more, nothing is proposed.
    compared : dict, optional
        Gets the texts of those that would give way and of those they would give way to, by external id.
    """
    gone: set[str] = set()
    remembered = lru_cache(REMEMBERED)(name_words)
    for near, known in _with_neighbours(connection, superseded.not_superseded(connection, since=utc(since))):
        texts = dict(cleared(known.items()))
        key, *others = known
        if key not in texts or known[key].external_id in gone:
            continue
        external_id, text = known[key].external_id, texts[key]
        neighbours = [
            Neighbour(known[other].external_id, texts[other], near[other])
            for other in others
            if other in texts and known[other].external_id not in gone
        ]
        try:
            answer = _decided(decide, text, neighbours, guard({at: known[at] for at in texts}) if guard else None)
        except WithdrawnError:
            continue
        proposal = (
            Proposal(answer[0], external_id, *answer[1:])
            if answer
            else propose(external_id, text, neighbours, remembered)
        )
        if proposal.gives_way:
            gone.add(proposal.gives_way)
            if compared is not None:
                compared |= {known[at].external_id: known[at].content for at in texts}
        yield proposal


def _decided(
    decide: Decide | None, text: Cleared, neighbours: Sequence[Neighbour], guard: SendingGuard | None
) -> tuple[Action, str | None, str] | None:
    """What a model decides; asked only about what may be read at this moment, which it may look at again itself."""
    if decide is None:
        return None
    if guard is None:
        return decide(text, neighbours)
    guard.check()
    with guarded(guard):
        return decide(text, neighbours)


def first_proposals(connection: Connection[Any], *, limit: int, until: float) -> Curation:
    """Give the first proposals by which a memory would give way; look no further at a time of the monotonic clock."""
    found: list[Proposal] = []
    for one in proposals(connection):
        if one.gives_way:
            found.append(one)
        if len(found) >= limit or time.monotonic() > until:
            return Curation(tuple(found), complete=False)
    return Curation(tuple(found), complete=True)


def _with_neighbours(
    connection: Connection[Any], keys: Sequence[int]
) -> Iterator[tuple[dict[int, bool], dict[int, Memory]]]:
    """Each memory, and after it its neighbours, by id; and which neighbours are contradicted."""
    for start in range(0, len(keys), TOGETHER):
        some = keys[start : start + TOGETHER]
        nearest = vectors.nearest_older(connection, some, limit=NEIGHBOURS)
        found = superseded.neighbours(connection, some, nearest, limit=NEIGHBOURS)
        known = memories.fetch_by_id(
            connection, sorted({*some, *(other for near in found.values() for other, _ in near)})
        )
        for key in some:
            # One that is deleted meanwhile is in neither.
            if key in known:
                near = {other: contradicted for other, contradicted in found[key] if other in known}
                yield near, {key: known[key], **{other: known[other] for other in near}}


def apply(
    connection: Connection[Any], chosen: Sequence[Proposal], compared: Mapping[str, str] | None = None
) -> set[str]:
    """Give the memories that proposals supersede their tombstones; return which, by their external ids.

    Parameters
    ----------
    compared : mapping, optional
        The texts that were compared: about what is another text now nothing was proposed.
    """
    rows = [(one.gives_way, one.older if one.gives_way == one.memory else one.memory, one.reason) for one in chosen]
    done = superseded.supersede(connection, [(gone, by, why) for gone, by, why in rows if gone and by], compared)
    if done:
        journal.record(connection, journal.SUPERSEDE, memory_ids=[gone.id for gone in done.values()])
        version.bump(connection, [gone.scope for gone in done.values()])
    return set(done)


def apply_all(connection: Connection[Any], chosen: Sequence[Proposal]) -> None:
    """Carry out all of these proposals, or refuse."""
    names = {proposal.gives_way for proposal in chosen if proposal.gives_way}
    if any(proposal.memory == proposal.older for proposal in chosen):
        raise HopgateError("a memory cannot give way to itself: name two")
    # All at once, so that they are locked in the order of their ids.
    memories.require(connection, [name for row in chosen for name in (row.memory, row.older) if name])
    if not names or apply(connection, chosen) != names:
        raise HopgateError(
            "one of these memories gave way already, turned sensitive or is of another scope: look again"
        )


def restore(connection: Connection[Any], external_ids: Sequence[str]) -> int:
    """Take tombstones back."""
    ids = memories.require(connection, external_ids)
    done = superseded.take_back(connection, ids)
    journal.outdated(connection, journal.SUPERSEDE, ids)
    if done:
        version.bump(connection, [back.scope for back in done])
    return len(done)
