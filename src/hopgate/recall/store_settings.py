"""The settings that a store holds: read for every query, set by hand or by a gate, explained with their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.recall.settings import NAMES, Resolved, Settings, load_settings, resolve_settings
from hopgate.store import setting_rows
from hopgate.store.graph import version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

BY_HAND = "hopgate settings"
SCOPES = (setting_rows.WALLS, setting_rows.SHARED)

MEANINGS = {
    "lexical": "weight of the lexical leg; 0 skips it",
    "dense": "weight of the dense leg; 0 skips it",
    "graph": "weight of the graph leg; 0 skips it",
    "fuser": "how the legs' lists become one ranking",
    "k": "how many hits are returned",
    "depth": "how many memories each leg lists",
    "prior": "what a memory of importance 0 keeps of its score; 1 is no prior",
    "sort_by": "relevance; importance (fused order, importance breaks ties); recency",
    "exact_match": "bonus of an exact match, as a leg's weight; 0 is none",
    "rerank": "whether a cross-encoder reads the fused top again",
    "rerank_depth": "how many of the fused top the cross-encoder reads",
    "rerank_timeout": "seconds it may take; what it has read by then is used",
    "stages": "what follows the legs where rerank is on",
    "lexical_ranker": "how the lexical leg ranks: bm25, or ts_rank",
    "rerank_model": "the cross-encoder: bundled, or a sentence-transformers name or path",
    "min_score": "the least score of a hit, in the fuser's unit; none keeps all",
    "walk": 'the graph leg\'s walk by its fields, such as {"damping": 0.7}; none is the measured one',
}
"""One line on every setting."""
SCOPES_MEANING = "walls: no scope moves another's answers; shared: walks pass through all, for one person's many"


class StoreSettings:
    """A store's own settings, and how they resolve with the file and the environment.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
    ...     kb.store_settings.set({"k": 5})
    ...     kb.settings().k, kb.store_settings.resolve().sources["k"]
    (5, 'hopgate settings')
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self, changes: Mapping[str, Any] | None = None) -> Settings:
        """Resolve the settings of the next query: defaults, store, file, environment, then `changes`."""
        return load_settings(self._store.directory, arguments=changes, stored=self._read(self._store))

    def resolve(self) -> Resolved:
        """Resolve them without changes, and say where each comes from."""
        return resolve_settings(self._store.directory, stored=self._read(self._store))

    def set(self, changes: Mapping[str, Any], *, source: str = BY_HAND) -> None:
        """Set some for this store, from the next query on; what is not a setting's value is refused."""
        own = {name: value for name, value in changes.items() if name == setting_rows.SCOPES}
        for value in own.values():
            if value not in SCOPES:
                raise HopgateError(f"scopes must be {' or '.join(SCOPES)}, not {value!r}")
        checked = _checked({name: value for name, value in changes.items() if name not in own}) | own

        def write(connection: Connection[Any]) -> None:
            if own and setting_rows.scopes(connection) != own[setting_rows.SCOPES]:
                # Names are kept by scope: the next build makes the graph anew.
                version.forget_graph(connection)
            setting_rows.write(connection, checked, source)

        self._store.run(write)

    def unset(self, names: Sequence[str]) -> None:
        """Forget some: the file, the environment or the default decides again."""
        if unknown := [name for name in names if name not in (*NAMES, setting_rows.SCOPES)]:
            raise HopgateError(f"there is no setting {unknown[0]!r}: there are {', '.join(NAMES)}")

        def remove(connection: Connection[Any]) -> list[str]:
            if setting_rows.SCOPES in names and setting_rows.scopes(connection) != setting_rows.WALLS:
                version.forget_graph(connection)
            return setting_rows.remove(connection, names)

        gone = self._store.run(remove)
        if missing := [name for name in names if name not in gone]:
            raise HopgateError(f"this store does not set {missing[0]!r}: hopgate settings shows where it comes from")

    def apply_gate(self, fingerprint: str, *, fuser: str, depth: int, walk: Mapping[str, Any] | None = None) -> None:
        """Make what a gate chose this store's own: fuser, depth and walk, with the gate's fingerprint.

        Weights that were set by hand go: the fuser carries them.
        """
        values = {"fuser": fuser, "depth": depth, **({} if walk is None else {"walk": walk})}
        with self._store.transaction() as connection:
            setting_rows.remove(connection, ["lexical", "dense", "graph", "walk"])
            setting_rows.write_gate(connection, _checked(values), f"gate {fingerprint}")

    def scopes(self) -> str:
        """Say "walls" or "shared": whether walks pass from one scope into another; the store's owner alone decides."""
        with self._store.transaction() as connection:
            return setting_rows.scopes(connection)

    def stale_gate(self) -> str | None:
        """The gate that was applied, where the graph has been changed since."""
        with self._store.transaction() as connection:
            return setting_rows.gate_is_behind(connection)

    def _read(self, store: Store) -> dict[str, tuple[Any, str]]:
        with store.transaction() as connection:
            return setting_rows.read(connection)


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what recall would refuse; a fuser is kept as it prints, a walk by its fields."""
    settings = Settings().replaced(changes)
    kept = {"fuser": repr(settings.fuser), "walk": settings.walk and asdict(settings.walk)}
    return {name: kept.get(name, value) for name, value in changes.items()}
