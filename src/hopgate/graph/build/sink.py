"""Batches of extractions become part of the graph: names, mentions, facts, and the edges that follow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.extract.extraction import Extraction, ExtractorIdentity, Source, State, bounded
from hopgate.extract.runner import Extracted
from hopgate.graph.build.derive import rederive, revoke
from hopgate.graph.build.merge import join_aliases
from hopgate.graph.build.reading import LOWER_KINDS, shared_or
from hopgate.graph.names import initials, normalise
from hopgate.guard import guarded
from hopgate.store import extractions, memories
from hopgate.store.extractions import Readable
from hopgate.store.graph import fact_rows, name_rows, version
from hopgate.store.graph.fact_rows import FactRow, MentionRow
from hopgate.store.graph.name_rows import VALUE, NameKey, NameRow
from hopgate.store.graph.version import share
from hopgate.times import moment

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.build.resolve import NameResolver
    from hopgate.store.store import Store

Resolve = Callable[["Connection[Any]", Sequence[NameRow]], None]

# Names written in one turn under the graph's lock: resolving one takes about 10 ms of it.
MAX_TURN = 200
# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200
# A new name is looked for in so many memories that were read before it was known.
MAX_CARRIED = 200
_VALUE = re.compile(r"[€£$¥]?\d[\d.,:/-]*(?: ?(?:[^\W\d_]{1,3}|[€£$¥%]))?")


def add(
    connection: Connection[Any],
    batch: Sequence[tuple[Readable, Extraction]],
    *,
    deriving: bool = True,
    resolve: Resolve | None = None,
) -> None:
    """Write mentions and facts, in the caller's transaction; facts became known when their memories were made.

    Edges and memories' concepts follow at once if `deriving`; a backfill derives once, after canonicalisation. Before
    that `resolve` finds among known concepts those that new names mean.
    """
    version.lock(connection)
    memory_ids = [memory.id for memory, _ in batch]
    scopes = name_rows.scopes_of(connection, memory_ids)
    name_by_key = spellings((scopes[memory.id], extraction) for memory, extraction in batch)
    rows_by_key = name_rows.ensure(connection, name_by_key, {normal: initials(normal) for _, normal in name_by_key})
    mentions, facts = [], []
    for memory, extraction in batch:
        scope = scopes[memory.id]
        for name, kind in names_used(extraction):
            if row := rows_by_key.get((scope, normalise(name))):
                mentions.append(MentionRow(memory.id, row.id, name, kind))
        for fact in extraction.facts:
            subject, object_ = (rows_by_key.get((scope, normalise(end))) for end in (fact.subject, fact.object))
            start, end = moment(fact.valid_from), moment(fact.valid_to)
            backwards = start is not None and end is not None and end < start
            if subject is None or object_ is None or not fact.relation.strip() or backwards:
                continue
            facts.append(
                FactRow(memory.id, subject.id, fact.relation[:MAX_NAME], object_.id, fact.confidence, start, end,
                        memory.recorded_at, scope)
            )  # fmt: skip
    name_ids = [row.id for row in rows_by_key.values()]
    # None of these has an answer to wait for: they travel together.
    with connection.pipeline():
        fact_rows.add_mentions(connection, mentions)
        fact_rows.add_facts(connection, facts)
        if deriving:
            name_rows.refresh(connection, name_ids)
    if not deriving:
        version.bump(connection)
        return
    new_ids = {row.id for row in rows_by_key.values() if row.is_new}
    if resolve and new_ids:
        resolve(connection, [row for row in rows_by_key.values() if row.is_new])
    resolved_rows = name_rows.read(connection, ids=name_ids)
    new_names = [row for row in resolved_rows if row.id in new_ids]
    touched_ids = list(memory_ids)
    if older_mentions := mentions_of_new_names(connection, new_names, memory_ids):
        fact_rows.add_mentions(connection, older_mentions)
        touched_ids += sorted({row.memory_id for row in older_mentions})
    rederive(
        connection,
        concept_ids=sorted({row.concept_id for row in resolved_rows}),
        memory_ids=touched_ids,
        groups=fact_rows.groups(connection, memories=touched_ids),
        names=new_names,
        scopes=set(scopes.values()),
    )
    join_aliases(connection, memory_ids)


def spellings(extractions: Iterable[tuple[str, Extraction]]) -> dict[NameKey, tuple[str, str | None]]:
    """Every name of extractions, each with its scope, as (spelling, kind) by scope and normal form; the first win."""
    name_by_key: dict[NameKey, tuple[str, str | None]] = {}
    for scope, extraction in extractions:
        for name, kind in names_used(extraction):
            normal = normalise(name)
            if is_name(name, normal):
                spelling, first = name_by_key.get((scope, normal), (name, None))
                name_by_key[scope, normal] = (spelling, first or kind)
    return name_by_key


def _portions(batch: Sequence[Extracted]) -> Iterator[list[Extracted]]:
    """Cut a batch where its names become too many for one turn under the graph's lock."""
    portion: list[Extracted] = []
    names: set[str] = set()
    for entry in batch:
        further = {name for name, _ in names_used(entry.extraction)}
        if portion and len(names | further) > MAX_TURN:
            yield portion
            portion, names = [], set()
        portion.append(entry)
        names |= further
    if portion:
        yield portion


def _name(source: Source) -> str:
    return str(source.memory_id)


