"""Extractions: cached by the text that was read, for as long as its memory is open, and recorded by memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.memory import thread_of
from hopgate.store import clearance, memories
from hopgate.store.memories import NAMED, named
from hopgate.store.rows import Connection, insert, value, values

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extraction, ExtractorIdentity, Source
    from hopgate.store.store import Store

# Memories that are looked at to tell who made a graph.
SAMPLE = 100
# An extraction that an extractor need not make again.
_FINAL = "x.extractor_hash = %(hash)s AND x.state IN ('complete', 'empty')"


class _Cached(NamedTuple):
    memory_id: int
    extractor_hash: str
    text_hash: str
    extraction: dict[str, Any]


class StoreCache:
    """The extraction cache inside the database: what turns sensitive leaves it in the same transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, identity: ExtractorIdentity, text_hashes: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions by this identity that are there, each by the hash of what was read."""
        # Recall counts here what waits for the graph, and reads no extraction: it spares this import.
        from hopgate.extract.extraction import Extraction

        with self._store.transaction() as connection:
            rows = connection.execute(
                "SELECT text_hash, extraction FROM extraction_cache "
                "WHERE extractor_hash = %s AND text_hash = ANY(%s) ORDER BY memory_id DESC",
                (identity.hash, list(text_hashes)),
            ).fetchall()
        return {text_hash: Extraction.from_dict(values) for text_hash, values in rows}

    def put(self, identity: ExtractorIdentity, made: Sequence[tuple[Source, Extraction]]) -> None:
        """Keep extractions, one a memory and extractor; none of a memory that may not be read any more."""

        def work(connection: Connection) -> None:
            known = readable(connection, [source for source, _ in made])
            rows = [
                _Cached(known[str(source.memory_id)].id, identity.hash, source.text_hash, asdict(extraction))
                for source, extraction in made
                if str(source.memory_id) in known
            ]
            insert(connection, "extraction_cache", rows, key="memory_id, extractor_hash")

        self._store.run(work)


def forget(connection: Connection, ids: Sequence[int], stated: Sequence[int]) -> None:
    """Remove the cached extractions of these memories, of any extractor, and what is stated about some."""
    connection.execute("DELETE FROM extraction_cache WHERE memory_id = ANY(%s)", (list(ids),))
    connection.execute("DELETE FROM statements WHERE memory_id = ANY(%s)", (list(stated),))


def done(connection: Connection, external_ids: Sequence[str], identity: ExtractorIdentity) -> list[str]:
    """Those of the memories whose extraction by this extractor is final: complete or empty."""
    return values(
        connection,
        f"SELECT external_id FROM memories JOIN extractions x ON x.memory_id = memories.id WHERE {NAMED} AND {_FINAL}",
        named(external_ids) | {"hash": identity.hash},
    )


class Readable(NamedTuple):
    """A memory that may be written about: its id, and when it became known."""

    id: int
    recorded_at: datetime


def readable(connection: Connection, read: Sequence[Source], *, lock: bool = True) -> dict[str, Readable]:
    """Memories that may be written about, by external id, locked until the transaction ends.

    One that turned sensitive, changed or was deleted while its text was being read is not among them; nor is one that
    was read with the turns before it, where one of these turned sensitive or changed.
    """
    as_read = {str(source.memory_id): source for source in read}
    ids = memories.ids_of(connection, list(as_read))
    if lock:
        memories.lock(connection, ids)
    open_now = clearance.open_memories(connection, ids)
    same = {}
    for key, memory in open_now.items():
        source = as_read[memory.external_id]
        if (source.text, source.tags, source.keywords) == (memory.content, memory.tags, memory.expanded_keywords):
            same[key] = memory
    before = {
        key: {(memory.scope, thread_of(memory) or "", text) for text in as_read[memory.external_id].before}
        for key, memory in same.items()
    }
    gone = memories.closed_turns(connection, set().union(*before.values()))
    return {
        memory.external_id: Readable(key, memory.created_at)
        for key, memory in same.items()
        if memory.created_at and not before[key] & gone
    }


def guard(store: Store, read: Sequence[Source]) -> clearance.StoreGuard:
    """Guard sources on their way to an extractor."""
    wanted = {str(source.memory_id) for source in read}
    return clearance.StoreGuard(store, lambda connection, lock: readable(connection, read, lock=lock).keys() == wanted)


def recorded(connection: Connection, ids: Sequence[int], identity: ExtractorIdentity) -> dict[int, bool]:
    """Those of the memories that were extracted before, and whether by this extractor and for good."""
    rows = connection.execute(
        f"SELECT memory_id, {_FINAL} FROM extractions x WHERE memory_id = ANY(%(ids)s)",
        {"hash": identity.hash, "ids": list(ids)},
    )
    return dict(rows.fetchall())


class _Recorded(NamedTuple):
    memory_id: int
    extractor: str
    extractor_hash: str
    state: str
    reason: str | None
    changes_by: None = None


def record(connection: Connection, made: Iterable[tuple[int, Extraction]], identity: ExtractorIdentity) -> None:
    """Note how each extraction ended, by memory."""
    rows = (
        _Recorded(key, identity.extractor, identity.hash, extraction.state.value, extraction.reason or None)
        for key, extraction in made
    )
    insert(connection, "extractions", rows, key="memory_id")


def unfinished(connection: Connection, identity: ExtractorIdentity) -> list[int]:
    """The ids of the memories that this extractor has not dealt with to the end, in the order of arrival."""
    # Two ranges of an index: with <> all rows would be read.
    return values(
        connection,
        "SELECT id FROM memories m WHERE NOT is_sensitive AND id IN (SELECT memory_id FROM waiting_links "
        "UNION SELECT memory_id FROM extractions WHERE extractor_hash < %(hash)s "
        "UNION SELECT memory_id FROM extractions WHERE extractor_hash > %(hash)s "
        "UNION SELECT memory_id FROM extractions WHERE state NOT IN ('complete', 'empty')) ORDER BY id",
        {"hash": identity.hash},
    )


def made_by(connection: Connection) -> str:
    """The extractor that made most of the graph, or nothing; by its first memories, which a build reads first."""
    statement = (
        "SELECT extractor FROM (SELECT extractor FROM extractions ORDER BY memory_id LIMIT %s) AS first "
        "GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    )
    return value(connection, statement, (SAMPLE,)) or ""


def states(connection: Connection) -> dict[str, int]:
    """How many memories are in each state; `pending` are not extracted yet."""
    rows = connection.execute(
        "SELECT coalesce(x.state, 'pending'), count(*) FROM memories m LEFT JOIN extractions x ON x.memory_id = m.id "
        "WHERE NOT m.is_sensitive GROUP BY 1 ORDER BY 1"
    )
    return dict(rows.fetchall())
