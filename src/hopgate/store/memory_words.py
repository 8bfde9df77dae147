"""Memories by the words they hold: names in their text, names as their title; and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection

# A title may have a short addition to the name, in brackets: "(road)", "(1954 film)".
MAX_ADDITION = 60
# A longer first line names nothing.
MAX_TITLE = 1000


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


def count_kept(connection: Connection[Any]) -> int:
    """How many memories there are, by the counts that are kept of their words: without reading the table."""
    row = connection.execute("SELECT coalesce(sum(memories), 0) FROM word_totals").fetchone()
    assert row is not None
    return int(row[0])