class GraphSink:
    """Writes extractions into a store: a memory wholly or not at all, in the place of its earlier extraction.

    Edges follow at once if `deriving`, and `resolution` resolves each batch's new names inside its transaction; a
    backfill derives once, at its end.
    """

    def __init__(self, store: Store, *, deriving: bool = True, resolution: NameResolver | None = None) -> None:
        self._store = store
        self._deriving = deriving
        self._resolution = resolution if deriving else None

    def done(self, memory_ids: Sequence[str | int], identity: ExtractorIdentity) -> Collection[str | int]:
        """Return those of the memories whose extraction by this identity is written and needs no repeating."""
        with self._store.transaction() as connection:
            return extractions.done(connection, [str(key) for key in memory_ids], identity)

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        """Write a batch with its provenance; one of many names takes the lock more than once, for others wait."""
        bounded_batch = [entry._replace(extraction=bounded(entry.extraction)) for entry in batch]
        # Before the first build nobody waits for the graph.
        for portion in _portions(bounded_batch) if self._deriving else [bounded_batch]:
            prepared = self._prepared(self._resolution, portion) if self._resolution else portion
            self._store.run(partial(self._write, prepared, identity))

    def _write(self, batch: Sequence[Extracted], identity: ExtractorIdentity, connection: Connection[Any]) -> None:
        # Where a whole build was broken off meanwhile, nothing follows until the next.
        deriving = share(connection) if self._deriving else False
        # Every writer of both locks memories first and the graph second, so that no two wait for each other.
        sources = [entry.source for entry in batch]
        readable = extractions.readable(connection, sources)
        version.lock(connection)
        # Whoever marks a turn that was read with a memory takes the graph's lock to remove what was made with it.
        turns = [source for source in sources if source.before]
        gone = {*map(_name, turns)} - extractions.readable(connection, turns, lock=False).keys() if turns else set()
        readable = {name: row for name, row in readable.items() if name not in gone}
        if self._resolution and (lost := [entry for entry in batch if _name(entry.source) not in readable]):
            self._resolution.take_back({name for entry in lost for name, _ in names_used(entry.extraction)})
        earlier_runs = extractions.recorded(connection, [row.id for row in readable.values()], identity)
        # What another build has written since is left as it is; a failed extraction does not replace an earlier one.
        rows = [
            (readable[name], entry.extraction)
            for name, entry in ((_name(entry.source), entry) for entry in batch)
            if name in readable
            and not earlier_runs.get(readable[name].id, False)
            and not (readable[name].id in earlier_runs and entry.extraction.state is State.FAILED)
        ]
        if replaced_ids := [row.id for row, _ in rows if row.id in earlier_runs]:
            revoke(connection, replaced_ids)
        if rows:
            add(connection, rows, deriving=deriving, resolve=self._resolution)
            extractions.record(connection, ((row.id, extraction) for row, extraction in rows), identity)

    def _prepared(self, resolution: NameResolver, batch: Sequence[Extracted]) -> Sequence[Extracted]:
        """Embed a batch's names before the lock is taken; return it without memories that were withdrawn meanwhile."""
        while True:
            sources = [entry.source for entry in batch]
            with self._store.transaction() as connection:
                scopes = extractions.scopes(connection, sources)
            batch = [entry for entry in batch if _name(entry.source) in scopes]
            names = spellings((scopes[_name(entry.source)], entry.extraction) for entry in batch)
            try:
                with guarded(extractions.guard(self._store, sources)):
                    resolution.prepare(self._store, {key: name for key, (name, _) in names.items()})
            except WithdrawnError:
                with self._store.transaction() as connection:
                    readable = extractions.readable(connection, sources, lock=False)
                batch = [entry for entry in batch if _name(entry.source) in readable]
            else:
                return batch


def names_used(extraction: Extraction) -> Iterator[tuple[str, str | None]]:
    """The names that an extraction uses, with their kinds: whoever states a fact mentions its ends."""
    for mention in extraction.mentions:
        yield mention.name, mention.kind or None
    for fact in extraction.facts:
        yield fact.subject, None
        yield fact.object, kind_of_value(fact.object)


def kind_of_value(name: str) -> str | None:
    """The kind of what is only a number, an hour, a date or an amount: an end of facts, and no concept that is listed.

    Examples
    --------
    >>> [kind_of_value(name) for name in ("7", "9:15", "2026-06", "€1,020", "8 mg", "Room 7")]
    ['value', 'value', 'value', 'value', 'value', None]
    """
    return VALUE if _VALUE.fullmatch(name) else None


def is_name(name: str, normal: str) -> bool:
    """Whether a text can stand for a concept."""
    return bool(normal) and len(normal) <= MAX_NAME and len(name) <= 2 * MAX_NAME


def mentions_of_new_names(
    connection: Connection[Any], new: Iterable[name_rows.NameRow], but: Collection[int]
) -> list[MentionRow]:
    """Mentions of new names in memories that were read before the names were known."""
    mentions = []
    by_scope: dict[str, list[name_rows.NameRow]] = defaultdict(list)
    for row in new:
        if row.kind in LOWER_KINDS and row.name.islower() and " " not in row.name:
            by_scope[row.scope].append(row)
    for scope, rows in by_scope.items():
        within = shared_or(connection, scope)
        holders = memories.holding(connection, [(within, row.name) for row in rows], limit=MAX_CARRIED + 1)
        holders_of = Counter(number for _, number in holders)
        mentions += [
            MentionRow(memory, rows[number - 1].id, rows[number - 1].name, rows[number - 1].kind)
            for memory, number in holders
            if memory not in but and holders_of[number] <= MAX_CARRIED
        ]
    return mentions
