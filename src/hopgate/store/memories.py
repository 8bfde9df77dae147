"""Memories in and out of the table, and which of them hold a word or a name.

`ids` are the store's own, which ascend with arrival; `external_ids` are the user's. `scopes` of None are all memories,
those without a scope too; a list of scopes leaves these out. Sensitive memories are given unless it says "open".
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hopgate.errors import HopgateError, TakenError, UnknownMemoryError
from hopgate.memory import Memory, check_several, thread_of
from hopgate.store import rows, setting_rows
from hopgate.store.graph import version
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.sources.source import Rejected

NAMED = "external_id = ANY(%(names)s)"
# The columns that a memory gives to a row that has its id already; whether that is sensitive, and its date, also depend
# on what was there.
_GIVEN = (
    "content", "category", "tags", "expanded_keywords", "importance", "scope", "title_length", "thread", "reply_to",
    "extra", "source", "search_language",
)  # fmt: skip
_INCOMING = ("external_id", *_GIVEN, "is_sensitive", "created_at", "dated")
_ROWS = "json_populate_recordset(NULL::memories, %(rows)s::json) AS i"
# So many memories are written by one statement, or fewer where they are large: a value of PostgreSQL's ends at 1 GiB.
CHUNK, CHUNK_CHARACTERS = 5000, 16 << 20
# From so many memories on the planner may sample their words: it keeps those of some ten memories and more, and needs
# them, since without a query within a scope takes up to four times as long. In a smaller store it would keep any word.
SAMPLED_FROM = 20_000
# A title may have a short addition to the name, in brackets: "(road)", "(1954 film)".
MAX_ADDITION = 60
# A longer first line names nothing.
MAX_TITLE = 1000


@dataclass(frozen=True, slots=True)
class Written:
    """What an upsert did: how many rows came in, and which memories must lose what was made of their old text."""

    rows: int = 0
    added: int = 0
    updated: int = 0  # were known, and are otherwise now
    changed: tuple[int, ...] = ()
    now_sensitive: tuple[int, ...] = ()
    replaced: tuple[str, ...] = ()  # contents that are no memory's any more
    kept_sensitive: int = 0  # came as open, and stay sensitive as they were marked
    sensitive: int = 0  # are sensitive now
    followers: tuple[int, ...] = ()  # perhaps read with one that moved
    pruned: int = 0  # were deleted, being notes that are no more in their folder
    rejected: tuple[Rejected, ...] = ()  # items of the source that are no memories

    def __add__(self, other: Written) -> Written:
        return Written(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Written)))


# ---- Writing ---------------------------------------------------------------------------------------------------------


def upsert(connection: Connection, memories: Iterable[Memory], within: Sequence[str] | None = None) -> Written:
    """Add memories, or bring those with a known external id up to date; all or nothing, being one transaction.

    Each external id stands once among them. A known id of a scope that is not `within` these is refused.
    """
    written = Written()
    for chunk in _chunks(memories):
        setting_rows.require_languages(connection, {memory.language for memory in chunk if memory.language})
        remaining = chunk
        while remaining:
            stored = locked(connection, [memory.external_id for memory in remaining])
            if within is not None and any(memory.scope not in within for memory in stored.values()):
                what = f"the id {remaining[0].external_id[:80]!r}" if len(remaining) == 1 else "one of the ids"
                raise TakenError(f"{what} is taken: choose another")
            incoming = {memory.external_id: memory for memory in remaining}
            written += _update(connection, [(key, old, incoming.pop(old.external_id)) for key, old in stored.items()])
            added = _insert(connection, list(incoming.values()))
            came_sensitive = sum(memory.is_sensitive for name, memory in incoming.items() if name in added)
            written += Written(len(added), len(added), sensitive=came_sensitive)
            # What another process added meanwhile is stored now, and looked at once more.
            remaining = [memory for name, memory in incoming.items() if name not in added]
    return written


def _chunks(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    chunk: list[Memory] = []
    size = 0
    for memory in memories:
        chunk.append(memory)
        size += len(memory.text) + (len(str(memory.source)) if memory.source else 0)
        if len(chunk) == CHUNK or size > CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def locked(connection: Connection, external_ids: Sequence[str]) -> dict[int, Memory]:
    """The memories of external ids by their own ids, ascending, locked for change; unknown ones are left out."""
    return _select(connection, f"WHERE {NAMED} ORDER BY id FOR NO KEY UPDATE", named(external_ids))


def _insert(connection: Connection, new: Sequence[Memory]) -> set[str]:
    """Add memories; give the external ids of those that were added, whose id nobody had."""
    if not new:
        return set()
    values = ", ".join(_INCOMING).replace("created_at", "coalesce(created_at, now())")
    statement = (
        f"INSERT INTO memories ({', '.join(_INCOMING)}) SELECT {values} FROM {_ROWS} "
        "ON CONFLICT (external_id) DO NOTHING RETURNING external_id"
    )
    return set(rows.values(connection, statement, {"rows": _as_json(new)}))


def _update(connection: Connection, pairs: Sequence[tuple[int, Memory, Memory]]) -> Written:
    """Bring memories, given by id as they are stored and as they come, up to date; say what must be read again."""
    differing = [(key, old, new) for key, old, new in pairs if _differs(new, old)]
    moved = [key for key, old, new in differing if thread_of(old) and _moved(new, old)]
    followers = _followers(connection, moved)
    if differing:
        connection.execute(
            f"UPDATE memories m SET {', '.join(f'{name} = i.{name}' for name in _GIVEN)}, "
            # Sensitivity stays: a file that is read again does not know that somebody marked its memory since.
            "is_sensitive = m.is_sensitive OR i.is_sensitive, created_at = coalesce(i.created_at, m.created_at), "
            f"dated = i.dated OR m.dated FROM {_ROWS} WHERE m.external_id = i.external_id",
            {"rows": _as_json([new for _, _, new in differing])},
        )
    return Written(
        rows=len(pairs),
        updated=len(differing),
        changed=tuple(key for key, old, new in differing if _reads_otherwise(new, old)),
        now_sensitive=tuple(key for key, old, new in differing if new.is_sensitive and not old.is_sensitive),
        replaced=tuple(old.content for _, old, new in differing if new.content != old.content and not old.is_sensitive),
        kept_sensitive=sum(old.is_sensitive and not new.is_sensitive for _, old, new in pairs),
        sensitive=sum(old.is_sensitive or new.is_sensitive for _, old, new in pairs),
        followers=followers,
    )


def _as_json(memories: Iterable[Memory]) -> str:
    """Memories as `_ROWS` reads them."""
    rows_of_memories = (
        {name: getattr(memory, name, None) for name in _INCOMING}
        | {
            "title_length": len(memory.title),
            "search_language": memory.language,
            "created_at": memory.created_at and memory.created_at.isoformat(),
            "dated": memory.created_at is not None,
        }
        for memory in memories
    )
    return json.dumps(list(rows_of_memories), ensure_ascii=False)


def _differs(new: Memory, old: Memory) -> bool:
    """Whether writing a memory over a stored one changes it: dates of arrival and marks stay."""
    written = replace(
        new,
        is_sensitive=new.is_sensitive or old.is_sensitive,
        created_at=new.created_at or old.created_at,
        superseded_by=new.superseded_by or old.superseded_by,
        superseded_at=new.superseded_at or old.superseded_at,
    )
    return new.source != old.source or written != old


def _moved(new: Memory, old: Memory) -> bool:
    """Whether a memory comes to another place: who "she" is and who "I" am, and since when a fact holds, follow."""
    place = new.scope, thread_of(new), new.created_at or old.created_at
    return place != (old.scope, thread_of(old), old.created_at)


def _reads_otherwise(new: Memory, old: Memory) -> bool:
    """Whether what was made of a memory's text holds no more."""
    texts_differ = (new.content, new.tags, new.expanded_keywords) != (old.content, old.tags, old.expanded_keywords)
    return texts_differ or _moved(new, old)


