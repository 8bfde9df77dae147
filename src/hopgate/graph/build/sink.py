"""Batches of extractions become part of the graph: names, mentions, facts, and the edges that follow."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hopgate.extract.extraction import Extraction, ExtractorIdentity, State, bounded
from hopgate.extract.runner import Extracted
from hopgate.graph.build.derive import rederive, revoke
from hopgate.graph.build.merge import join_aliases
from hopgate.graph.build.reading import LOWER_KINDS, shared_or
from hopgate.graph.names import initials, normalise
from hopgate.store import extractions, memories
from hopgate.store.extractions import Readable
from hopgate.store.graph import fact_rows, name_rows, version
from hopgate.store.graph.fact_rows import FactRow, MentionRow
from hopgate.store.graph.name_rows import VALUE, NameKey, NameRow
from hopgate.store.graph.version import share
from hopgate.store.rows import Connection
from hopgate.times import moment

if TYPE_CHECKING:
    from hopgate.graph.build.resolve import NameResolver
    from hopgate.store.store import Store

# Names written in one turn under the graph's lock: resolving one takes about 10 ms of it.
MAX_TURN = 200
# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200
# A new name is looked for in so many memories that were read before it was known.
MAX_CARRIED = 200
_VALUE = re.compile(r"[€£$¥]?\d[\d.,:/-]*(?: ?(?:[^\W\d_]{1,3}|[€£$¥%]))?")


def add(
    connection: Connection, batch: Sequence[tuple[Readable, Extraction]], resolver: NameResolver | None = None
) -> None:
    """Write mentions and facts, in the caller's transaction; facts became known when their memories were made.

    A resolver finds the known concepts that new names mean, and edges and memories' concepts follow at once; a
    backfill, which has none, derives once, after canonicalisation.
    """
    version.lock(connection)
    memory_ids = [memory.id for memory, _ in batch]
    scopes = name_rows.scopes_of(connection, memory_ids)
    names = spellings((scopes[memory.id], extraction) for memory, extraction in batch)
    rows = name_rows.ensure(connection, names, initials)
    mentions, facts = [], []
    for memory, extraction in batch:
        scope = scopes[memory.id]
        for name, kind in names_used(extraction):
            if row := rows.get((scope, normalise(name))):
                mentions.append(MentionRow(memory.id, row.id, name, kind))
        for fact in extraction.facts:
            subject, object_ = (rows.get((scope, normalise(end))) for end in (fact.subject, fact.object))
            start, end = moment(fact.valid_from), moment(fact.valid_to)
            is_backwards = start is not None and end is not None and end < start
            if subject and object_ and fact.relation.strip() and not is_backwards:
                facts.append(
                    FactRow(memory.id, subject.id, fact.relation[:MAX_NAME], object_.id, fact.confidence, start, end,
                            memory.recorded_at, scope)
                )  # fmt: skip
    name_ids, new_rows = [row.id for row in rows.values()], [row for row in rows.values() if row.is_new]
    # None of these has an answer to wait for: they travel together.
    with connection.pipeline():
        fact_rows.add_mentions(connection, mentions)
        fact_rows.add_facts(connection, facts)
    if resolver is None:
        version.bump(connection)
        return
    resolver.resolve(connection, new_rows)
    new_ids, resolved_rows = {row.id for row in new_rows}, name_rows.read(connection, ids=name_ids)
    new_names = [row for row in resolved_rows if row.id in new_ids]
    older_mentions = mentions_of_new_names(connection, new_names, memory_ids)
    fact_rows.add_mentions(connection, older_mentions)
    touched_ids = [*memory_ids, *sorted({row.memory_id for row in older_mentions})]
    rederive(
        connection,
        memory_ids=touched_ids,
        groups=fact_rows.groups(connection, memories=touched_ids),
        names=new_names,
        scopes=set(scopes.values()),
    )
    join_aliases(connection, memory_ids)


def spellings(extractions: Iterable[tuple[str, Extraction]]) -> dict[NameKey, tuple[str, str | None]]:
    """Every name of extractions, each with its scope, as (spelling, kind) by scope and normal form; the first win."""
    names: dict[NameKey, tuple[str, str | None]] = {}
    for scope, extraction in extractions:
        for name, kind in names_used(extraction):
            normal = normalise(name)
            if is_name(name, normal):
                spelling, first_kind = names.get((scope, normal), (name, None))
                names[scope, normal] = (spelling, first_kind or kind)
    return names


def _portions(batch: Sequence[Extracted]) -> Iterator[list[Extracted]]:
    """Cut a batch where its names become too many for one turn under the graph's lock."""
    portion, names = list[Extracted](), set[str]()
    for entry in batch:
        names |= {name for name, _ in names_used(entry.extraction)}
        if portion and len(names) > MAX_TURN:
            yield portion
            portion, names = [], {name for name, _ in names_used(entry.extraction)}
        portion.append(entry)
    if portion:
        yield portion


