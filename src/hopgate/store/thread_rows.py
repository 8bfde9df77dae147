"""Turns of threads: those before a memory, whether they may still be read, and those that were read with its help."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.memory import Memory

Thread = tuple[str | None, str]
"""A scope and a thread in it."""


def turns_before(
    connection: Connection[Any], scope: str | None, thread: str, before: datetime, *, limit: int
) -> list[Memory]:
    """The last memories of a thread before a time, the earliest first."""
    rows = connection.execute(
        "SELECT id FROM memories WHERE scope IS NOT DISTINCT FROM %s AND created_at < %s "
        "AND thread = %s AND NOT is_sensitive ORDER BY created_at DESC, id DESC LIMIT %s",
        (scope, before, thread, limit),
    ).fetchall()
    ids = [row[0] for row in rows]
    known = memories.fetch_by_id(connection, ids)
    return [known[key] for key in reversed(ids)]


def open_turns(connection: Connection[Any], turns: Mapping[Thread, set[str]]) -> dict[Thread, set[str]]:
    """Those of the texts that are still the content of an open memory of their thread."""
    wanted = [(thread, text, digest(text)) for thread, texts in turns.items() for text in texts]
    rows = connection.execute(
        "SELECT t.place FROM unnest(%s::text[], %s::text[], %s::text[]) WITH ORDINALITY "
        "AS t (scope, thread, hash, place) "
        "WHERE EXISTS (SELECT 1 FROM memories m WHERE m.thread = t.thread AND m.scope IS NOT DISTINCT FROM t.scope "
        "AND NOT m.is_sensitive AND md5(m.content) = t.hash)",
        ([thread[0] for thread, _, _ in wanted], [thread[1] for thread, _, _ in wanted], [one[2] for one in wanted]),
    )
    said: dict[Thread, set[str]] = {thread: set() for thread in turns}
    for (place,) in rows:
        thread, text, _ = wanted[place - 1]
        said[thread].add(text)
    return said


def read_with(connection: Connection[Any], ids: Sequence[int]) -> list[int]:
    """Later memories of the same threads that mention a name of these memories without holding it: "she" was told."""
    rows = connection.execute(
        "SELECT DISTINCT later.id FROM memories told JOIN memories later ON later.thread = told.thread "
        "AND later.scope IS NOT DISTINCT FROM told.scope AND later.created_at >= told.created_at "
        "AND later.id <> told.id "
        "JOIN mentions named ON named.memory_id = told.id "
        "JOIN mentions meant ON meant.memory_id = later.id AND meant.name_id = named.name_id "
        # As a word of its own: "Canada" does not say Ada.
        "WHERE told.id = ANY(%s) AND NOT coalesce(later.content, '') ~* ('\\m' || "
        "regexp_replace(meant.spelling, '([^[:alnum:][:space:]])', '\\\\\\1', 'g') || '\\M') ORDER BY 1",
        (list(ids),),
    )
    return [row[0] for row in rows]


def turns_after(connection: Connection[Any], ids: Sequence[int], *, limit: int) -> list[int]:
    """The memories that follow each of these in its thread: whoever stated something about one was shown these."""
    rows = connection.execute(
        "SELECT DISTINCT later.id FROM memories told CROSS JOIN LATERAL (SELECT m.id FROM memories m "
        "WHERE m.thread = told.thread AND m.scope IS NOT DISTINCT FROM told.scope AND m.created_at >= told.created_at "
        "AND m.id <> told.id ORDER BY m.created_at, m.id LIMIT %s) later WHERE told.id = ANY(%s) ORDER BY 1",
        (limit, list(ids)),
    )
    return [row[0] for row in rows]


def digest(text: str) -> str:
    """A text's digest, as PostgreSQL's md5 gives it."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
