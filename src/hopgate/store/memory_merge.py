"""Memories that came into a temporary table, brought into the memories' own: known ones up to date, others added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

# The columns that a memory comes in with.
INCOMING = (
    "external_id, content, category, tags, expanded_keywords, importance, is_sensitive, scope, created_at, "
    "title_length, thread, reply_to, dated, source, search_language"
)

# So many turns after a memory may have been read with it: some of them were perhaps sensitive then, or are now.
FOLLOWERS = 8


def merge(
    connection: Connection[Any], kinds: Mapping[str, str], number: str
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Write the rows of `incoming`; give what is known of those that were there, and the turns read with some of them.

    Each row has the id, whether it is read in another way now (its text, its scope, thread or date is another), whether
    it turned sensitive, the content that it replaced, and whether it stays sensitive though it came as open; in the
    order of ids. The turns are those that followed a memory where it was, which is elsewhere now: what they took over
    from it must go. An id that another process adds meanwhile is a unique violation.

    Parameters
    ----------
    kinds : mapping
        The types of `tags` and `expanded_keywords`.
    number : str
        The pattern of external ids by which an owner's row without one is meant.
    """
    own = f"CASE WHEN external_id ~ '^({number})$' THEN external_id::bigint END"
    connection.execute(
        "SELECT FROM memories WHERE external_id IN (SELECT external_id FROM incoming) "
        f"OR external_id IS NULL AND id IN (SELECT {own} FROM incoming) ORDER BY id FOR NO KEY UPDATE"
    )
    connection.execute(
        "UPDATE memories m SET external_id = m.id::text "
        f"FROM (SELECT {own} AS id FROM incoming) AS i WHERE m.external_id IS NULL AND m.id = i.id"
    )
    tags, keywords = (
        f"i.{name}" if kinds[name] == "text[]" else f"hopgate_words(i.{name})" for name in ("tags", "expanded_keywords")
    )
    # Who "she" is and who "I" am, and since when a fact holds, follow from these.
    moved = (
        "(m.scope IS DISTINCT FROM i.scope OR m.thread::text IS DISTINCT FROM i.thread "
        "OR m.created_at <> coalesce(i.created_at, m.created_at))"
    )
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT m.id, m.content IS DISTINCT FROM i.content OR m.tags::text IS DISTINCT FROM {tags}::text OR "
        f"m.expanded_keywords::text IS DISTINCT FROM {keywords}::text OR {moved}, "
        "i.is_sensitive AND NOT m.is_sensitive, "
        "CASE WHEN m.content IS DISTINCT FROM i.content AND NOT m.is_sensitive THEN m.content END, "
        f"coalesce(m.is_sensitive, true) AND NOT i.is_sensitive, {moved} AND m.thread IS NOT NULL "
        "FROM memories m JOIN incoming i USING (external_id) ORDER BY m.id"
    ).fetchall()
    followed = _followers(connection, [row[0] for row in rows if row[-1]])
    # Not by ON CONFLICT: parts have no unique index on external ids, and by it no row moves to another scope's part.
    connection.execute(
        f"UPDATE memories m SET content = i.content, category = i.category, tags = {tags}, "
        f"expanded_keywords = {keywords}, importance = i.importance, "
        # Sensitivity stays: a file that is read again does not know that somebody marked its memory since.
        "is_sensitive = coalesce(m.is_sensitive, true) OR i.is_sensitive, "
        "scope = i.scope, created_at = coalesce(i.created_at, m.created_at, now()), title_length = i.title_length, "
        "thread = i.thread, reply_to = i.reply_to, dated = i.dated OR coalesce(m.dated, false), source = i.source, "
        "search_language = i.search_language FROM incoming i WHERE m.external_id = i.external_id"
    )
    connection.execute(
        f"INSERT INTO memories ({INCOMING}) SELECT i.external_id, i.content, i.category, {tags}, {keywords}, "
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