def _followers(connection: Connection, moved: list[int]) -> tuple[int, ...]:
    """The turns that were perhaps read with memories that are about to move, ascending; takes the graph's lock.

    What they took over from these must go. None of the memories that move is among them.
    """
    if not moved:
        return ()
    version.lock(connection)
    turns = {*read_with(connection, moved), *turns_after(connection, moved)}
    return tuple(sorted(turns - {*moved}))


def remove(connection: Connection, ids: Sequence[int]) -> None:
    """Delete memories; their mentions, facts and links go by the foreign keys."""
    connection.execute("DELETE FROM memories WHERE id = ANY(%s)", (list(ids),))


def lock(connection: Connection, ids: Sequence[int]) -> None:
    """Lock memories for change, in the one order in which everybody locks them."""
    connection.execute("SELECT FROM memories WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (list(ids),))


def take_turns(connection: Connection, *, alone: bool) -> None:
    """Let a load of many memories go alone, and smaller ones side by side: new ids have no order to lock them in."""
    shared = "" if alone else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}(hashtext('hopgate load'))")


def tidy(connection: Connection) -> None:
    """After a bulk load: statistics for the planner; pending entries of the index and changes of counts are merged."""
    # The memories before the counts, as whoever writes or counts them: see docs/reliability.md, the order of locks.
    connection.execute("LOCK TABLE memories IN SHARE UPDATE EXCLUSIVE MODE")
    connection.execute("SELECT hopgate_fold_words()")
    connection.execute("SELECT gin_clean_pending_list('memories_search_vector')")
    target = 100 if count_from_words(connection) >= SAMPLED_FROM else 0
    connection.execute(f"ALTER TABLE memories ALTER search_vector SET STATISTICS {target}")
    connection.execute("ANALYZE memories, word_counts, word_changes, word_totals")


