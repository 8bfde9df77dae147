"""Memories in and out of the table, by COPY and by external id."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from psycopg.errors import SerializationFailure, UniqueViolation

from hopgate.errors import UnknownMemoryError
from hopgate.memory import Memory, check_several
from hopgate.store import memory_merge, setting_rows, store_language
from hopgate.store.memory_merge import INCOMING
from hopgate.store.memory_scopes import in_scopes, require_within

if TYPE_CHECKING:
    from psycopg import Connection

# An owner's row without an external id is known by its own id, and one whose sensitivity is NULL counts as sensitive.
KEY = "coalesce(external_id, id::text)"
NAMED = "(external_id = ANY(%(names)s) OR external_id IS NULL AND id = ANY(%(numbers)s::bigint[]))"
# Cast by way of text, so that an owner's column of type real gives 0.3 and not 0.30000001192.
_ROW = (
    f"{KEY}, coalesce(content, ''), category, {{tags}}, {{expanded_keywords}}, "
    "least(greatest(coalesce(importance::text::float8, 0.5), 0), 1), "
    "coalesce(is_sensitive, true), scope, created_at, title_length, thread::text, reply_to::text, source, "
    "search_language, "
    "(SELECT coalesce(b.external_id, b.id::text) FROM memories b WHERE b.id = memories.superseded_by), superseded_at"
)
# How the store's own ids are written, up to the digits that a bigint always holds.
_NUMBER = "0|-?[1-9][0-9]{0,17}"

CHUNK = 5000
# From so many memories on the planner may sample their words: it keeps those of some ten memories and more, and needs
# them, since without a query within a scope takes up to four times as long. In a smaller store it would keep any word.
SAMPLED_FROM = 20_000
# So often a chunk is looked at again because others added some of its ids since.
ATTEMPTS = 3
_kinds: WeakKeyDictionary[Connection[Any], dict[str, str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Written:
    """What an upsert did: how many rows came in, and which memories must lose what was made of their old text."""

    rows: int
    added: int
    changed: tuple[int, ...]
    now_sensitive: tuple[int, ...]
    replaced: tuple[str, ...] = ()  # contents that are no memory's any more
    kept_sensitive: int = 0  # came as open, and stay sensitive as they were marked
    followers: tuple[int, ...] = ()  # were read with one that moved


def upsert(connection: Connection[Any], memories: Iterable[Memory], within: Sequence[str] | None = None) -> Written:
    """Add memories, or bring those with a known external id up to date; all or nothing, being one transaction.

    Chunks without a known id, which is what most loads are made of, go by COPY straight into the table while the next
    chunk is being read; the others take a detour through a temporary table. A known id of a scope that is not `within`
    the given ones is refused.
    """
    written = Written(0, 0, (), ())
    for chunk in _chunks(memories):
        store_language.require(connection, {memory.language for memory in chunk if memory.language})
        part = _copy(connection, chunk) or _merge(connection, chunk, within)
        written = Written(
            written.rows + part.rows,
            written.added + part.added,
            written.changed + part.changed,
            written.now_sensitive + part.now_sensitive,
            written.replaced + part.replaced,
            written.kept_sensitive + part.kept_sensitive,
            written.followers + part.followers,
        )
    return written


def _chunks(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Cut the input into chunks, reading one ahead: parsing then costs no time while the server is at work."""
    stream = iter(memories)
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(lambda: list(itertools.islice(stream, CHUNK)))
        while chunk := ahead.result():
            ahead = reader.submit(lambda: list(itertools.islice(stream, CHUNK)))
            yield chunk


def _copy(connection: Connection[Any], chunk: Sequence[Memory]) -> Written | None:
    """Add a chunk by COPY, or do nothing when one of its ids is known (or becomes so meanwhile)."""
    kinds = array_columns(connection)
    if set(kinds.values()) != {"text[]"} or ids_of(connection, [memory.external_id for memory in chunk]):
        return None
    now = datetime.now(UTC)
    try:
        with (
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(f"COPY memories ({INCOMING}) FROM STDIN") as copy,
        ):
            for memory in chunk:
                copy.write_row(row_values(memory, now))
    except UniqueViolation:
        return None
    return Written(len(chunk), len(chunk), (), ())


def _merge(connection: Connection[Any], chunk: Sequence[Memory], within: Sequence[str] | None) -> Written:
    """Add or update a chunk, and say which memories changed.

    Again where another process added some of it meanwhile, or gave some another scope and so moved it to another part.
    """
    for _ in range(ATTEMPTS):
        with contextlib.suppress(UniqueViolation, SerializationFailure), connection.transaction():
            return _merged(connection, chunk, within)
    return _merged(connection, chunk, within)


