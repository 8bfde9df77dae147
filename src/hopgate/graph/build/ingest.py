"""A batch of extractions becomes part of the graph: names, mentions, facts, and the edges that follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.extract.cache import text_key
from hopgate.extract.extraction import Extraction, Source, State, bounded
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.runner import Extracted
from hopgate.graph.build.extraction_rows import MAX_NAME, backwards, is_name, names_used
from hopgate.graph.build.follow import follow_change
from hopgate.graph.build.resolve import FactKey
from hopgate.graph.build.revoke import revoke
from hopgate.graph.build.store_context import carried
from hopgate.graph.names import initials, normalise
from hopgate.sending import guarded
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import fact_rows, name_rows, relation_rows, version
from hopgate.store.graph.fact_rows import FactRow
from hopgate.store.graph.name_rows import NameKey, NameRow
from hopgate.times import moment

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.build.resolve import NameResolver
    from hopgate.store.store import Store


Resolve = Callable[["Connection[Any]", Sequence[NameRow]], None]

# Names written in one turn under the graph's lock: resolving one takes about 10 ms of it.
MAX_TURN = 200


@dataclass(frozen=True, slots=True)
class DatedExtraction:
    """The extraction of one memory; its facts became known when the memory was made."""

    memory_id: int
    recorded_at: datetime
    extraction: Extraction


def add(
    connection: Connection[Any],
    batch: Sequence[DatedExtraction],
    *,
    deriving: bool = True,
    resolve: Resolve | None = None,
) -> None:
    """Write mentions and facts, in the caller's transaction.

    Parameters
    ----------
    deriving : bool
        Whether edges and memories' concepts follow at once. A backfill derives once, after canonicalisation.
    resolve : callable, optional
        Finds among known concepts those that new names mean, before anything is derived.
    """
    name_rows.lock(connection)
    scopes = name_rows.scopes_of(connection, [one.memory_id for one in batch])
    wanted = spellings((scopes[one.memory_id], one.extraction) for one in batch)
    known = name_rows.ensure(connection, wanted, {normal: initials(normal) for _, normal in wanted})
    mentions, facts = [], []
    for one in batch:
        scope = scopes[one.memory_id]
        for name, kind in names_used(one.extraction):
            if row := known.get((scope, normalise(name))):
                mentions.append((one.memory_id, row.id, name, kind))
        for fact in one.extraction.facts:
            subject, object_ = (known.get((scope, normalise(end))) for end in (fact.subject, fact.object))
            start, end = moment(fact.valid_from), moment(fact.valid_to)
            if subject is None or object_ is None or not fact.relation.strip() or backwards(start, end):
                continue
            facts.append(
                FactRow(one.memory_id, subject.id, fact.relation[:MAX_NAME], object_.id, fact.confidence, start, end,
                        one.recorded_at, scope)
            )  # fmt: skip
    name_ids = [row.id for row in known.values()]
    # None of these has an answer to wait for: they travel together.
    with connection.pipeline():
        relation_rows.ensure_relations(connection, ((fact.scope, fact.relation) for fact in facts))
        fact_rows.add_mentions(connection, mentions)
        fact_rows.add_facts(connection, facts)
        if deriving:
            name_rows.refresh(connection, name_ids)
    if not deriving:
        version.bump(connection)
        return
    new_names = [row for row in known.values() if row.is_new]
    if resolve and new_names:
        resolve(connection, new_names)
    rows = name_rows.by_id(connection, name_ids)
    memory_ids = [one.memory_id for one in batch]
    new_ids = {row.id for row in new_names}
    older = carried(connection, [row for row in rows if row.id in new_ids], memory_ids)
    if older:
        fact_rows.add_mentions(connection, older)
        memory_ids += sorted({row[0] for row in older})
    follow_change(
        connection,
        concept_ids=sorted({row.concept_id for row in rows}),
        memory_ids=memory_ids,
        groups=fact_rows.groups_of_memories(connection, memory_ids),
        names=[row for row in rows if row.id in new_ids],
        scopes=set(scopes.values()),
    )


def spellings(extractions: Iterable[tuple[str, Extraction]]) -> dict[NameKey, tuple[str, str | None]]:
    """Every name of a batch by its scope and normal form; the first spelling and the first kind win."""
    wanted: dict[NameKey, tuple[str, str | None]] = {}
    for scope, extraction in extractions:
        for name, kind in names_used(extraction):
            normal = normalise(name)
            if not is_name(name, normal):
                continue
            spelling, first = wanted.get((scope, normal), (name, None))
            wanted[scope, normal] = (spelling, first or kind)
    return wanted


def _portions(batch: Sequence[Extracted]) -> Iterator[list[Extracted]]:
    """Cut a batch where its names become too many for one turn under the graph's lock."""
    portion: list[Extracted] = []
    names: set[str] = set()
    for one in batch:
        further = {name for name, _ in names_used(one.extraction)}
        if portion and len(names | further) > MAX_TURN:
            yield portion
            portion, names = [], set()
        portion.append(one)
        names |= further
    if portion:
        yield portion