# ---- Reading ---------------------------------------------------------------------------------------------------------


def fetch(connection: Connection, external_ids: Sequence[str]) -> dict[str, Memory]:
    """Memories by external id, in no order; unknown ids are left out."""
    return {
        memory.external_id: memory for memory in _select(connection, f"WHERE {NAMED}", named(external_ids)).values()
    }


def fetch_by_id(connection: Connection, ids: Sequence[int], scopes: Sequence[str] | None = None) -> dict[int, Memory]:
    """Memories by id, ascending; unknown ids, and memories of other scopes, are left out."""
    condition = f"WHERE id = ANY(%(ids)s){in_scopes(scopes)} ORDER BY id"
    return _select(connection, condition, {"ids": list(ids), "scopes": scopes})


def _select(connection: Connection, condition: str, parameters: Mapping[str, Any]) -> dict[int, Memory]:
    """Memories by id, in the order that the condition says."""

    def keyed(id: int, **values: Any) -> tuple[int, Memory]:
        return id, Memory(**values)

    statement = f"SELECT id, {rows.columns(Memory)} FROM memory_fields {condition}"
    return dict(rows.fetch(connection, keyed, statement, parameters))


def stream(connection: Connection) -> Iterator[Memory]:
    """Every memory by ascending id, without holding them all; to be read within one transaction."""
    with connection.cursor(name="hopgate_memories", row_factory=rows.row_factory(Memory)) as cursor:
        cursor.itersize = 2000
        yield from cursor.execute(f"SELECT {rows.columns(Memory)} FROM memory_fields ORDER BY id")


def listed(
    connection: Connection, condition: str, parameters: Mapping[str, Any], *, after: str | None = None, limit: int
) -> list[Memory]:
    """The next memories under a condition, by ascending id, after that of an external id; an unknown one is refused."""
    begin = ids_of(connection, [after]) if after is not None else [0]
    if not begin:
        raise HopgateError(f"there is no memory {(after or '')[:80]!r} to go on after: begin again without it")
    some = f"SELECT id FROM memories WHERE id > %(begin)s AND {condition} ORDER BY id LIMIT %(limit)s"
    source = f"memory_fields WHERE id IN ({some}) ORDER BY id"
    return rows.select(connection, Memory, source, {**parameters, "begin": begin[0], "limit": limit})


def scopes(connection: Connection, condition: str, parameters: Mapping[str, Any]) -> list[str]:
    """The scopes of memories under a condition, in order."""
    asked = f"SELECT DISTINCT scope FROM memories WHERE scope IS NOT NULL AND {condition} ORDER BY 1"
    return rows.values(connection, asked, parameters)


def written_between(
    connection: Connection,
    since: datetime,
    until: datetime,
    *,
    scopes: Sequence[str] | None,
    sensitive: bool,
    limit: int,
) -> list[Memory]:
    """Memories created after one time and up to another, the newest first, of one time the last to arrive first."""
    return rows.select(
        connection,
        Memory,
        f"memory_fields WHERE created_at > %(since)s AND created_at <= %(until)s{in_scopes(scopes)} "
        "AND (%(sensitive)s OR NOT is_sensitive) ORDER BY created_at DESC, id DESC LIMIT %(limit)s",
        {"since": since, "until": until, "scopes": list(scopes or ()), "sensitive": sensitive, "limit": limit},
    )


