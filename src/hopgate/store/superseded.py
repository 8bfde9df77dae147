"""Memories that gave way to others: who is like whom, who takes whose place, and how that is taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.store import memories
from hopgate.store.typed_rows import fetch

if TYPE_CHECKING:
    from psycopg import Connection


class Gone(NamedTuple):
    """A memory that gave way, or came back: its id and its scope."""

    id: int
    scope: str | None


REPEATED, EXTENDED, ENDED = (
    "the older memory says all of it",
    "it says what the older one said, and more",
    "every fact of the older memory has ended",
)
REASONS = (REPEATED, EXTENDED, ENDED)
"""What the rules say about why a memory gives way; a model says what it likes."""

_CURRENT = "NOT is_sensitive AND superseded_at IS NULL"
# An older memory is contradicted when each of its facts is ended by one of the newer memory's: same source, same
# single-valued relation, another target, a later start (or told later of what has none), or by a change that both
# memories tell; and the graph lets it: no edge that is believed still holds the old one. (Two birthdays are of one
# relation and end neither.)
_CONTRADICTED = (
    "EXISTS (SELECT 1 FROM facts WHERE memory_id = o.id) AND NOT EXISTS (SELECT 1 FROM facts f "
    "JOIN relations r ON r.scope = f.scope AND r.raw = f.relation JOIN concept_names s ON s.id = f.subject_id "
    "JOIN concept_names t ON t.id = f.object_id WHERE f.memory_id = o.id "
    "AND NOT ((EXISTS (SELECT 1 FROM facts c WHERE c.memory_id = o.id AND c.read_with = me.id "
    "AND c.valid_to IS NOT NULL AND (c.subject_id, c.relation, c.object_id) = (f.subject_id, f.relation, f.object_id)) "
    "OR r.single_valued AND EXISTS ("
    "SELECT 1 FROM facts g JOIN relations q ON q.scope = g.scope AND q.raw = g.relation "
    "JOIN concept_names u ON u.id = g.subject_id "
    "JOIN concept_names v ON v.id = g.object_id WHERE g.memory_id = me.id AND u.concept_id = s.concept_id "
    "AND q.canonical = r.canonical AND v.concept_id <> t.concept_id "
    "AND (coalesce(g.valid_from, g.recorded_at) > coalesce(f.valid_from, f.recorded_at) "
    "OR f.valid_from IS NULL AND g.recorded_at > f.recorded_at))) "
    "AND NOT EXISTS (SELECT 1 FROM concept_edges e WHERE e.src_id = s.concept_id AND e.relation = r.canonical "
    "AND e.dst_id = t.concept_id AND e.retired_at IS NULL AND e.valid_to IS NULL)))"
)


def not_superseded(connection: Connection[Any], *, since: datetime | None) -> list[int]:
    """Memories that are neither superseded nor sensitive, in the order in which they became known."""
    rows = connection.execute(
        f"SELECT id FROM memories WHERE {_CURRENT} AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s) "
        "ORDER BY created_at, id",
        {"since": since},
    )
    return [row[0] for row in rows]


def neighbours(
    connection: Connection[Any], memory_ids: Sequence[int], near: Sequence[tuple[int, int]], *, limit: int
) -> dict[int, list[tuple[int, bool]]]:
    """Older memories of the same scope that share concepts or are near, each with whether it is contradicted.

    The most alike first: by shared concepts, then by vector. Many are asked for at once: to plan this statement takes
    longer than to run it for one.

    Parameters
    ----------
    near : sequence of (int, int)
        Pairs of a memory and one that is near by vector.
    """
    older = (
        "m.scope IS NOT DISTINCT FROM me.scope AND (m.created_at, m.id) < (me.created_at, me.id) "
        "AND NOT m.is_sensitive AND m.superseded_at IS NULL"
    )
    rows = connection.execute(
        "WITH near AS MATERIALIZED (SELECT * FROM unnest(%(near)s::bigint[], %(others)s::bigint[]) AS n (id, other)) "
        f"SELECT me.id, o.id, {_CONTRADICTED} FROM memories me CROSS JOIN LATERAL ("
        "SELECT a.id, sum(a.score) AS score FROM ("
        "(SELECT m.id, sum(1.0 / c.memory_count) AS score FROM memory_concepts mine "
        "JOIN concepts c ON c.id = mine.concept_id JOIN memory_concepts x ON x.concept_id = mine.concept_id "
        f"JOIN memories m ON m.id = x.memory_id WHERE mine.memory_id = me.id AND c.memory_count < 1000 AND {older} "
        "GROUP BY m.id ORDER BY 2 DESC, 1 LIMIT %(limit)s) "
        "UNION ALL SELECT m.id, 0.5 FROM near JOIN memories m ON m.id = near.other "
        f"WHERE near.id = me.id AND {older} "
        "UNION ALL (SELECT DISTINCT m.id, 0.5 FROM facts f JOIN memories m ON m.id = f.memory_id "
        f"WHERE f.read_with = me.id AND {older} LIMIT %(limit)s)) a "
        "GROUP BY a.id ORDER BY 2 DESC, 1 LIMIT %(limit)s) o "
        "WHERE me.id = ANY(%(ids)s) ORDER BY me.id, o.score DESC, o.id",
        {
            "ids": list(memory_ids),
            "near": [one for one, _ in near],
            "others": [other for _, other in near],
            "limit": limit,
        },
    )
    found: dict[int, list[tuple[int, bool]]] = {key: [] for key in memory_ids}
    for key, other, contradicted in rows:
        found[key].append((other, bool(contradicted)))
    return found


def supersede(
    connection: Connection[Any], rows: Sequence[tuple[str, str, str]], compared: Mapping[str, str] | None = None
) -> dict[str, Gone]:
    """Mark memories as superseded by others of their scope, since the later of the two became known; give which were.

    One stays as it is that gave way already, or whose other did: two that gave way to each other would both be gone.

    Parameters
    ----------
    rows : sequence of (str, str, str)
        Which gives way, to which, and why; in this order.
    compared : mapping, optional
        The texts by which that was decided: where one is another now, nothing was decided about it.
    """
    # Locked in the order of ids: a reason may quote both, and whoever marks one of them waits, or has marked it.
    names = sorted({name for row in rows for name in row[:2]})
    known = connection.execute(
        f"SELECT external_id, id, scope, content, superseded_at IS NULL FROM memories "
        f"WHERE {memories.NAMED} AND NOT is_sensitive ORDER BY id FOR NO KEY UPDATE",
        memories.named(names),
    ).fetchall()
    texts = compared or {}
    there = {key: (row_id, scope, open_) for key, row_id, scope, text, open_ in known if texts.get(key, text) == text}
    chosen: dict[str, tuple[Gone, int, str]] = {}
    for gone, by, why in rows:
        if gone in there and by in there and gone not in chosen and by not in chosen:
            (gone_id, scope, current), (by_id, others_scope, others_current) = there[gone], there[by]
            if current and others_current and scope == others_scope and gone != by:
                chosen[gone] = Gone(gone_id, scope), by_id, why
    connection.execute(
        "UPDATE memories m SET superseded_by = b.id, superseded_at = greatest(m.created_at, b.created_at), "
        "superseded_reason = p.reason FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS p (gone, by, reason) "
        "JOIN memories b ON b.id = p.by WHERE m.id = p.gone",
        tuple(list(column) for column in zip(*((gone.id, by, why) for gone, by, why in chosen.values()), strict=True))
        or ([], [], []),
    )
    return {name: gone for name, (gone, _, _) in chosen.items()}


@dataclass(frozen=True, slots=True)
class SupersededMemory:
    """A memory that gave way to another, since when and why."""

    memory: str
    by: str | None
    since: datetime
    reason: str


def listed(connection: Connection[Any], scopes: Sequence[str] | None, *, limit: int) -> list[SupersededMemory]:
    """Memories that gave way, of all scopes or of some; the last one first, never a sensitive one.

    Of some scopes alone, one that gave way to another scope's does not say why: the reason may name that one.
    """
    within = "%(scopes)s::text[] IS NULL OR"
    return fetch(
        connection,
        SupersededMemory,
        "SELECT m.external_id AS memory, b.external_id AS by, m.superseded_at AS since, "
        f"coalesce(CASE WHEN {within} b.id IS NOT NULL OR m.superseded_by IS NULL THEN m.superseded_reason END, '') "
        "AS reason FROM memories m LEFT JOIN memories b ON b.id = m.superseded_by AND NOT b.is_sensitive "
        f"AND ({within} b.scope = ANY(%(scopes)s)) "
        f"WHERE m.superseded_at IS NOT NULL AND NOT m.is_sensitive AND ({within} m.scope = ANY(%(scopes)s)) "
        "ORDER BY m.superseded_at DESC, m.id LIMIT %(limit)s",
        {"scopes": None if scopes is None else list(scopes), "limit": limit},
    )


def by_memory(connection: Connection[Any], memory_id: int) -> list[str]:
    """The external ids of the memories whose place a memory took."""
    rows = connection.execute("SELECT external_id FROM memories WHERE superseded_by = %s ORDER BY id", (memory_id,))
    return [row[0] for row in rows]


def record_superseded(connection: Connection[Any], rows: Sequence[tuple[str, str, datetime | None]]) -> None:
    """Mark memories as superseded by others since a time, as a file says; both must be there."""
    if not rows:
        return
    done = connection.execute(
        "UPDATE memories m SET superseded_by = b.id, "
        "superseded_at = coalesce(p.since, greatest(m.created_at, b.created_at)) "
        "FROM unnest(%s::text[], %s::text[], %s::timestamptz[]) AS p (gone, by, since) "
        "JOIN memories b ON b.external_id = p.by WHERE m.external_id = p.gone "
        "RETURNING m.external_id",
        ([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]),
    )
    marked = {row[0] for row in done}
    for gone, by, _ in rows:
        if gone not in marked:
            raise HopgateError(f"memory {gone[:80]!r} is superseded by {by[:80]!r}, which is not there: give both")


def take_back(connection: Connection[Any], ids: Sequence[int]) -> list[Gone]:
    """Take the tombstones of memories away; give those that had one."""
    done = connection.execute(
        "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, superseded_reason = NULL "
        "WHERE id = ANY(%s) AND superseded_at IS NOT NULL RETURNING id, scope",
        (list(ids),),
    )
    return [Gone(*row) for row in done]


def reason_superseded(connection: Connection[Any], memory_id: int) -> str:
    """Why a memory gave way, in the words of whoever decided; nothing where nobody said."""
    row = connection.execute("SELECT superseded_reason FROM memories WHERE id = %s", (memory_id,)).fetchone()
    return str(row[0]) if row and row[0] else ""


def bring_back(connection: Connection[Any], ids: Sequence[int]) -> list[Gone]:
    """Let what gave way to these memories come back, and remove what was written about why; give what came back.

    A model may have quoted any memory of a scope that it was shown: of its reasons none in these scopes stays. The
    rules' own sentences quote nothing.
    """
    given = {"ids": list(ids), "plain": list(REASONS)}
    scopes = "SELECT g.scope FROM memories g WHERE g.id = ANY(%(ids)s)"
    meant = (
        "superseded_by = ANY(%(ids)s) OR superseded_reason IS NOT NULL AND (id = ANY(%(ids)s) "
        f"OR superseded_reason <> ALL(%(plain)s) AND EXISTS ({scopes} AND g.scope IS NOT DISTINCT FROM m.scope))"
    )
    rows = connection.execute(
        f"SELECT id FROM memories m WHERE {meant} ORDER BY id FOR NO KEY UPDATE", given
    ).fetchall()
    if not rows:
        return []
    given["these"] = [row[0] for row in rows]
    connection.execute("UPDATE memories SET superseded_reason = NULL WHERE id = ANY(%(these)s)", given)
    back = connection.execute(
        "UPDATE memories SET superseded_by = NULL, superseded_at = NULL "
        "WHERE id = ANY(%(these)s) AND superseded_by = ANY(%(ids)s) RETURNING id, scope",
        given,
    )
    return [Gone(*row) for row in back]
