"""Memories in and out of the table, by COPY and by external id; and which of them hold a word or a name."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
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
# The columns that a new memory gives to one that is there; beside them stand some that also depend on that one.
_GIVEN = (
    *("content", "category", "tags", "expanded_keywords", "importance", "scope"),
    *("title_length", "thread", "reply_to", "source", "search_language"),
)
# The columns that a memory comes in with.
INCOMING = ", ".join(("external_id", *_GIVEN, "is_sensitive", "created_at", "dated"))
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
# A title may have a short addition to the name, in brackets: "(road)", "(1954 film)".
MAX_ADDITION = 60
# A longer first line names nothing.
MAX_TITLE = 1000


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

    rows: int = 0
    added: int = 0
    changed: tuple[int, ...] = ()
    now_sensitive: tuple[int, ...] = ()
    replaced: tuple[str, ...] = ()  # contents that are no memory's any more
    kept_sensitive: int = 0  # came as open, and stay sensitive as they were marked
    followers: tuple[int, ...] = ()  # were read with one that moved

    def __add__(self, other: Written) -> Written:
        return Written(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Written)))


# ---- Writing ---------------------------------------------------------------------------------------------------------


def upsert(
    connection: Connection[Any],
    memories: Iterable[Memory],
    within: Sequence[str] | None = None,
    vectors: Mapping[str, str] | None = None,
) -> Written:
    """Add memories, or bring those with a known external id up to date; all or nothing, being one transaction.

    Chunks without a known id, which is what most loads are made of, go by COPY straight into the table while the next
    chunk is being read; the others take a detour through a temporary table.

    Parameters
    ----------
    within : sequence of str, optional
        Scopes: a known id of another one is refused.
    vectors : mapping, optional
        By external id the vectors of new memories as SQL reads them, which go the same way; known ones get none here.
    """
    written = Written()
    for chunk in _chunks(memories):
        setting_rows.require_languages(connection, {memory.language for memory in chunk if memory.language})
        written += _copy(connection, chunk, vectors) or _merge(connection, chunk, within)
    return written


def _chunks(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Cut the input into chunks, reading one ahead: parsing then costs no time while the server is at work."""
    stream = iter(memories)
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(lambda: list(itertools.islice(stream, CHUNK)))
        while chunk := ahead.result():
            ahead = reader.submit(lambda: list(itertools.islice(stream, CHUNK)))
            yield chunk


def _copy(connection: Connection[Any], chunk: Sequence[Memory], vectors: Mapping[str, str] | None) -> Written | None:
    """Add a chunk by COPY, or do nothing when one of its ids is known (or becomes so meanwhile)."""
    if ids_of(connection, [memory.external_id for memory in chunk]):
        return None
    now = datetime.now(UTC)
    columns = f"{INCOMING}, embedding" if vectors else INCOMING
    try:
        with (
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(f"COPY memories ({columns}) FROM STDIN") as copy,
        ):
            for memory in chunk:
                row = row_values(memory, now)
                copy.write_row((*row, vectors.get(memory.external_id)) if vectors else row)
    except UniqueViolation:
        return None
    return Written(len(chunk), len(chunk))


def row_values(memory: Memory, now: datetime | None = None) -> tuple[Any, ...]:
    """A memory's values of the columns `INCOMING`."""
    return (
        memory.external_id,
        memory.content,
        memory.category,
        list(memory.tags),
        list(memory.expanded_keywords),
        memory.importance,
        memory.scope,
        len(memory.title),
        memory.thread,
        memory.reply_to,
        None if memory.source is None else json.dumps(memory.source, ensure_ascii=False),
        memory.language,
        memory.is_sensitive,
        memory.created_at or now,
        memory.created_at is not None,
    )


def _merge(connection: Connection[Any], chunk: Sequence[Memory], within: Sequence[str] | None) -> Written:
    """Add or update a chunk, and say which memories changed.

    Again where another process added some of it meanwhile, or deleted some of what was looked at.
    """
    for _ in range(ATTEMPTS):
        with contextlib.suppress(UniqueViolation, SerializationFailure), connection.transaction():
            return _merged(connection, chunk, within)
    return _merged(connection, chunk, within)


@dataclass(frozen=True, slots=True)
class _Known:
    """A memory that was there: whether it is read in another way now, what it loses, and what stays."""

    id: int
    changed: bool
    now_sensitive: bool
    replaced: str | None
    kept_sensitive: bool
    moved: bool


