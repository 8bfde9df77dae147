"""What of the graph is looked at: conditions on edges, concepts and memories, and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store import setting_rows
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class View:
    """What of the graph is looked at: some scopes or all, as it was true as of a time and known at a time.

    Parameters
    ----------
    scopes : tuple of str, optional
        The scopes; by default all.
    as_of, known_at : datetime, optional
        By default whatever its time of validity, as it is known now.
    shared : bool
        Whether all scopes have one graph: then it is the memories that say what of it a scope shows.

    Examples
    --------
    >>> View(("home",)).concepts("c"), View(("home",)).edges("e")
    ('c.scope = ANY(%(scopes)s)', 'e.retired_at IS NULL AND e.scope = ANY(%(scopes)s)')
    """

    scopes: tuple[str, ...] | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    shared: bool = False

    @property
    def graph_scopes(self) -> tuple[str, ...] | None:
        """The scopes whose names, concepts and edges are looked at; None for all."""
        return None if self.shared else self.scopes

    def edges(self, alias: str = "concept_edges") -> str:
        """The condition on edges."""
        return f"{visible_edges(self.as_of, self.known_at, alias)} AND {self.edges_of_scopes(alias)}"

    def edges_of_scopes(self, alias: str = "concept_edges") -> str:
        """The condition on edges, whatever their times."""
        if self.scopes is None:
            return "true"
        if not self.shared:
            return f"{alias}.scope = ANY(%(scopes)s)"
        return (
            f"({alias}.evidence_memory_ids = '{{}}' OR EXISTS (SELECT 1 FROM memories own "
            f"WHERE own.id = ANY({alias}.evidence_memory_ids) AND own.scope = ANY(%(scopes)s)))"
        )

    def concepts(self, alias: str = "concepts") -> str:
        """The condition on concepts."""
        if self.scopes is None:
            return "true"
        if not self.shared:
            return f"{alias}.scope = ANY(%(scopes)s)"
        return (
            f"{alias}.id IN (SELECT own.concept_id FROM memory_concepts own JOIN memories "
            "ON memories.id = own.memory_id WHERE memories.scope = ANY(%(scopes)s))"
        )

    def mentions(self, alias: str = "memory_concepts") -> str:
        """The condition on what says which memory talks about which concept."""
        if self.scopes is None:
            return "true"
        if self.shared:
            return f"{alias}.memory_id IN (SELECT own.id FROM memories own WHERE own.scope = ANY(%(scopes)s))"
        return f"{alias}.concept_id IN (SELECT own.id FROM concepts own WHERE own.scope = ANY(%(scopes)s))"

    def memories(self, alias: str = "memories", *, superseded: bool = True) -> str:
        """The condition on memories."""
        shown = visible_memories(self.known_at, superseded=superseded, alias=alias)
        return shown if self.scopes is None else f"{shown} AND {alias}.scope = ANY(%(scopes)s)"

    def parameters(self, **more: Any) -> dict[str, Any]:
        """The parameters of the conditions, and of whatever else a statement asks for."""
        scopes = None if self.scopes is None else list(self.scopes)
        return {**time_parameters(self.as_of, self.known_at), "scopes": scopes, **more}


def view_of(
    connection: Connection[Any],
    scopes: Sequence[str] | None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> View:
    """Look at some scopes, or all, as the store's owner joins or parts them."""
    shared = setting_rows.scopes(connection) == setting_rows.SHARED
    return View(None if scopes is None else tuple(scopes), as_of, known_at, shared)


def visible_edges(as_of: datetime | None, known_at: datetime | None, alias: str = "") -> str:
    """The condition on `concept_edges`; its parameters are those of `time_parameters`.

    Without `known_at` what is known now; without `as_of` whatever its time of validity. A missing end is no end.
    An edge holds at its first moment and no longer at its last; one that is a point (valid from = valid to) holds at
    its instant.

    Examples
    --------
    >>> visible_edges(None, None)
    'retired_at IS NULL'
    """
    e = f"{alias}." if alias else ""
    conditions = [f"{e}retired_at IS NULL"]
    if known_at is not None:
        conditions = [f"{e}recorded_at <= %(known_at)s", f"({e}retired_at IS NULL OR {e}retired_at > %(known_at)s)"]
    if as_of is not None:
        conditions.append(f"({e}valid_from IS NULL OR {e}valid_from <= %(as_of)s)")
        conditions.append(f"({e}valid_to IS NULL OR {e}valid_to > %(as_of)s OR {e}valid_from = %(as_of)s)")
    return " AND ".join(conditions)


def visible_memories(known_at: datetime | None, *, superseded: bool, alias: str = "") -> str:
    """The condition on `memories`; its parameters are those of `time_parameters`. Sensitive ones are never visible.

    Examples
    --------
    >>> visible_memories(None, superseded=False)
    'NOT is_sensitive AND superseded_at IS NULL'
    """
    m = f"{alias}." if alias else ""
    conditions = [f"NOT {m}is_sensitive"]
    if known_at is not None:
        conditions.append(f"{m}created_at <= %(known_at)s")
    if not superseded:
        since = f"{m}superseded_at"
        conditions.append(f"{since} IS NULL" if known_at is None else f"({since} IS NULL OR {since} > %(known_at)s)")
    return " AND ".join(conditions)


def time_parameters(as_of: datetime | None, known_at: datetime | None) -> dict[str, datetime | None]:
    """The parameters of the conditions above; a time without a zone is UTC, whatever the zone of the session.

    Examples
    --------
    >>> time_parameters(datetime(2024, 5, 1), None)
    {'as_of': datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc), 'known_at': None}
    """
    return {"as_of": utc(as_of), "known_at": utc(known_at)}
