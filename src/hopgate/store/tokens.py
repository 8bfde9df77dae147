"""Tokens of memories for late interaction: a row a memory, made, kept and forgotten with its vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.embed.late import Tokens


def tokens_of(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, Tokens]:
    """Read the tokens of those of the memories that have some and are not sensitive."""
    # Late: a lexical recall does without.
    import numpy as np

    rows = connection.cursor(binary=True).execute(
        "SELECT memory_id, count, tokens FROM memory_tokens JOIN memories ON id = memory_id "
        "WHERE memory_id = ANY(%s) AND NOT is_sensitive",
        (list(memory_ids),),
    )
    return {key: np.frombuffer(tokens, np.int8).reshape(count, -1) for key, count, tokens in rows}


def write(connection: Connection[Any], tokens: Mapping[int, Tokens]) -> None:
    """Keep the tokens of memories, in the place of what was there; the caller has locked them and they are open."""
    connection.execute(
        "INSERT INTO memory_tokens SELECT * FROM unnest(%s::bigint[], %s::integer[], %b::bytea[]) "
        "ON CONFLICT (memory_id) DO UPDATE SET count = excluded.count, tokens = excluded.tokens",
        (list(tokens), [len(rows) for rows in tokens.values()], [rows.tobytes() for rows in tokens.values()]),
    )


def drop(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Forget the tokens of memories."""
    connection.execute("DELETE FROM memory_tokens WHERE memory_id = ANY(%s)", (list(memory_ids),))