# Who "she" is and who "I" am, and since when a fact holds, follow from these.
_MOVED = (
    "(m.scope IS DISTINCT FROM i.scope OR m.thread IS DISTINCT FROM i.thread "
    "OR m.created_at <> coalesce(i.created_at, m.created_at))"
)
_KNOWN = (
    "SELECT m.id, m.content IS DISTINCT FROM i.content OR m.tags IS DISTINCT FROM i.tags "
    f"OR m.expanded_keywords IS DISTINCT FROM i.expanded_keywords OR {_MOVED} AS changed, "
    "i.is_sensitive AND NOT m.is_sensitive AS now_sensitive, "
    "CASE WHEN m.content IS DISTINCT FROM i.content AND NOT m.is_sensitive THEN m.content END AS replaced, "
    f"m.is_sensitive AND NOT i.is_sensitive AS kept_sensitive, {_MOVED} AND m.thread IS NOT NULL AS moved "
    "FROM memories m JOIN incoming i USING (external_id) ORDER BY m.id"
)
_UPDATE = (
    f"UPDATE memories m SET {', '.join(f'{name} = i.{name}' for name in _GIVEN)}, "
    # Sensitivity stays: a file that is read again does not know that somebody marked its memory since.
    "is_sensitive = m.is_sensitive OR i.is_sensitive, created_at = coalesce(i.created_at, m.created_at), "
    "dated = i.dated OR m.dated FROM incoming i WHERE m.external_id = i.external_id"
)
_INSERT = (
    f"INSERT INTO memories ({INCOMING}) SELECT {INCOMING.replace('created_at', 'coalesce(created_at, now())')} "
    "FROM incoming i WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.external_id = i.external_id)"
)


def _merged(connection: Connection[Any], chunk: Sequence[Memory], within: Sequence[str] | None) -> Written:
    """Write a chunk by way of a temporary table; an id that another process adds meanwhile is a unique violation."""
    if within is not None:
        _require_within(connection, [memory.external_id for memory in chunk], within)
    connection.execute(f"CREATE TEMP TABLE incoming ON COMMIT DROP AS SELECT {INCOMING} FROM memories WITH NO DATA")
    with connection.cursor() as cursor, cursor.copy(f"COPY incoming ({INCOMING}) FROM STDIN") as copy:
        for memory in chunk:
            copy.write_row(row_values(memory))
    connection.execute(
        "SELECT FROM memories WHERE external_id IN (SELECT external_id FROM incoming) ORDER BY id FOR NO KEY UPDATE"
    )
    with connection.cursor(row_factory=class_row(_Known)) as known_rows:
        known = known_rows.execute(_KNOWN).fetchall()
    followers = _followers(connection, [row.id for row in known if row.moved])
    connection.execute(_UPDATE)
    connection.execute(_INSERT)
    connection.execute("DROP TABLE incoming")
    return Written(
        len(chunk),
        len(chunk) - len(known),
        tuple(row.id for row in known if row.changed),
        tuple(row.id for row in known if row.now_sensitive),
        tuple(row.replaced for row in known if row.replaced is not None),
        sum(row.kept_sensitive for row in known),
        followers,
    )


def _followers(connection: Connection[Any], moved: list[int]) -> tuple[int, ...]:
    """The turns that were read with memories that are about to leave their place, under the graph's lock.

    What they took over from these must go.
    """
    if not moved:
        return ()
    # Late: what they import imports this.
    from hopgate.store import thread_rows
    from hopgate.store.graph import name_rows

    name_rows.lock(connection)
    turns = {*thread_rows.read_with(connection, moved), *thread_rows.turns_after(connection, moved, limit=FOLLOWERS)}
    return tuple(sorted(turns - {*moved}))


def _require_within(connection: Connection[Any], external_ids: Sequence[str], within: Sequence[str]) -> None:
    """Refuse to write over a memory of another scope than these, and let nobody bring one in until then."""
    find = f"SELECT scope FROM memories WHERE {NAMED} ORDER BY id"
    new = len(connection.execute(find, named(external_ids)).fetchall()) < len(external_ids)
    if new:
        # What is not there has no row to lock: another writer could add it in another scope just before the update.
        connection.execute("LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE")
    scopes = [row[0] for row in connection.execute(f"{find} FOR NO KEY UPDATE", named(external_ids))]
    if any(scope not in within for scope in scopes):
        what = f"the id {external_ids[0][:80]!r}" if len(external_ids) == 1 else "one of the ids"
        raise TakenError(f"{what} is taken: choose another")
    if len(scopes) < len(external_ids) and not new:
        # The table's lock comes before its rows': from the beginning, then.
        raise SerializationFailure("a memory was deleted since it was looked for")