def _name(entry: Extracted) -> str:
    return str(entry.source.memory_id)


@dataclass(frozen=True)
class GraphSink:
    """Writes extractions into a store: a memory wholly or not at all, in the place of its earlier extraction.

    With a resolver edges follow at once; a backfill, which has none, derives them at its end.
    """

    store: Store
    resolver: NameResolver | None = None

    def done(self, memory_ids: Sequence[str | int], identity: ExtractorIdentity) -> Collection[str | int]:
        """Return those of the memories whose extraction by this identity is written and needs no repeating."""
        with self.store.transaction() as connection:
            return extractions.done(connection, [str(key) for key in memory_ids], identity)

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        """Write a batch with its provenance; one of many names takes the lock more than once, for others wait."""
        bounded_batch = [entry._replace(extraction=bounded(entry.extraction)) for entry in batch]
        # Before the first build nobody waits for the graph.
        for portion in _portions(bounded_batch) if self.resolver else [bounded_batch]:
            self.store.run(partial(self._write, portion, identity))

    def _write(self, batch: Sequence[Extracted], identity: ExtractorIdentity, connection: Connection) -> None:
        # Where a whole build was broken off meanwhile, nothing follows until the next.
        resolver = self.resolver if self.resolver and share(connection) else None
        # Every writer of both locks memories first and the graph second, so that no two wait for each other.
        readable = extractions.readable(connection, [entry.source for entry in batch])
        version.lock(connection)
        # Whoever marks a turn that was read with a memory takes the graph's lock to remove what was made with it.
        beside = [entry.source for entry in batch if entry.source.before]
        still = extractions.readable(connection, beside, lock=False) if beside else {}
        gone = {str(source.memory_id) for source in beside} - still.keys()
        entries = [entry for entry in batch if _name(entry) in readable.keys() - gone]
        is_final = extractions.recorded(connection, [readable[_name(entry)].id for entry in entries], identity)
        # What another build has written since is left as it is; a failed extraction does not replace an earlier one.
        rows = [
            (memory, entry.extraction)
            for memory, entry in ((readable[_name(entry)], entry) for entry in entries)
            if not is_final.get(memory.id, False)
            and not (memory.id in is_final and entry.extraction.state is State.FAILED)
        ]
        if replaced_ids := [memory.id for memory, _ in rows if memory.id in is_final]:
            revoke(connection, replaced_ids)
        if rows:
            add(connection, rows, resolver)
            extractions.record(connection, ((memory.id, extraction) for memory, extraction in rows), identity)


def names_used(extraction: Extraction) -> Iterator[tuple[str, str | None]]:
    """The names that an extraction uses, with their kinds: whoever states a fact mentions its ends."""
    for mention in extraction.mentions:
        yield mention.name, mention.kind or None
    for fact in extraction.facts:
        yield fact.subject, None
        yield fact.object, kind_of_value(fact.object)


def kind_of_value(name: str) -> str | None:
    """The kind of what is only a number, an hour, a date or an amount: an end of facts, not a listed concept."""
    return VALUE if _VALUE.fullmatch(name) else None


def is_name(name: str, normal: str) -> bool:
    """Whether a text can stand for a concept."""
    return bool(normal) and len(normal) <= MAX_NAME and len(name) <= 2 * MAX_NAME


def mentions_of_new_names(connection: Connection, new: Iterable[NameRow], but: Collection[int]) -> list[MentionRow]:
    """Mentions of new names in memories that were read before the names were known."""
    mentions = []
    by_scope: dict[str, list[NameRow]] = defaultdict(list)
    for row in new:
        if row.kind in LOWER_KINDS and row.name.islower() and " " not in row.name:
            by_scope[row.scope].append(row)
    for scope, rows in by_scope.items():
        within = shared_or(connection, scope)
        mentions += [
            MentionRow(memory, rows[number - 1].id, rows[number - 1].name, rows[number - 1].kind)
            for memory, number in memories.holding(connection, [(within, row.name) for row in rows], limit=MAX_CARRIED)
            if memory not in but
        ]
    return mentions