def _name(source: Source) -> str:
    return str(source.memory_id)


class GraphSink:
    """Write extractions into a store.

    Parameters
    ----------
    deriving : bool
        Whether edges follow at once; a backfill derives once, at its end.
    resolution : NameResolver, optional
        Resolves each batch's new names, inside its transaction.
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
        """Write a batch with its provenance, in the place of these memories' earlier extractions.

        A memory is there wholly or not at all; a batch of many names takes the graph's lock more than once, so that
        who waits for it waits for a few of them.
        """
        kept = [one._replace(extraction=bounded(one.extraction)) for one in batch]
        # Before the first build nobody waits for the graph.
        for portion in _portions(kept) if self._deriving else [kept]:
            self._write_portion(portion, identity)

    def _write_portion(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        if self._resolution:
            batch = self._prepared(self._resolution, batch)
        self._store.run(lambda connection: self._write(connection, batch, identity), recurring=True)

    def _write(self, connection: Connection[Any], batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        # Where a whole build was broken off meanwhile, nothing follows until the next.
        deriving = share(connection) if self._deriving else False
        # Every writer of both locks memories first and the graph second, so that no two wait for each other.
        read = [one.source for one in batch]
        known = extractions.readable(connection, read)
        name_rows.lock(connection)
        # Whoever marks a turn that was read with a memory takes the graph's lock to remove what was made with it.
        told = [source for source in read if source.before]
        gone = {*map(_name, told)} - extractions.readable(connection, told, lock=False).keys() if told else set()
        known = {name: row for name, row in known.items() if name not in gone}
        if self._resolution and (lost := [one for one in batch if _name(one.source) not in known]):
            used = {name for one in lost for name, _ in names_used(one.extraction)}
            self._resolution.take_back(used, {(key.subject, key.relation, key.object) for key in _fact_keys(lost)})
        before = extractions.recorded(connection, [row.id for row in known.values()], identity)
        # What another build has written since is left as it is; a failed extraction does not replace an earlier one.
        rows = [
            (*known[name], one)
            for name, one in ((_name(one.source), one) for one in batch)
            if name in known
            and not before.get(known[name].id, False)
            and not (known[name].id in before and one.extraction.state is State.FAILED)
        ]
        if again := [key for key, _, _ in rows if key in before]:
            revoke(connection, again)
        dated = [DatedExtraction(key, recorded_at, one.extraction) for key, recorded_at, one in rows]
        if dated:
            add(connection, dated, deriving=deriving, resolve=self._resolution)
            if deriving and self._resolution:
                self._resolution.give_vectors(connection)
            extractions.record(
                connection, ((key, text_key(one.source), one.extraction) for key, _, one in rows), identity
            )

    def _prepared(self, resolution: NameResolver, batch: Sequence[Extracted]) -> Sequence[Extracted]:
        """Let names be embedded before the lock is taken; give what is left of the batch when that is done."""
        while True:
            read = [one.source for one in batch]
            with self._store.transaction() as connection:
                scopes = extractions.scopes(connection, read)
            batch = [one for one in batch if _name(one.source) in scopes]
            names = spellings((scopes[_name(one.source)], one.extraction) for one in batch)
            try:
                with guarded(extractions.guard(self._store, read)):
                    resolution.prepare(
                        self._store, {key: name for key, (name, _) in names.items()}, _fact_keys(batch, scopes)
                    )
            except WithdrawnError:
                with self._store.transaction() as connection:
                    known = extractions.readable(connection, read, lock=False)
                batch = [one for one in batch if str(one.source.memory_id) in known]
            else:
                return batch


def _fact_keys(batch: Iterable[Extracted], scopes: Mapping[str, str] | None = None) -> set[FactKey]:
    """The facts that some extractions state, by their ends' keys."""
    return {
        FactKey(
            scopes[_name(one.source)] if scopes else "",
            normalise(fact.subject),
            fact.relation[:MAX_NAME],
            normalise(fact.object),
        )
        for one in batch
        for fact in one.extraction.facts
    }