def _merged(connection: Connection[Any], chunk: Sequence[Memory], within: Sequence[str] | None) -> Written:
    if within is not None:
        require_within(connection, NAMED, named([memory.external_id for memory in chunk]), within)
    kinds = array_columns(connection)
    connection.execute(
        "CREATE TEMP TABLE incoming (external_id text, content text, category text, tags text[], "
        "expanded_keywords text[], importance float8, is_sensitive boolean, scope text, created_at timestamptz, "
        "title_length integer, thread text, reply_to text, dated boolean, source json, search_language text) "
        "ON COMMIT DROP"
    )
    with connection.cursor() as cursor, cursor.copy(f"COPY incoming ({INCOMING}) FROM STDIN") as copy:
        for memory in chunk:
            copy.write_row(row_values(memory))
    known, followers = memory_merge.merge(connection, kinds, _NUMBER)
    connection.execute("DROP TABLE incoming")
    return Written(
        len(chunk),
        len(chunk) - len(known),
        tuple(key for key, changed, *_ in known if changed),
        tuple(key for key, _, sensitive, *_ in known if sensitive),
        tuple(content for _, _, _, content, _ in known if content is not None),
        sum(kept for *_, kept in known),
        tuple(followers),
    )


def tidy(connection: Connection[Any]) -> None:
    """After a bulk load: statistics for the planner; pending entries of the index and changes of counts are merged."""
    # The memories before the counts, as whoever writes or counts them: see docs/reliability.md, the order of locks.
    connection.execute("LOCK TABLE memories IN SHARE UPDATE EXCLUSIVE MODE")
    connection.execute("SELECT hopgate_fold_words()")
    connection.execute("SELECT gin_clean_pending_list('memories_search_vector')")
    row = connection.execute("SELECT coalesce(sum(memories), 0) >= %s FROM word_totals", (SAMPLED_FROM,)).fetchone()
    target = 100 if row and row[0] else 0
    connection.execute(f"ALTER TABLE memories ALTER search_vector SET STATISTICS {target}")
    connection.execute("ANALYZE memories, word_counts, word_changes, word_totals")


def fetch(connection: Connection[Any], external_ids: Sequence[str]) -> dict[str, Memory]:
    """Read memories by external id; unknown ids are left out."""
    found = connection.execute(f"SELECT {_columns(connection)} FROM memories WHERE {NAMED}", named(external_ids))
    return {memory.external_id: memory for memory in map(_memory, found)}


def fetch_by_id(
    connection: Connection[Any], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, Memory]:
    """Read memories by the store's own id.

    Parameters
    ----------
    scopes : sequence of str, optional
        Only those of these scopes.
    """
    rows = connection.execute(
        f"SELECT {_columns(connection)}, id FROM memories WHERE id = ANY(%(ids)s){in_scopes(scopes)}",
        {"ids": list(ids), "scopes": scopes},
    )
    return {row[-1]: _memory(row) for row in rows}


def fetch_with_rules(
    connection: Connection[Any], ids: Sequence[int]
) -> tuple[dict[int, Memory], dict[str, Any] | None]:
    """Read memories by the store's own id, and in the same look the rules by which memories are sensitive."""
    rows = connection.execute(
        f"SELECT {_columns(connection)}, id, (SELECT value FROM store_settings WHERE name = %(rules)s) "
        "FROM memories WHERE id = ANY(%(ids)s)",
        {"ids": list(ids), "rules": setting_rows.SENSITIVITY},
    ).fetchall()
    return {row[-2]: _memory(row) for row in rows}, rows[0][-1] if rows else None


def stream(connection: Connection[Any], *, batch: int = 2000) -> Iterator[Memory]:
    """Read every memory in the order of arrival, without holding them all."""
    with connection.cursor(name="hopgate_memories") as cursor:
        cursor.itersize = batch
        cursor.execute(f"SELECT {_columns(connection)} FROM memories ORDER BY id")
        for row in cursor:
            yield _memory(row)


def count(connection: Connection[Any]) -> int:
    """How many memories there are."""
    row = connection.execute("SELECT count(*) FROM memories").fetchone()
    assert row is not None
    return int(row[0])


def named(external_ids: Sequence[str]) -> dict[str, Any]:
    """The parameters of `NAMED`.

    Examples
    --------
    >>> named(["m1", "17", "007"])
    {'names': ['m1', '17', '007'], 'numbers': [17]}
    """
    check_several(external_ids, "external_ids")
    return {"names": list(external_ids), "numbers": [int(name) for name in external_ids if re.fullmatch(_NUMBER, name)]}


