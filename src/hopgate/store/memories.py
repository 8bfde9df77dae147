"""Memories in and out of the table, by COPY and by external id."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.errors import SerializationFailure, UniqueViolation
from psycopg.rows import class_row

from hopgate.errors import HopgateError, TakenError, UnknownMemoryError
from hopgate.memory import Memory, check_several
from hopgate.store import setting_rows

if TYPE_CHECKING:
    from psycopg import Connection


NAMED = "external_id = ANY(%(names)s)"
# The columns that a memory comes in with.
INCOMING = (
    "external_id, content, category, tags, expanded_keywords, importance, is_sensitive, scope, created_at, "
    "title_length, thread, reply_to, dated, source, search_language"
)
_COLUMNS = (
    "id, external_id, content, category, tags, expanded_keywords, importance, is_sensitive, scope, created_at, "
    "title_length, thread, reply_to, source, search_language, superseded_at, "
    "(SELECT b.external_id FROM memories b WHERE b.id = memories.superseded_by) AS superseded_by"
)
# So many turns after a memory may have been read with it: some of them were perhaps sensitive then, or are now.
FOLLOWERS = 8

CHUNK = 5000
# From so many memories on the planner may sample their words: it keeps those of some ten memories and more, and needs
# them, since without a query within a scope takes up to four times as long. In a smaller store it would keep any word.
SAMPLED_FROM = 20_000
# So often a chunk is looked at again because others added some of its ids since.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A row of the table."""

    id: int
    external_id: str
    content: str
    category: str | None
    tags: list[str]
    expanded_keywords: list[str]
    importance: float
    is_sensitive: bool
    scope: str | None
    created_at: datetime
    title_length: int
    thread: str | None
    reply_to: str | None
    source: dict[str, Any] | None
    search_language: str | None
    superseded_at: datetime | None
    superseded_by: str | None

    @property
    def memory(self) -> Memory:
        """The memory that it is."""
        return Memory(
            self.external_id,
            self.content[self.title_length + 1 :] if self.title_length else self.content,
            title=self.content[: self.title_length],
            tags=tuple(self.tags),
            category=self.category,
            expanded_keywords=tuple(self.expanded_keywords),
            importance=min(max(self.importance, 0), 1),
            is_sensitive=self.is_sensitive,
            scope=self.scope,
            created_at=self.created_at,
            thread=self.thread,
            reply_to=self.reply_to,
            source=self.source,
            language=self.search_language,
            superseded_by=self.superseded_by,
            superseded_at=self.superseded_at,
        )


@dataclass(frozen=True, slots=True)
class _RowWithRules(MemoryRow):
    """A row, and the store's rules by which memories are sensitive."""

    rules: dict[str, Any] | None


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
        setting_rows.require_languages(connection, {memory.language for memory in chunk if memory.language})
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
    if ids_of(connection, [memory.external_id for memory in chunk]):
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
    connection.execute(
        "CREATE TEMP TABLE incoming (external_id text, content text, category text, tags text[], "
        "expanded_keywords text[], importance float8, is_sensitive boolean, scope text, created_at timestamptz, "
        "title_length integer, thread text, reply_to text, dated boolean, source json, search_language text) "
        "ON COMMIT DROP"
    )
    with connection.cursor() as cursor, cursor.copy(f"COPY incoming ({INCOMING}) FROM STDIN") as copy:
        for memory in chunk:
            copy.write_row(row_values(memory))
    known, followers = _write_incoming(connection)
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