def weights(
    connection: Connection, ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, tuple[float, datetime]]:
    """Importance in 0..1 and creation time by id, in no order: all that the order after fusion needs."""
    weighted = connection.execute(
        f"SELECT id, importance, created_at FROM memory_fields WHERE id = ANY(%(ids)s){in_scopes(scopes)}",
        {"ids": list(ids), "scopes": scopes},
    )
    return {key: (float(importance), created_at) for key, importance, created_at in weighted}


# ---- Ids and scopes --------------------------------------------------------------------------------------------------


def named(external_ids: Sequence[str]) -> dict[str, Any]:
    """The parameters of `NAMED`."""
    check_several(external_ids, "external_ids")
    return {"names": list(external_ids)}


def ids_of(connection: Connection, external_ids: Sequence[str]) -> list[int]:
    """The ids of external ids, ascending and not as they are given; unknown ones are left out."""
    return rows.values(connection, f"SELECT id FROM memories WHERE {NAMED} ORDER BY id", named(external_ids))


def external_ids(connection: Connection, ids: Iterable[int] | None = None) -> dict[int, str]:
    """External ids by id, ascending, of some memories or of all."""
    which = "" if ids is None else "WHERE id = ANY(%(ids)s) "
    statement = f"SELECT id, external_id FROM memories {which}ORDER BY id"
    return dict(connection.execute(statement, {"ids": None if ids is None else sorted(ids)}).fetchall())


def require(
    connection: Connection, external_ids: Sequence[str], within: Sequence[str] | None = None
) -> dict[int, Memory]:
    """Memories of external ids by id, ascending and locked; the first that is unknown (in these scopes) is refused."""
    stored = locked(connection, external_ids)
    allowed = {memory.external_id for memory in stored.values() if within is None or memory.scope in within}
    if missing := [name for name in external_ids if name not in allowed]:
        raise UnknownMemoryError(missing[0])
    return stored


def open_ids(connection: Connection, *, limit: int | None = None, after: int = 0, hold: bool = False) -> list[int]:
    """The ids of open memories, ascending, at most `limit` of those after an id.

    With `hold` nobody deletes one of them until the transaction ends.
    """
    statement = "SELECT id FROM memories WHERE id > %s AND NOT is_sensitive ORDER BY id LIMIT %s"
    return rows.values(connection, statement + " FOR KEY SHARE" * hold, (after, limit))


def in_scopes(scopes: Sequence[str] | None) -> str:
    """The condition, with its AND, that a memory is of `%(scopes)s`; empty for None."""
    return "" if scopes is None else " AND scope = ANY(%(scopes)s)"


