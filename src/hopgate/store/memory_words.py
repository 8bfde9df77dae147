"""Memories by the words they hold: names in their text, names as their title; and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

# A title may have a short addition to the name, in brackets: "(road)", "(1954 film)".
MAX_ADDITION = 60
# A longer first line names nothing.
MAX_TITLE = 1000


def with_word(connection: Connection[Any], words: Sequence[str], *, limit: int) -> list[tuple[int, int]]:
    """Memories that hold one of some words in lower case, as (memory, number of the word), at most `limit` a word."""
    if not words:
        return []
    return connection.execute(
        "SELECT h.id, t.number FROM unnest(%s::text[]) WITH ORDINALITY AS t (word, number) "
        "CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.search_vector @@ phraseto_tsquery(hopgate_language()::regconfig, t.word) "
        "AND NOT m.is_sensitive AND m.content ~ ('(^|[^[:alnum:]_-])' || t.word || '($|[^[:alnum:]_-])') "
        "LIMIT %s) AS h",
        (list(words), limit),
    ).fetchall()


def titled(connection: Connection[Any], names: Sequence[str], *, limit: int) -> list[tuple[int, int]]:
    """Memories whose first line may be one of the names, as (memory, number of the name), at most `limit` a name."""
    return connection.execute(
        "SELECT h.id, t.number FROM unnest(%s::text[]) WITH ORDINALITY AS t (name, number) "
        "CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.search_vector @@ phraseto_tsquery(hopgate_language()::regconfig, t.name) "
        "AND NOT m.is_sensitive AND length(split_part(m.content, E'\\n', 1)) < length(t.name) + %s LIMIT %s) AS h",
        (list(names), MAX_ADDITION, limit),
    ).fetchall()


def first_lines(connection: Connection[Any]) -> list[tuple[int, str]]:
    """The first line of every memory that is not sensitive, where it is no longer than a title could be."""
    return connection.execute(
        "SELECT id, split_part(content, E'\\n', 1) FROM memories "
        "WHERE NOT is_sensitive AND length(split_part(content, E'\\n', 1)) <= %s ORDER BY id",
        (MAX_TITLE,),
    ).fetchall()


def count_kept(connection: Connection[Any]) -> int:
    """How many memories there are, by the counts that are kept of their words: without reading the table."""
    row = connection.execute("SELECT coalesce(sum(memories), 0) FROM word_totals").fetchone()
    assert row is not None
    return int(row[0])
