"""What of the graph is looked at: conditions on edges, concepts and memories, and their parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hopgate.store import setting_rows
from hopgate.store.rows import Connection
from hopgate.times import When, utc


@dataclass(frozen=True, slots=True)
class View:
    """What of the graph is looked at: some scopes or all, as it was true as of a time and known at a time.

    Where scopes are `shared` all have one graph, and it is the memories that say what of it a scope shows.
    """

    scopes: tuple[str, ...] | None = None  # by default all
    as_of: datetime | None = None  # by default whatever its time of validity
    known_at: datetime | None = None  # by default now
    shared: bool = False

    @property
    def graph_scopes(self) -> tuple[str, ...] | None:
        """The scopes whose names, concepts and edges are looked at; None for all."""
        return None if self.shared else self.scopes

    def edges(self, alias: str = "concept_edges") -> str:
        """The condition on edges.

        An edge holds at its first moment and no longer at its last; one that is a point (valid from = valid to) holds
        at its instant. A missing end is no end.
        """
        e = alias
        conditions = [f"{e}.retired_at IS NULL"]
        if self.known_at is not None:
            conditions = [
                f"{e}.recorded_at <= %(known_at)s",
                f"({e}.retired_at IS NULL OR {e}.retired_at > %(known_at)s)",
            ]
        if self.as_of is not None:
            conditions.append(f"({e}.valid_from IS NULL OR {e}.valid_from <= %(as_of)s)")
            conditions.append(f"({e}.valid_to IS NULL OR {e}.valid_to > %(as_of)s OR {e}.valid_from = %(as_of)s)")
        return " AND ".join([*conditions, self.edges_of_scopes(e)])

    def edges_of_scopes(self, alias: str = "concept_edges") -> str:
        """The condition on edges, whatever their times."""
        return self._of_scopes(
            f"{alias}.scope",
            f"({alias}.evidence_memory_ids = '{{}}' OR EXISTS (SELECT 1 FROM memories own "
            f"WHERE own.id = ANY({alias}.evidence_memory_ids) AND own.scope = ANY(%(scopes)s)))",
        )

    def concepts(self, alias: str = "concepts") -> str:
        """The condition on concepts."""
        return self._of_scopes(
            f"{alias}.scope",
            f"{alias}.id IN (SELECT own.concept_id FROM memory_concepts own JOIN memories "
            "ON memories.id = own.memory_id WHERE memories.scope = ANY(%(scopes)s))",
        )

    def mentions(self, alias: str = "memory_concepts") -> str:
        """The condition on what says which memory talks about which concept."""
        if self.scopes is None:
            return "true"
        if self.shared:
            return f"{alias}.memory_id IN (SELECT id FROM memories WHERE scope = ANY(%(scopes)s))"
        return f"{alias}.concept_id IN (SELECT id FROM concepts WHERE {self.concepts()})"

    def memories(self, alias: str = "memories", *, superseded: bool = True) -> str:
        """The condition on memories; sensitive ones are never visible, and those that gave way unless `superseded`."""
        conditions = [f"NOT {alias}.is_sensitive"]
        if self.known_at is not None:
            conditions.append(f"{alias}.created_at <= %(known_at)s")
        if not superseded:
            # One that gave way after these times was in force then.
            times = {"known_at": self.known_at, "as_of": self.as_of}
            later = (f" OR {alias}.superseded_at > %({name})s" for name, time in times.items() if time is not None)
            conditions.append(f"({alias}.superseded_at IS NULL{''.join(later)})")
        if self.scopes is not None:
            conditions.append(f"{alias}.scope = ANY(%(scopes)s)")
        return " AND ".join(conditions)

    @property
    def counts_memories(self) -> bool:
        """Whether how many memories talk about a concept must be counted by what this view shows of them."""
        return self.known_at is not None or (self.shared and self.scopes is not None)

    def memory_count(self, alias: str = "concepts") -> str:
        """How many of the memories in view talk about a concept."""
        if not self.counts_memories:
            return f"{alias}.memory_count"
        return (
            "(SELECT count(*)::integer FROM memory_concepts x JOIN memories m ON m.id = x.memory_id "
            f"WHERE x.concept_id = {alias}.id AND {self.memories('m')})"
        )

    def _of_scopes(self, column: str, where_shared: str) -> str:
        if self.scopes is None:
            return "true"
        return where_shared if self.shared else f"{column} = ANY(%(scopes)s)"

    def parameters(self, **more: Any) -> dict[str, Any]:
        """The parameters of the conditions, and of whatever else a statement asks for.

        A time without a zone is UTC, whatever the zone of the session.
        """
        scopes = None if self.scopes is None else list(self.scopes)
        return {"as_of": utc(self.as_of), "known_at": utc(self.known_at), "scopes": scopes, **more}


def view_of(
    connection: Connection,
    scopes: Sequence[str] | None,
    as_of: When | None = None,
    known_at: When | None = None,
) -> View:
    """Look at some scopes, or all, as the store's owner joins or parts them."""
    shared = setting_rows.shares_scopes(connection)
    return View(None if scopes is None else tuple(scopes), utc(as_of), utc(known_at), shared)
