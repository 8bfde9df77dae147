"""What recall cannot find yet by meaning or over the graph: memories that wait for a vector or for the graph."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.recall.fuse import active
from hopgate.store import vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.recall.settings import Settings
    from hopgate.store.store import Store

LOG = logging.getLogger("hopgate.recall")
# A server is asked about many scopes: of more notes than these it begins anew.
MOST_NOTED = 10_000


class WaitingNotes:
    """Says once, by a record of the logger `hopgate.recall`, how many memories wait, and again when that changed.

    It is counted at the first recall and at the next one after this process wrote something.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._said: set[str] = set()
        self._counted: set[tuple[str, ...]] = set()

    def count_again(self) -> None:
        """Something was written: count at the next recall."""
        self._counted.clear()

    def due(self, settings: Settings, scopes: Sequence[str] | None = None) -> list[str]:
        """The legs, of those that are on, for which it was not counted yet in the scopes asked for; it is then."""
        legs: list[str] = [leg for leg in ("dense", "graph") if leg in active(settings.fuser)]
        legs = [leg for leg in legs if (leg, *(scopes or ())) not in self._counted]
        if len(self._counted) >= MOST_NOTED:
            self._counted.clear()
        self._counted.update((leg, *(scopes or ())) for leg in legs)
        return legs

    def counted(self, legs: Sequence[str], scopes: Sequence[str] | None = None) -> list[str]:
        """Count what waits for these legs, and give what is to be said of it."""
        with self._store.transaction() as connection:
            return [note for leg in legs if (note := self._note(connection, leg, scopes))]

    def say(self, notes: Sequence[str]) -> None:
        """Say what was not said before."""
        for note in notes:
            if note not in self._said:
                if len(self._said) >= MOST_NOTED:
                    self._said.clear()
                self._said.add(note)
                LOG.warning(note)

    def _note(self, connection: Connection[Any], leg: str, scopes: Sequence[str] | None) -> str | None:
        if leg == "dense":
            waiting, what, command = vectors.count_pending(connection, scopes=scopes), "a vector", "hopgate embed"
        elif version.current(connection) == 0:
            # No graph was asked for yet.
            return None
        else:
            # Late: with it come the extractors, which a lexical recall does without.
            from hopgate.store import extractions

            waiting, what = extractions.count_pending(connection, scopes=scopes), "the graph"
            command = "hopgate build"
        if not waiting:
            return None
        who = "1 memory waits" if waiting == 1 else f"{waiting:,} memories wait"
        return f"{who} for {what}: run {command}"
