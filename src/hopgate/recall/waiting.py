"""What recall cannot find yet by meaning or over the graph: memories that wait for a vector or for the graph."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hopgate.recall.fuse import active
from hopgate.store import vectors
from hopgate.store.graph import version

if TYPE_CHECKING:
    from hopgate.recall.settings import Settings
    from hopgate.store.store import Store

LOG = logging.getLogger("hopgate.recall")


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

    def say(self, settings: Settings, scopes: Sequence[str] | None = None) -> None:
        """Count in the scopes that were asked for and say, for the legs that are on, unless that was done."""
        for leg in ("dense", "graph"):
            asked = (leg, *(scopes or ()))
            if leg not in active(settings.fuser) or asked in self._counted:
                continue
            self._counted.add(asked)
            note = self._note(leg, scopes)
            if note and note not in self._said:
                self._said.add(note)
                LOG.warning(note)

    def _note(self, leg: str, scopes: Sequence[str] | None) -> str | None:
        with self._store.transaction() as connection:
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
