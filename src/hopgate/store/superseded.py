"""Memories that gave way to others: who is like whom, who takes whose place, and how that is taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from hopgate.errors import HopgateError
from hopgate.store import memories
from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection, as_json, fetch, select, value, values


class Gone(NamedTuple):
    """A memory that gave way, or came back: its id and its scope."""

    id: int
    scope: str | None


def not_superseded(connection: Connection) -> dict[int, datetime]:
    """Memories that are neither superseded nor sensitive, in the order in which they became known, which is given."""
    return dict(connection.execute("SELECT id, created_at FROM current_memories ORDER BY created_at, id").fetchall())


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact of a memory that has not given way, and what the graph makes of it now.

    `edge_id` is the edge that holds of which the memory is evidence; `has_ended` says that it is evidence of such as
    are over alone. `is_over` is what the memory itself says of it.
    """

    memory_id: int
    source_id: int
    relation: str
    target_id: int
    single_valued: bool
    subject: str
    raw: str
    object: str
    valid_from: datetime | None
    is_over: bool
    read_with: int | None
    edge_id: int | None
    has_ended: bool


def stated_facts(connection: Connection) -> list[StatedFact]:
    """The facts of all memories that are neither superseded nor sensitive."""
    return select(connection, StatedFact, "current_facts ORDER BY id")


def same_words(connection: Connection) -> dict[int, list[int]]:
    """For each memory the older ones of its scope and day whose texts have the same words."""
    rows = connection.execute(
        "SELECT array_agg(id ORDER BY created_at, id) FROM current_memories GROUP BY scope, created_at::date, "
        "md5(lower(regexp_replace(content, '[^[:alnum:]]+', ' ', 'g'))) HAVING count(*) > 1"
    )
    return {key: ids[:place] for (ids,) in rows for place, key in enumerate(ids) if place}


class Superseding(NamedTuple):
    """That a memory gives way to another, by their external ids; by default since the later of the two became known."""

    gone: str
    by: str
    reason: str | None = None
    since: datetime | None = None


def supersede(
    connection: Connection, rows: Sequence[Superseding], compared: Mapping[str, str] | None = None
) -> dict[str, Gone]:
    """Mark memories as superseded by others of their scope; give which were.

    One stays as it is that gave way already, or whose other did: two that gave way to each other would both be gone.
    Where a text is not the `compared` one any more, nothing was decided.
    """
    # All at once, in the order of ids: a reason may quote both, and whoever marks one of them waits, or has marked it.
    locked = memories.locked(connection, sorted({name for row in rows for name in (row.gone, row.by)})).values()
    open_memories = {memory.external_id: memory for memory in locked if not memory.is_sensitive}
    texts = {name: memory.content for name, memory in open_memories.items()} | dict(compared or {})
    current = {
        name: memory.scope
        for name, memory in open_memories.items()
        if memory.superseded_at is None and memory.content == texts[name]
    }
    chosen: dict[str, Superseding] = {}
    for row in rows:
        both = {row.gone, row.by}
        if len(both) > 1 and both <= current.keys() - chosen.keys() and current[row.gone] == current[row.by]:
            chosen[row.gone] = row
    return _mark(connection, list(chosen.values()))


def record_superseded(connection: Connection, rows: Sequence[Superseding]) -> None:
    """Mark memories as superseded by others, as a file says; both must be there."""
    marked = _mark(connection, rows)
    for gone, by, *_ in rows:
        if gone not in marked:
            raise HopgateError(f"memory {gone[:80]!r} is superseded by {by[:80]!r}, which is not there: give both")


def _mark(connection: Connection, rows: Sequence[Superseding]) -> dict[str, Gone]:
    if not rows:
        return {}
    marked = connection.execute(
        "UPDATE memories m SET superseded_by = b.id, superseded_reason = r.reason, "
        "superseded_at = coalesce(r.since, greatest(m.created_at, b.created_at)) "
        "FROM json_to_recordset(%s) AS r (gone text, by text, reason text, since timestamptz) "
        "JOIN memories b ON b.external_id = r.by WHERE m.external_id = r.gone RETURNING m.external_id, m.id, m.scope",
        (as_json(rows),),
    )
    return {name: Gone(key, scope) for name, key, scope in marked}


@dataclass(frozen=True, slots=True)
class SupersededMemory:
    """A memory that gave way to another, since when and why."""

    memory: str
    by: str | None
    since: datetime
    reason: str


def listed(connection: Connection, scopes: Sequence[str] | None, *, limit: int) -> list[SupersededMemory]:
    """Memories that gave way, of all scopes or of some; the last one first, never a sensitive one.

    Of some scopes alone, one that gave way to another scope's does not say why: the reason may name that one.
    """
    view = View(None if scopes is None else tuple(scopes))
    return fetch(
        connection,
        SupersededMemory,
        "SELECT m.external_id AS memory, b.external_id AS by, m.superseded_at AS since, coalesce(CASE "
        "WHEN %(scopes)s::text[] IS NULL OR b.id IS NOT NULL OR m.superseded_by IS NULL THEN m.superseded_reason END, "
        f"'') AS reason FROM memories m LEFT JOIN memories b ON b.id = m.superseded_by AND {view.memories('b')} "
        f"WHERE m.superseded_at IS NOT NULL AND {view.memories('m')} "
        "ORDER BY m.superseded_at DESC, m.id LIMIT %(limit)s",
        view.parameters(limit=limit),
    )


def take_back(connection: Connection, ids: Sequence[int], column: Literal["id", "superseded_by"] = "id") -> list[Gone]:
    """Take the tombstones of memories away, or of those that gave way to them; give those that had one."""
    return fetch(
        connection,
        Gone,
        "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, superseded_reason = NULL WHERE id IN ("
        f"SELECT id FROM memories WHERE {column} = ANY(%s) AND superseded_at IS NOT NULL "
        "ORDER BY id FOR NO KEY UPDATE) RETURNING id, scope",
        (list(ids),),
    )


def of_memory(connection: Connection, memory_id: int) -> tuple[tuple[str, ...], str]:
    """The memories whose place a memory took, and why it gave way itself in the words of whoever decided, if it did."""
    older = "SELECT external_id FROM memories WHERE superseded_by = %s ORDER BY id"
    reason = value(connection, "SELECT superseded_reason FROM memories WHERE id = %s", (memory_id,))
    return tuple(values(connection, older, (memory_id,))), reason or ""