def unknown_scopes(connection: Connection, scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has, by name."""
    return rows.values(
        connection,
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )


# ---- What waits ------------------------------------------------------------------------------------------------------

Waiting: TypeAlias = Literal["waiting_vectors", "waiting_links"]
"""A list of memories: those that need a vector, or that no extractor dealt with."""


def waiting(table: Waiting) -> str:
    """The memories `m` of a list, as a FROM clause: each looked up by its key.

    The planner does not know how short the list is: for a join it would read all memories. `OFFSET 0` keeps it from
    making one of this.
    """
    return f"{table} CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = memory_id OFFSET 0) AS m"


def waiting_names(connection: Connection, table: Waiting, among: Sequence[str] | None = None) -> list[str]:
    """The external ids of open memories that wait, of all or among some external ids, by ascending id."""
    # The list is not gone through for memories that are named.
    source = waiting(table) if among is None else f"memories m JOIN {table} ON memory_id = m.id"
    these = "" if among is None else f" AND {NAMED}"
    statement = f"SELECT external_id FROM {source} WHERE NOT is_sensitive{these} ORDER BY id"
    return rows.values(connection, statement, named(among or ()))


# ---- Threads ---------------------------------------------------------------------------------------------------------

Turn: TypeAlias = tuple[str | None, str, str]
"""A scope, a thread in it, and a text that was written there."""


def turns_before(connection: Connection, memory_id: int, *, limit: int) -> list[Memory]:
    """The last open memories before one in its thread, the earliest first: what an extractor is shown beside it."""
    return rows.select(
        connection,
        Memory,
        "memory_fields WHERE id IN (SELECT t.id FROM turns this JOIN turns t ON t.thread = this.thread "
        "AND t.scope IS NOT DISTINCT FROM this.scope AND (t.created_at, t.id) < (this.created_at, this.id) "
        "WHERE this.id = %(id)s AND NOT t.is_sensitive ORDER BY t.created_at DESC, t.id DESC LIMIT %(limit)s) "
        "ORDER BY created_at, id",
        {"id": memory_id, "limit": limit},
    )


def closed_turns(connection: Connection, turns: Collection[Turn]) -> set[Turn]:
    """Those of the turns whose text is no open memory's of their thread any more."""
    if not turns:
        return set()
    statement = (
        "SELECT t.scope, t.thread, t.content FROM unnest(%s::text[], %s::text[], %s::text[]) "
        "AS t (scope, thread, content) WHERE NOT EXISTS (SELECT FROM turns m WHERE m.thread = t.thread "
        "AND m.scope IS NOT DISTINCT FROM t.scope AND NOT m.is_sensitive AND m.content = t.content)"
    )
    return set(connection.execute(statement, rows.columns_of(list(turns), 3)).fetchall())


def read_with(connection: Connection, ids: Sequence[int]) -> list[int]:
    """All later turns, by ascending id, that mention a name of one of these without holding it: "she" was told."""
    return rows.values(connection, "SELECT hopgate_read_with(%s) ORDER BY 1", (list(ids),))


def turns_after(connection: Connection, ids: Sequence[int]) -> list[int]:
    """The ids of the next turns after each of these, ascending, of which each was perhaps read with it.

    No mirror of `turns_before`: sensitive turns are among them, more than are read, and one may itself be of `ids`.
    """
    return rows.values(connection, "SELECT hopgate_turns_after(%s) ORDER BY 1", (list(ids),))


# ---- Counts ----------------------------------------------------------------------------------------------------------


def count(connection: Connection) -> int:
    """How many memories there are."""
    return int(rows.value(connection, "SELECT count(*) FROM memories"))


def tally(connection: Connection) -> dict[str, int]:
    """How many memories there are, and how many of them are sensitive or superseded."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE is_sensitive), "
        "count(*) FILTER (WHERE superseded_at IS NOT NULL) FROM memories"
    ).fetchone()
    assert row is not None
    return dict(zip(("memories", "sensitive", "superseded"), row, strict=True))


def count_from_words(connection: Connection, scopes: Sequence[str] | None = None) -> int:
    """How many memories there are, or some scopes have, from the counts of their words: no memory is gone through."""
    statement = f"SELECT coalesce(sum(memories), 0) FROM word_totals WHERE true{in_scopes(scopes)}"
    return int(rows.value(connection, statement, {"scopes": None if scopes is None else list(scopes)}))


# ---- Words and titles ------------------------------------------------------------------------------------------------


def holding(
    connection: Connection,
    names: Sequence[tuple[str | None, str]],
    *,
    limit: int,
    titles: bool = False,
    common: bool = False,
) -> list[tuple[int, int]]:
    """Open memories that hold one of some words, as (id, the word's place from 1), in no order, at most `limit` a word.

    Each is in lower case, after the scope whose memories are looked for: "" for those without one, None for all. With
    `titles` they are names, and the memories those whose first line may be one of them. A word that more than `limit`
    memories hold is left out, unless words may be `common`: then any `limit` of these are given.
    """
    place = "m.content ~ ('(^|[^[:alnum:]_-])' || t.name || '($|[^[:alnum:]_-])')"
    if titles:
        place = f"length(split_part(m.content, E'\\n', 1)) < length(t.name) + {MAX_ADDITION}"
    return connection.execute(
        "SELECT id, number FROM (SELECT h.id, t.number, count(*) OVER (PARTITION BY t.number) AS holders "
        "FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS t (scope, name, number) "
        "CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.search_vector @@ phraseto_tsquery(hopgate_language()::regconfig, t.name) "
        f"AND (t.scope IS NULL OR coalesce(m.scope, '') = t.scope) AND NOT m.is_sensitive AND {place} LIMIT %s) AS h"
        ") AS pairs WHERE holders <= %s",
        (*rows.columns_of(names, 2), limit if common else limit + 1, limit),
    ).fetchall()
