"""Curation, never on by default: memories that others wholly restate or end, as proposals to review or apply.

UPDATE: a newer memory states everything that an older one does, and more. NOOP: it is the newer one that says nothing
of its own. DELETE: a newer memory ended every fact of an older one. ADD: it is kept beside the others. A memory gives
way only where each of its words belongs to such facts, so that it says nothing else, and never to one that is not sure
of it. Nothing is deleted: what gave way gets a tombstone (since when, and by which other) and is left out of recall
unless asked for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.extract.rules.dates import date_spans
from hopgate.extract.rules.tokens import analysed
from hopgate.extract.rules.words import LANGUAGES
from hopgate.graph.names import name_words
from hopgate.store import journal, memories, superseded
from hopgate.store.graph import version
from hopgate.store.rows import Connection
from hopgate.store.superseded import Superseding
from hopgate.times import When, moment, utc

if TYPE_CHECKING:
    from hopgate.memory import Memory
    from hopgate.store.superseded import StatedFact

# A memory is compared with so many others that state something of the same thing: those that were made last before it.
NEIGHBOURS = 50
# Memories whose texts are read in one statement.
TOGETHER = 1000
_BETWEEN = re.compile(r"(?<=[.!?;])\s+|\s*\n\s*")


class Action(StrEnum):
    """What to do with a new memory."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NOOP = "NOOP"