def ids_of(connection: Connection[Any], external_ids: Sequence[str]) -> list[int]:
    """The store's ids of external ids; unknown ones are left out."""
    rows = connection.execute(f"SELECT id FROM memories WHERE {NAMED} ORDER BY id", named(external_ids))
    return [row[0] for row in rows]


def require(connection: Connection[Any], external_ids: Sequence[str], within: Sequence[str] | None = None) -> list[int]:
    """The store's ids of external ids, locked for change; one that is unknown (in these scopes) is refused by name."""
    rows = connection.execute(
        f"SELECT {KEY}, id FROM memories WHERE {NAMED}{in_scopes(within)} ORDER BY id FOR NO KEY UPDATE",
        named(external_ids) | {"scopes": None if within is None else list(within)},
    )
    known = dict(rows.fetchall())
    missing = [key for key in external_ids if key not in known]
    if missing:
        raise UnknownMemoryError(missing[0])
    return sorted(known.values())


def remove(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Delete memories; their mentions, facts and links go by the foreign keys."""
    connection.execute("DELETE FROM memories WHERE id = ANY(%s)", (list(ids),))


def row_values(memory: Memory, now: datetime | None = None) -> tuple[Any, ...]:
    """A memory's values of the columns `INCOMING`."""
    return (
        memory.external_id,
        memory.content,
        memory.category,
        list(memory.tags),
        list(memory.expanded_keywords),
        memory.importance,
        memory.is_sensitive,
        memory.scope,
        memory.created_at or now,
        len(memory.title),
        memory.thread,
        memory.reply_to,
        memory.created_at is not None,
        None if memory.source is None else json.dumps(memory.source, ensure_ascii=False),
        memory.language,
    )


def _memory(row: Sequence[Any]) -> Memory:
    external_id, content, category, tags, keywords, importance, sensitive, scope, created, title_length = row[:10]
    thread, reply_to, source, language, superseded_by, superseded_at = row[10:16]
    return Memory(
        external_id,
        content[title_length + 1 :] if title_length else content,
        title=content[:title_length],
        tags=tuple(tags or ()),
        category=category,
        expanded_keywords=tuple(keywords or ()),
        importance=importance,
        is_sensitive=sensitive,
        scope=scope,
        created_at=created,
        thread=thread,
        reply_to=reply_to,
        source=source,
        language=language,
        superseded_by=superseded_by,
        superseded_at=superseded_at,
    )


def array_columns(connection: Connection[Any]) -> dict[str, str]:
    """The types of `tags` and `expanded_keywords`: arrays in our own table, maybe text in an owner's."""
    if known := _kinds.get(connection):
        return known
    rows = connection.execute(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'memories'::regclass "
        "AND attname IN ('tags', 'expanded_keywords')"
    )
    _kinds[connection] = found = dict(rows.fetchall())
    return found


def _columns(connection: Connection[Any]) -> str:
    kinds = array_columns(connection)
    as_array = {
        name: name if kind == "text[]" else f"CASE WHEN {name} IS NULL THEN '{{}}' ELSE ARRAY[{name}::text] END"
        for name, kind in kinds.items()
    }
    return _ROW.format(**as_array)


def weights(
    connection: Connection[Any], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, tuple[float, datetime]]:
    """Importance and creation time of memories, of these scopes if given: all that the order after fusion needs."""
    rows = connection.execute(
        "SELECT id, least(greatest(coalesce(importance, 0.5), 0), 1), created_at FROM memories "
        f"WHERE id = ANY(%(ids)s){in_scopes(scopes)}",
        {"ids": list(ids), "scopes": scopes},
    )
    return {key: (float(importance), created_at) for key, importance, created_at in rows}


def all_ids(connection: Connection[Any]) -> list[int]:
    """Every memory's id, in the order of arrival."""
    return [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY id")]


def page(connection: Connection[Any], *, after: int, limit: int, closed: bool = True) -> dict[int, Memory]:
    """The next memories after an id, in order; sensitive ones are among them unless `closed` is false."""
    which = "" if closed else "AND NOT is_sensitive "
    rows = connection.execute(
        f"SELECT {_columns(connection)}, id FROM memories WHERE id > %s {which}ORDER BY id LIMIT %s", (after, limit)
    )
    return {row[-1]: _memory(row) for row in rows}


def external_ids(connection: Connection[Any], ids: Iterable[int]) -> dict[int, str]:
    """External ids by the store's own."""
    rows = connection.execute(f"SELECT id, {KEY} FROM memories WHERE id = ANY(%s)", (sorted(ids),))
    return dict(rows.fetchall())
