"""Edges along their two times: all versions of a concept's, what changed between two moments, what contradicts what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.edge_rows import NAME_INSIDE, named_edges
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

_ENDS = {"valid": ("valid_from", "valid_to"), "known": ("recorded_at", "retired_at")}


def span(connection: Connection[Any], view: View) -> tuple[datetime | None, ...]:
    """The first and last moment of valid time, and of known time; nothing where no edge has one."""
    row = connection.execute(
        "SELECT least(min(valid_from), min(valid_to)), greatest(max(valid_from), max(valid_to)), min(recorded_at), "
        "greatest(max(recorded_at), max(retired_at)) FROM concept_edges "
        f"WHERE relation <> %(inside)s AND {view.edges_of_scopes()}",
        view.parameters(inside=NAME_INSIDE),
    ).fetchone()
    assert row is not None
    return tuple(row)


def versions(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], *, limit: int
) -> list[tuple[Any, ...]]:
    """Every version of concepts' edges, those no longer believed among them, in the order of valid time."""
    return connection.execute(
        f"{named_edges(view)} WHERE e.relation <> %(inside)s AND {view.edges_of_scopes('e')} "
        "AND (e.src_id = ANY(%(concepts)s) OR e.dst_id = ANY(%(concepts)s)) "
        "ORDER BY e.relation, e.valid_from NULLS FIRST, e.recorded_at, e.id LIMIT %(limit)s",
        view.parameters(concepts=list(concept_ids), inside=NAME_INSIDE, limit=limit),
    ).fetchall()


def begun(
    connection: Connection[Any], view: View, axis: str, since: datetime, until: datetime, *, ended: bool, limit: int
) -> list[tuple[Any, ...]]:
    """Edges that began, or `ended`, after `since` and up to `until`, on the axis "valid" or "known"."""
    column = _ENDS[axis][ended]
    # In valid time only what is believed now; in known time a version that was replaced is the news.
    believed = "AND e.retired_at IS NULL" if axis == "valid" else ""
    return connection.execute(
        f"{named_edges(view)} WHERE e.relation <> %(inside)s AND {view.edges_of_scopes('e')} {believed} "
        f"AND e.{column} > %(since)s AND e.{column} <= %(until)s ORDER BY e.{column}, e.id LIMIT %(limit)s",
        view.parameters(since=since, until=until, inside=NAME_INSIDE, limit=limit),
    ).fetchall()


def conflicts(
    connection: Connection[Any], view: View, concept_ids: Sequence[int] | None, *, limit: int
) -> list[tuple[int, int, bool]]:
    """Pairs of edges that cannot both hold: the older one, the newer one, and whether the newer one ended the older.

    They have one source and one relation that holds one value at a time, and different targets.
    """
    return connection.execute(
        "SELECT e.id, n.id, n.valid_from = e.valid_to AS ended FROM concept_edges e JOIN concept_edges n "
        "ON n.src_id = e.src_id AND n.relation = e.relation AND n.dst_id <> e.dst_id AND n.retired_at IS NULL "
        "WHERE e.retired_at IS NULL AND EXISTS (SELECT 1 FROM relations r WHERE r.scope = e.scope "
        f"AND r.canonical = e.relation AND r.single_valued) AND {view.edges_of_scopes('e')} "
        f"AND {view.edges_of_scopes('n')} AND (%(concepts)s::bigint[] IS NULL OR e.src_id = ANY(%(concepts)s) "
        "OR e.dst_id = ANY(%(concepts)s) OR n.dst_id = ANY(%(concepts)s)) AND (n.valid_from = e.valid_to OR ("
        "(coalesce(e.valid_from, '-infinity'), e.id) < (coalesce(n.valid_from, '-infinity'), n.id) "
        "AND coalesce(n.valid_from, '-infinity') < coalesce(e.valid_to, 'infinity'))) "
        "ORDER BY n.valid_from DESC NULLS LAST, n.id, e.id LIMIT %(limit)s",
        view.parameters(concepts=None if concept_ids is None else list(concept_ids), limit=limit),
    ).fetchall()


def by_id(connection: Connection[Any], view: View, edge_ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Edges with their names and evidence, by id."""
    rows = connection.execute(
        f"{named_edges(view, 'e.id, ')} WHERE e.id = ANY(%(ids)s)", view.parameters(ids=list(edge_ids))
    )
    return {row[0]: tuple(row[1:]) for row in rows}


def superseded(
    connection: Connection[Any], view: View, *, limit: int
) -> list[tuple[str, str | None, datetime, str | None]]:
    """Memories that gave way: which, to which, since when and why; the last one first, never a sensitive one.

    Of some scopes alone, one that gave way to another scope's does not say why: the reason may name that one.
    """
    within = "%(scopes)s::text[] IS NULL OR"
    return connection.execute(
        "SELECT m.external_id, b.external_id, m.superseded_at, "
        f"CASE WHEN {within} b.id IS NOT NULL OR m.superseded_by IS NULL THEN m.superseded_reason END "
        "FROM memories m LEFT JOIN memories b ON b.id = m.superseded_by AND NOT b.is_sensitive "
        f"AND ({within} b.scope = ANY(%(scopes)s)) "
        f"WHERE m.superseded_at IS NOT NULL AND NOT m.is_sensitive AND ({within} m.scope = ANY(%(scopes)s)) "
        "ORDER BY m.superseded_at DESC, m.id LIMIT %(limit)s",
        view.parameters(limit=limit),
    ).fetchall()