def remove(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Delete memories; their mentions, facts and links go by the foreign keys."""
    connection.execute("DELETE FROM memories WHERE id = ANY(%s)", (list(ids),))


def lock(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Lock memories for change, in the one order in which everybody locks them."""
    connection.execute("SELECT FROM memories WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (list(ids),))


def take_turns(connection: Connection[Any], *, alone: bool) -> None:
    """Let a load of many memories go alone, and smaller ones side by side: new ids have no order to lock them in."""
    shared = "" if alone else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}(hashtext('hopgate load'))")


def tidy(connection: Connection[Any]) -> None:
    """After a bulk load: statistics for the planner; pending entries of the index and changes of counts are merged."""
    # The memories before the counts, as whoever writes or counts them: see docs/reliability.md, the order of locks.
    connection.execute("LOCK TABLE memories IN SHARE UPDATE EXCLUSIVE MODE")
    connection.execute("SELECT hopgate_fold_words()")
    connection.execute("SELECT gin_clean_pending_list('memories_search_vector')")
    target = 100 if count_kept(connection) >= SAMPLED_FROM else 0
    connection.execute(f"ALTER TABLE memories ALTER search_vector SET STATISTICS {target}")
    connection.execute("ANALYZE memories, word_counts, word_changes, word_totals")


# ---- Reading ---------------------------------------------------------------------------------------------------------


def fetch(connection: Connection[Any], external_ids: Sequence[str]) -> dict[str, Memory]:
    """Read memories by external id; unknown ids are left out."""
    return {row.external_id: row.memory for row in _rows(connection, f"WHERE {NAMED}", named(external_ids))}


def fetch_by_id(
    connection: Connection[Any], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, Memory]:
    """Read memories by the store's own id, of any scope or only of these."""
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


def _rows(connection: Connection[Any], condition: str, parameters: Mapping[str, Any]) -> list[MemoryRow]:
    with connection.cursor(row_factory=class_row(MemoryRow)) as cursor:
        return cursor.execute(f"SELECT {_COLUMNS} FROM memories {condition}", parameters).fetchall()


def stream(connection: Connection[Any]) -> Iterator[Memory]:
    """Read every memory in the order of arrival, without holding them all."""
    with connection.cursor(name="hopgate_memories", row_factory=class_row(MemoryRow)) as cursor:
        cursor.itersize = 2000
        cursor.execute(f"SELECT {_COLUMNS} FROM memories ORDER BY id")
        for row in cursor:
            yield row.memory


def page(connection: Connection[Any], *, after: int, limit: int, closed: bool = True) -> dict[int, Memory]:
    """The next memories after an id, in order; sensitive ones are among them unless `closed` is false."""
    which = "" if closed else "AND NOT is_sensitive "
    rows = _rows(
        connection, f"WHERE id > %(after)s {which}ORDER BY id LIMIT %(limit)s", {"after": after, "limit": limit}
    )
    return {row.id: row.memory for row in rows}


def listed(
    connection: Connection[Any], *, scopes: Sequence[str] | None = None, after: str | None = None, limit: int
) -> list[Memory]:
    """The next memories after one, by external id, that have one of these scopes; an unknown id is refused."""
    begin = ids_of(connection, [after]) if after is not None else [0]
    if not begin:
        raise HopgateError(f"there is no memory {(after or '')[:80]!r} to go on after: begin again without it")
    condition = f"WHERE id > %(begin)s{in_scopes(scopes)} ORDER BY id LIMIT %(limit)s"
    rows = _rows(connection, condition, {"begin": begin[0], "scopes": list(scopes or ()), "limit": limit})
    return [row.memory for row in rows]


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
    rows = _rows(
        connection,
        f"WHERE created_at > %(since)s AND created_at <= %(until)s{in_scopes(scopes)} "
        "AND (%(sensitive)s OR NOT is_sensitive) ORDER BY created_at DESC, id DESC LIMIT %(limit)s",
        {"since": since, "until": until, "scopes": list(scopes or ()), "sensitive": sensitive, "limit": limit},
    )
    return [row.memory for row in rows]


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


# ---- Ids and scopes --------------------------------------------------------------------------------------------------


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


def external_ids(connection: Connection[Any], ids: Iterable[int]) -> dict[int, str]:
    """External ids by the store's own."""
    rows = connection.execute("SELECT id, external_id FROM memories WHERE id = ANY(%s)", (sorted(ids),))
    return dict(rows.fetchall())


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


def all_ids(connection: Connection[Any]) -> list[int]:
    """Every memory's id, in the order of arrival."""
    return [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY id")]


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
    after_first = page(connection, after=ids.first - 1, limit=size, closed=False)
    return {key: memory for key, memory in after_first.items() if key <= ids.last}


def in_scopes(scopes: Sequence[str] | None) -> str:
    """The condition, with its AND, that a memory is of some scopes.

    Examples
    --------
    >>> in_scopes(None), in_scopes(["home"])
    ('', ' AND scope = ANY(%(scopes)s)')
    """
    return "" if scopes is None else " AND scope = ANY(%(scopes)s)"


def unknown_scopes(connection: Connection[Any], scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has."""
    rows = connection.execute(
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )
    return [row[0] for row in rows]


# ---- Counts ----------------------------------------------------------------------------------------------------------


def count(connection: Connection[Any]) -> int:
    """How many memories there are."""
    row = connection.execute("SELECT count(*) FROM memories").fetchone()
    assert row is not None
    return int(row[0])


def tally(connection: Connection[Any]) -> dict[str, int]:
    """How many memories there are, and how many of them are sensitive or superseded."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE is_sensitive), "
        "count(*) FILTER (WHERE superseded_at IS NOT NULL) FROM memories"
    ).fetchone()
    assert row is not None
    return dict(zip(("memories", "sensitive", "superseded"), row, strict=True))


def count_kept(connection: Connection[Any], scopes: Sequence[str] | None = None) -> int:
    """How many memories there are, or some scopes have, by the counts that are kept of their words."""
    row = connection.execute(
        f"SELECT coalesce(sum(memories), 0) FROM word_totals WHERE true{in_scopes(scopes)}",
        {"scopes": None if scopes is None else list(scopes)},
    ).fetchone()
    assert row is not None
    return int(row[0])


# ---- Words and titles ------------------------------------------------------------------------------------------------


def with_word(
    connection: Connection[Any], words: Sequence[str], *, limit: int, within: str | None = None
) -> list[tuple[int, int]]:
    """Memories that hold one of some words in lower case, as (memory, number of the word), at most `limit` a word.

    Parameters
    ----------
    within : str, optional
        Only memories of this scope, "" for those without one; by default of any.
    """
    if not words:
        return []
    scoped = "" if within is None else "AND coalesce(m.scope, '') = %(scope)s "
    return connection.execute(
        "SELECT h.id, t.number FROM unnest(%(words)s::text[]) WITH ORDINALITY AS t (word, number) "
        "CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.search_vector @@ phraseto_tsquery(hopgate_language()::regconfig, t.word) "
        f"AND NOT m.is_sensitive {scoped}"
        "AND m.content ~ ('(^|[^[:alnum:]_-])' || t.word || '($|[^[:alnum:]_-])') LIMIT %(limit)s) AS h",
        {"words": list(words), "limit": limit, "scope": within},
    ).fetchall()


def titled(
    connection: Connection[Any], names: Sequence[tuple[str, str]], *, limit: int, shared: bool
) -> list[tuple[int, int]]:
    """Memories whose first line may be one of the names, as (memory, number of the name), at most `limit` a name.

    Parameters
    ----------
    names : sequence of (str, str)
        The scope whose memories are looked for, and the name.
    shared : bool
        Whether memories of every scope are.
    """
    return connection.execute(
        "SELECT h.id, t.number FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS t (scope, name, number) "
        "CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.search_vector @@ phraseto_tsquery(hopgate_language()::regconfig, t.name) "
        "AND (%s OR coalesce(m.scope, '') = t.scope) "
        "AND NOT m.is_sensitive AND length(split_part(m.content, E'\\n', 1)) < length(t.name) + %s LIMIT %s) AS h",
        ([scope for scope, _ in names], [name for _, name in names], shared, MAX_ADDITION, limit),
    ).fetchall()


class Title(NamedTuple):
    """A memory's first line, and its scope."""

    memory_id: int
    scope: str
    text: str


def first_lines(connection: Connection[Any]) -> list[Title]:
    """The first line of every memory where it is no longer than a title could be; of no sensitive one."""
    rows = connection.execute(
        "SELECT id, coalesce(scope, ''), split_part(content, E'\\n', 1) FROM memories WHERE NOT is_sensitive "
        "AND length(split_part(content, E'\\n', 1)) <= %s ORDER BY id",
        (MAX_TITLE,),
    )
    return [Title(*row) for row in rows]
