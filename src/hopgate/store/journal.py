"""What people changed by hand, to be looked at and taken back; and memories that gave way to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection

MERGE, KEEP_APART, SUPERSEDE, MARK, DELETE = "merge", "keep apart", "supersede", "mark sensitive", "delete"


@dataclass(frozen=True, slots=True)
class MendRow:
    """A row of the log, by ids."""

    id: int
    action: str
    merge_id: int | None
    name_id: int | None
    near_id: int | None
    score: float | None
    memory_ids: tuple[int, ...]
    undone: bool


@dataclass(frozen=True, slots=True)
class MendEntry:
    """A row of the log to look at: the two names it is about, or the memories, as far as they are still there."""

    id: int
    done_at: datetime
    action: str
    one: str | None
    other: str | None
    memory_ids: tuple[str, ...]
    memories: int
    undone_at: datetime | None

    @property
    def undoable(self) -> bool:
        """Whether it can be taken back; a deletion cannot."""
        return self.undone_at is None and self.action != DELETE


def record(
    connection: Connection[Any],
    action: str,
    *,
    merge_id: int | None = None,
    name_id: int | None = None,
    near_id: int | None = None,
    score: float | None = None,
    memory_ids: Sequence[int] = (),
    memories: int = 0,
) -> int:
    """Note what is done in this transaction; give the row's id."""
    row = connection.execute(
        "INSERT INTO mend_log (action, merge_id, name_id, near_id, score, memory_ids, memories) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING id",
        (action, merge_id, name_id, near_id, score, list(memory_ids), memories or len(memory_ids)),
    ).fetchone()
    assert row is not None
    return int(row[0])


def listed(connection: Connection[Any], *, limit: int, only: int | None = None) -> list[MendEntry]:
    """The log, the last entry first; a merge that was split elsewhere counts as undone."""
    rows = connection.execute(
        # Of a merge: what the concept that stayed was called without the names that came to it.
        "SELECT l.id, l.done_at, l.action, coalesce(o.name, (SELECT k.name FROM concept_names k WHERE "
        "k.concept_id = m.kept_id AND k.id <> ALL(m.name_ids) ORDER BY k.uses DESC, k.id LIMIT 1)), "
        "coalesce(m.merged_name, n.name), "
        "ARRAY(SELECT x.external_id FROM memories x WHERE x.id = ANY(l.memory_ids) "
        "ORDER BY x.id), "
        "l.memories, coalesce(l.undone_at, m.split_at) FROM mend_log l LEFT JOIN concept_merges m ON m.id = l.merge_id "
        "LEFT JOIN concept_names n ON n.id = l.name_id "
        "LEFT JOIN concept_names o ON o.id = l.near_id WHERE %(only)s::bigint IS NULL OR l.id = %(only)s "
        "ORDER BY l.id DESC LIMIT %(limit)s",
        {"limit": limit, "only": only},
    )
    return [MendEntry(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7]) for row in rows]


def taken(connection: Connection[Any], entry_id: int) -> MendRow:
    """Take an entry to undo it; nobody else undoes it meanwhile. An unknown one is refused."""
    row = connection.execute(
        "SELECT id, action, merge_id, name_id, near_id, score, memory_ids, undone_at IS NOT NULL FROM mend_log "
        "WHERE id = %s FOR UPDATE",
        (entry_id,),
    ).fetchone()
    if row is None:
        raise HopgateError(f"the log has no entry {entry_id}")
    return MendRow(row[0], row[1], row[2], row[3], row[4], row[5], tuple(row[6]), row[7])


def outdated(connection: Connection[Any], action: str, memory_ids: Sequence[int]) -> None:
    """Count entries about these memories as undone: what they did was taken back, and what is done next is newer."""
    connection.execute(
        "UPDATE mend_log SET undone_at = now() WHERE action = %s AND undone_at IS NULL AND memory_ids && %s::bigint[]",
        (action, list(memory_ids)),
    )


def undone(connection: Connection[Any], entry_id: int) -> None:
    """Note that an entry was taken back."""
    connection.execute("UPDATE mend_log SET undone_at = now() WHERE id = %s", (entry_id,))


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
) -> set[str]:
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
    chosen: dict[str, tuple[int, int, str]] = {}
    for gone, by, why in rows:
        if gone in there and by in there and gone not in chosen and by not in chosen:
            (gone_id, scope, current), (by_id, others_scope, others_current) = there[gone], there[by]
            if current and others_current and scope == others_scope and gone != by:
                chosen[gone] = gone_id, by_id, why
    gone_ids, by_ids, reasons = (list(column) for column in zip(*chosen.values(), strict=True)) if chosen else ([],) * 3
    connection.execute(
        "UPDATE memories m SET superseded_by = b.id, superseded_at = greatest(m.created_at, b.created_at), "
        "superseded_reason = p.reason FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS p (gone, by, reason) "
        "JOIN memories b ON b.id = p.by WHERE m.id = p.gone",
        (gone_ids, by_ids, reasons),
    )
    return set(chosen)


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


def take_back(connection: Connection[Any], ids: Sequence[int]) -> int:
    """Take the tombstones of memories away."""
    done = connection.execute(
        "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, superseded_reason = NULL "
        "WHERE id = ANY(%s) AND superseded_at IS NOT NULL",
        (list(ids),),
    )
    return done.rowcount


def reason_superseded(connection: Connection[Any], memory_id: int) -> str:
    """Why a memory gave way, in the words of whoever decided; nothing where nobody said."""
    row = connection.execute("SELECT superseded_reason FROM memories WHERE id = %s", (memory_id,)).fetchone()
    return str(row[0]) if row and row[0] else ""


def bring_back(connection: Connection[Any], ids: Sequence[int]) -> list[int]:
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
        "WHERE id = ANY(%(these)s) AND superseded_by = ANY(%(ids)s) RETURNING id",
        given,
    )
    return [row[0] for row in back]
