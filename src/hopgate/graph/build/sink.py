"""Where a run of an extractor ends: its results in the graph, with their provenance, one transaction a batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from hopgate.extract.cache import text_key
from hopgate.extract.extraction import State
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.runner import Extracted
from hopgate.graph.build.ingest import DatedExtraction, add, spellings
from hopgate.graph.build.revoke import revoke
from hopgate.store import extractions
from hopgate.store.graph import name_rows

if TYPE_CHECKING:
    from hopgate.graph.build.resolve import NameResolver
    from hopgate.store.store import Store


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
        """Write a batch with its provenance, in the place of whatever was said of these memories before."""
        if self._resolution:
            told = spellings(one.extraction for one in batch)
            self._resolution.prepare(self._store, {normal: name for normal, (name, _) in told.items()})
        with self._store.transaction() as connection:
            # Memories first and the graph second, as everyone does who changes both: no two then wait for each other.
            known = extractions.readable(connection, [str(one.source.memory_id) for one in batch])
            name_rows.lock(connection)
            rows = [(known[str(one.source.memory_id)], one) for one in batch if str(one.source.memory_id) in known]
            # An extractor that failed says nothing against what another has said before.
            rows = [(row, one) for row, one in rows if not (row[2] and one.extraction.state is State.FAILED)]
            before = [key for (key, _, said_before), _ in rows if said_before]
            if before:
                revoke(connection, before)
            said = [DatedExtraction(key, recorded_at, one.extraction) for (key, recorded_at, _), one in rows]
            add(connection, said, deriving=self._deriving, resolve=self._resolution)
            extractions.record(
                connection, ((key, text_key(one.source), one.extraction) for (key, _, _), one in rows), identity
            )