def _write_incoming(connection: Connection[Any]) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Write the rows of `incoming`; give what is known of those that were there, and the turns read with some of them.

    Each row has the id, whether it is read in another way now (its text, its scope, thread or date is another), whether
    it turned sensitive, the content that it replaced, and whether it stays sensitive though it came as open; in the
    order of ids. The turns are those that followed a memory where it was, which is elsewhere now: what they took over
    from it must go. An id that another process adds meanwhile is a unique violation.
    """
    connection.execute(
        "SELECT FROM memories WHERE external_id IN (SELECT external_id FROM incoming) ORDER BY id FOR NO KEY UPDATE"
    )
    # Who "she" is and who "I" am, and since when a fact holds, follow from these.
    moved = (
        "(m.scope IS DISTINCT FROM i.scope OR m.thread IS DISTINCT FROM i.thread "
        "OR m.created_at <> coalesce(i.created_at, m.created_at))"
    )
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT m.id, m.content IS DISTINCT FROM i.content OR m.tags IS DISTINCT FROM i.tags OR "
        f"m.expanded_keywords IS DISTINCT FROM i.expanded_keywords OR {moved}, "
        "i.is_sensitive AND NOT m.is_sensitive, "
        "CASE WHEN m.content IS DISTINCT FROM i.content AND NOT m.is_sensitive THEN m.content END, "
        f"m.is_sensitive AND NOT i.is_sensitive, {moved} AND m.thread IS NOT NULL "
        "FROM memories m JOIN incoming i USING (external_id) ORDER BY m.id"
    ).fetchall()
    followed = _followers(connection, [row[0] for row in rows if row[-1]])
    connection.execute(
        "UPDATE memories m SET content = i.content, category = i.category, tags = i.tags, "
        "expanded_keywords = i.expanded_keywords, importance = i.importance, "
        # Sensitivity stays: a file that is read again does not know that somebody marked its memory since.
        "is_sensitive = m.is_sensitive OR i.is_sensitive, "
        "scope = i.scope, created_at = coalesce(i.created_at, m.created_at), title_length = i.title_length, "
        "thread = i.thread, reply_to = i.reply_to, dated = i.dated OR m.dated, source = i.source, "
        "search_language = i.search_language FROM incoming i WHERE m.external_id = i.external_id"
    )
    connection.execute(
        f"INSERT INTO memories ({INCOMING}) SELECT i.external_id, i.content, i.category, i.tags, i.expanded_keywords, "
        "i.importance, i.is_sensitive, i.scope, coalesce(i.created_at, now()), i.title_length, "
        "i.thread, i.reply_to, i.dated, i.source, i.search_language "
        "FROM incoming i WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.external_id = i.external_id)"
    )
    return [row[:-1] for row in rows], followed


def _followers(connection: Connection[Any], moved: list[int]) -> list[int]:
    """The turns that were read with memories that are about to leave their place, under the graph's lock."""
    if not moved:
        return []
    # Late: what they import imports this.
    from hopgate.store import thread_rows
    from hopgate.store.graph import name_rows

    name_rows.lock(connection)
    turns = {*thread_rows.read_with(connection, moved), *thread_rows.turns_after(connection, moved, limit=FOLLOWERS)}
    return sorted(turns - {*moved})


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
    rows = _rows(connection, f"WHERE {NAMED}", named(external_ids))
    return {row.external_id: row.memory for row in rows}


def fetch_by_id(
    connection: Connection[Any], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, Memory]:
    """Read memories by the store's own id.

    Parameters
    ----------
    scopes : sequence of str, optional
        Only those of these scopes.
    """
    rows = _rows(connection, f"WHERE id = ANY(%(ids)s){in_scopes(scopes)}", {"ids": list(ids), "scopes": scopes})
    return {row.id: row.memory for row in rows}


def fetch_with_rules(
    connection: Connection[Any], ids: Sequence[int]
) -> tuple[dict[int, Memory], dict[str, Any] | None]:
    """Read memories by the store's own id, and in the same look the rules by which memories are sensitive."""
    # One statement, so that both are of one moment.
    with connection.cursor(row_factory=class_row(_RowWithRules)) as cursor:
        rows = cursor.execute(
            f"SELECT {_COLUMNS}, (SELECT value FROM store_settings WHERE name = %(rules)s) AS rules "
            "FROM memories WHERE id = ANY(%(ids)s)",
            {"ids": list(ids), "rules": setting_rows.SENSITIVITY},
        ).fetchall()
    return {row.id: row.memory for row in rows}, rows[0].rules if rows else None