_REASONS = {
    Action.ADD: "no other memory says this",
    Action.UPDATE: "it says what the older one said, and more",
    Action.DELETE: "every fact of the older memory has ended",
    Action.NOOP: "the older memory says all of it",
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a new memory means for an older one, and why. ADD has no older one."""

    action: Action
    memory: str
    older: str | None = None

    @property
    def reason(self) -> str:
        """Why: a sentence that quotes no memory."""
        return _REASONS[self.action]

    @property
    def gives_way(self) -> str | None:
        """The memory that would be superseded."""
        return {Action.UPDATE: self.older, Action.DELETE: self.older, Action.NOOP: self.memory}.get(self.action)


@dataclass(frozen=True)
class Stated:
    """A memory, and the facts that it states."""

    memory: Memory
    facts: Sequence[StatedFact]

    @cached_property
    def words(self) -> list[str]:
        """The words of its title and text."""
        return name_words(self.memory.content)

    @cached_property
    def own(self) -> list[StatedFact]:
        """Its facts, but for ends of them that were read with another memory."""
        return [fact for fact in self.facts if not (fact.is_over and fact.read_with not in (None, fact.memory_id))]

    @cached_property
    def says_only_facts(self) -> bool:
        """Whether all its words are those of its facts, or of the dates from which these hold, or small words."""
        tokens, lower, _, code = analysed(self.memory.text)
        function_words = (part for word in LANGUAGES[code].function for part in name_words(word))
        starts = {fact.valid_from for fact in self.own}
        dates = (
            word
            for span in date_spans(tokens, lower, code, self.memory.created_at)
            if moment(span.iso) in starts
            for word in name_words(" ".join(tokens[span.start : span.end]))
        )
        texts = (f"{fact.subject} {fact.raw} {fact.relation} {fact.object}" for fact in self.own)
        return {*self.words} <= {*function_words, *dates, *(word for text in texts for word in name_words(text))}

    @cached_property
    def edges(self) -> set[int]:
        """The edges that hold and of which it is evidence."""
        return {fact.edge_id for fact in self.facts if fact.edge_id is not None}

    def is_unsure_of(self, words: set[str]) -> bool:
        """Whether a sentence with one of these words asks, or only supposes."""
        doubts = {word for language in LANGUAGES.values() for word in language.hypothetical}
        return any(
            not words.isdisjoint(name_words(text))
            and (text.rstrip().endswith("?") or not doubts.isdisjoint(re.findall(r"[\w']+", text.lower())))
            for text in _BETWEEN.split(self.memory.text)
        )

    def restates(self, other: Stated) -> bool:
        """Whether this says all that another memory says: both are evidence of the same edges, which hold still."""
        if not other.own or any(fact.is_over or fact.edge_id not in self.edges for fact in other.own):
            return False
        objects = {word for fact in other.own for word in name_words(fact.object)}
        return other.says_only_facts and not self.is_unsure_of(objects)

    def ended_by(self, newer: Stated) -> bool:
        """Whether every fact of this memory is over, and the newer one told of an end."""
        if not self.own or any(fact.is_over or not fact.has_ended for fact in self.own):
            return False
        ends = any(fact.is_over and fact.read_with == newer.facts[0].memory_id for fact in self.facts) or any(
            (fact.source_id, fact.relation) == (end.source_id, end.relation)
            and (end.is_over if fact.target_id == end.target_id else fact.single_valued and not end.is_over)
            for fact in self.own
            for end in newer.own
        )
        names = {word for fact in self.own for word in name_words(f"{fact.subject} {fact.object}")}
        return ends and self.says_only_facts and not newer.is_unsure_of(names)

    def repeats(self, older: Stated) -> bool:
        """Whether this is the text of another memory of the same day; on another day it may have happened again."""
        made, made_before = self.memory.created_at, older.memory.created_at
        same_day = made is not None and made_before is not None and made.date() == made_before.date()
        return same_day and self.words == older.words


def propose(newer: Stated, older: Sequence[Stated]) -> Iterator[Proposal]:
    """Propose what a memory means for older ones, in their order; a NOOP, where it has one, stands alone."""
    name = newer.memory.external_id
    for other in older:
        if newer.repeats(other) or other.restates(newer):
            yield Proposal(Action.NOOP, name, other.memory.external_id)
            return
    for other in older:
        if newer.restates(other):
            yield Proposal(Action.UPDATE, name, other.memory.external_id)
        elif newer.facts and other.ended_by(newer):
            yield Proposal(Action.DELETE, name, other.memory.external_id)


def proposals(
    connection: Connection, *, since: When | None = None, compared: dict[str, str] | None = None
) -> Iterator[Proposal]:
    """Go through memories in the order in which they became known and propose what each means for older ones.

    Only memories made at or after `since` are new. `compared` gets the texts of those that would give way and of those
    they would give way to, by external id.
    """
    facts: dict[int, list[StatedFact]] = defaultdict(list)
    for fact in superseded.stated_facts(connection):
        facts[fact.memory_id].append(fact)
    current = superseded.not_superseded(connection)
    near = _older(list(current), facts, superseded.same_words(connection))
    gone: set[str] = set()
    first = utc(since)
    new = [key for key, known_at in current.items() if first is None or known_at >= first]
    for start in range(0, len(new), TOGETHER):
        batch = new[start : start + TOGETHER]
        by_id = memories.fetch_by_id(connection, sorted({*batch, *(older for key in batch for older in near[key])}))
        notes = {key: Stated(memory, facts.get(key, ())) for key, memory in by_id.items()}
        # One that is deleted meanwhile is not among them.
        for note, key in ((notes[key], key) for key in batch if key in notes):
            name = note.memory.external_id
            older = [notes[other] for other in near[key] if other in notes]
            proposed = list(propose(note, [other for other in older if other.memory.external_id not in gone]))
            gone |= {proposal.gives_way for proposal in proposed if proposal.gives_way}
            if compared is not None and proposed:
                compared |= {other.memory.external_id: other.memory.content for other in (note, *older)}
            yield from proposed or [Proposal(Action.ADD, name)]


def _older(
    order: Sequence[int], facts: Mapping[int, Sequence[StatedFact]], same_words: Mapping[int, Sequence[int]]
) -> dict[int, list[int]]:
    """By id the older memories to compare with, last id first: of the same words, or with a fact of the same thing."""
    stating: dict[tuple[int, str], list[int]] = defaultdict(list)
    near: dict[int, list[int]] = {}
    for key in order:
        groups = {(fact.source_id, fact.relation) for fact in facts.get(key, ())}
        older = [*same_words.get(key, ()), *(other for group in groups for other in stating[group][-NEIGHBOURS:])]
        near[key] = sorted({*older}, reverse=True)
        for group in groups:
            stating[group].append(key)
    return near


def apply(connection: Connection, chosen: Sequence[Proposal], compared: Mapping[str, str] | None = None) -> set[str]:
    """Give the memories that proposals supersede their tombstones; return which, by their external ids.

    Where a text is not the one that was compared any more nothing was proposed about it.
    """
    rows = [
        Superseding(row.gives_way, row.older if row.gives_way == row.memory else row.memory, row.reason)
        for row in chosen
        if row.gives_way and row.older
    ]
    gave_way = superseded.supersede(connection, rows, compared)
    if gave_way:
        journal.record(connection, journal.SUPERSEDE, memory_ids=[gone.id for gone in gave_way.values()])
        version.bump(connection, [gone.scope for gone in gave_way.values()])
    return set(gave_way)


def apply_all(connection: Connection, chosen: Sequence[Proposal]) -> None:
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


def restore(connection: Connection, external_ids: Sequence[str]) -> None:
    """Take the tombstones of memories back; unknown ids are refused."""
    ids = list(memories.require(connection, external_ids))
    restored = superseded.take_back(connection, ids)
    journal.outdated(connection, journal.SUPERSEDE, ids)
    version.bump(connection, [back.scope for back in restored])