def stream(connection: Connection[Any]) -> Iterator[Memory]:
    """Read every memory in the order of arrival, without holding them all."""
    with connection.cursor(name="hopgate_memories", row_factory=class_row(MemoryRow)) as cursor:
        cursor.itersize = 2000
        cursor.execute(f"SELECT {_COLUMNS} FROM memories ORDER BY id")
        for row in cursor:
            yield row.memory


def count(connection: Connection[Any]) -> int:
    """How many memories there are."""
    row = connection.execute("SELECT count(*) FROM memories").fetchone()
    assert row is not None
    return int(row[0])


def named(external_ids: Sequence[str]) -> dict[str, Any]:
    """The parameters of `NAMED`.

    Examples
    --------
    >>> named(["m1", "17"])
    {'names': ['m1', '17']}
    """
    check_several(external_ids, "external_ids")
    return {"names": list(external_ids)}


def ids_of(connection: Connection[Any], external_ids: Sequence[str]) -> list[int]:
    """The store's ids of external ids; unknown ones are left out."""
    rows = connection.execute(f"SELECT id FROM memories WHERE {NAMED} ORDER BY id", named(external_ids))
    return [row[0] for row in rows]


def require(connection: Connection[Any], external_ids: Sequence[str], within: Sequence[str] | None = None) -> list[int]:
    """The store's ids of external ids, locked for change; one that is unknown (in these scopes) is refused by name."""
    rows = connection.execute(
        f"SELECT external_id, id FROM memories WHERE {NAMED}{in_scopes(within)} ORDER BY id FOR NO KEY UPDATE",
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


def _rows(connection: Connection[Any], condition: str, parameters: Mapping[str, Any]) -> list[MemoryRow]:
    with connection.cursor(row_factory=class_row(MemoryRow)) as cursor:
        return cursor.execute(f"SELECT {_COLUMNS} FROM memories {condition}", parameters).fetchall()


def weights(
    connection: Connection[Any], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, tuple[float, datetime]]:
    """Importance and creation time of memories, of these scopes if given: all that the order after fusion needs."""
    rows = connection.execute(
        "SELECT id, least(greatest(importance, 0), 1), created_at FROM memories "
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
    rows = _rows(
        connection, f"WHERE id > %(after)s {which}ORDER BY id LIMIT %(limit)s", {"after": after, "limit": limit}
    )
    return {row.id: row.memory for row in rows}


def external_ids(connection: Connection[Any], ids: Iterable[int]) -> dict[int, str]:
    """External ids by the store's own."""
    rows = connection.execute("SELECT id, external_id FROM memories WHERE id = ANY(%s)", (sorted(ids),))
    return dict(rows.fetchall())


def listed(
    connection: Connection[Any], *, scopes: Sequence[str] | None = None, after: str | None = None, limit: int
) -> list[Memory]:
    """The next memories after one, by external id, that have one of these scopes; an unknown id is refused."""
    begin = None
    if after is not None:
        known = ids_of(connection, [after])
        if not known:
            raise HopgateError(f"there is no memory {after[:80]!r} to go on after: begin again without it")
        begin = known[0]
    rows = connection.execute(
        "SELECT id FROM memories WHERE (%(after)s::bigint IS NULL OR id > %(after)s) "
        "AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s)) ORDER BY id LIMIT %(limit)s",
        {"after": begin, "scopes": None if scopes is None else list(scopes), "limit": limit},
    )
    return _in_order(connection, [row[0] for row in rows])


def written_between(
    connection: Connection[Any],
    since: datetime,
    until: datetime,
    *,
    scopes: Sequence[str] | None,
    sensitive: bool,
    limit: int,
) -> list[Memory]:
    """The memories that were written down after one time and up to another, the newest first."""
    rows = connection.execute(
        "SELECT id FROM memories WHERE created_at > %(since)s AND created_at <= %(until)s "
        "AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s)) AND (%(sensitive)s OR NOT is_sensitive) "
        "ORDER BY created_at DESC, id DESC LIMIT %(limit)s",
        {
            "since": since,
            "until": until,
            "scopes": None if scopes is None else list(scopes),
            "sensitive": sensitive,
            "limit": limit,
        },
    )
    return _in_order(connection, [row[0] for row in rows])


def _in_order(connection: Connection[Any], ids: Sequence[int]) -> list[Memory]:
    found = fetch_by_id(connection, ids)
    return [found[key] for key in ids if key in found]


def tally(connection: Connection[Any]) -> dict[str, int]:
    """How many memories there are, and how many of them are sensitive or superseded."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE is_sensitive), "
        "count(*) FILTER (WHERE superseded_at IS NOT NULL) FROM memories"
    ).fetchone()
    assert row is not None
    return dict(zip(("memories", "sensitive", "superseded"), row, strict=True))


def in_scopes(scopes: Sequence[str] | None) -> str:
    """The condition, with its AND, that a memory is of some scopes.

    Examples
    --------
    >>> in_scopes(None), in_scopes(["home"])
    ('', ' AND scope = ANY(%(scopes)s)')
    """
    return "" if scopes is None else " AND scope = ANY(%(scopes)s)"


def require_within(
    connection: Connection[Any], named: str, external_ids: Mapping[str, Any], within: Sequence[str]
) -> None:
    """Refuse to write over a memory of another scope than these, and let nobody bring one in until the write is done.

    Parameters
    ----------
    named, external_ids : str and mapping
        The condition that finds the memories, and its parameters, of which `names` are the external ids.
    """
    names, find = external_ids["names"], f"SELECT scope FROM memories WHERE {named} ORDER BY id"
    new = len(connection.execute(find, external_ids).fetchall()) < len(names)
    if new:
        # What is not there has no row to lock: another writer could add it in another scope just before the update.
        connection.execute("LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE")
    scopes = [row[0] for row in connection.execute(f"{find} FOR NO KEY UPDATE", external_ids)]
    if any(scope not in within for scope in scopes):
        what = f"the id {names[0][:80]!r}" if len(names) == 1 else "one of the ids"
        raise TakenError(f"{what} is taken: choose another")
    if len(scopes) < len(names) and not new:
        # The table's lock comes before its rows': from the beginning, then.
        raise SerializationFailure("a memory was deleted since it was looked for")


def count_in(connection: Connection[Any], scopes: Sequence[str]) -> int:
    """How many memories some scopes have, by the counts that are kept of their words."""
    row = connection.execute(
        "SELECT coalesce(sum(memories), 0) FROM word_totals WHERE scope = ANY(%s)", (list(scopes),)
    ).fetchone()
    assert row is not None
    return int(row[0])


def unknown_scopes(connection: Connection[Any], scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has."""
    rows = connection.execute(
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )
    return [row[0] for row in rows]


def lock(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Lock memories for change, in the one order in which everybody locks them."""
    connection.execute("SELECT FROM memories WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (list(ids),))


def take_turns(connection: Connection[Any], *, alone: bool) -> None:
    """Let a load of many memories go alone, and smaller ones side by side: new ids have no order to lock them in."""
    shared = "" if alone else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}(hashtext('hopgate load'))")


class IdRange(NamedTuple):
    """The ids from `first` to `last`, both of them in it."""

    first: int
    last: int


def id_ranges(connection: Connection[Any], size: int, limit: int | None = None) -> list[IdRange]:
    """Cut the store, or its first so many memories, into ranges of so many each, in the order of arrival."""
    rows = connection.execute(
        "SELECT min(id), max(id) FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / %s AS part FROM memories "
        "ORDER BY id LIMIT %s) AS placed GROUP BY part ORDER BY 1",
        (size, limit),
    )
    return [IdRange(*row) for row in rows]


def in_range(connection: Connection[Any], ids: IdRange, size: int) -> dict[int, Memory]:
    """The memories of a range that are not sensitive, at most so many; what came since it was cut is another run's."""
    found = page(connection, after=ids.first - 1, limit=size, closed=False)
    return {key: memory for key, memory in found.items() if key <= ids.last}
