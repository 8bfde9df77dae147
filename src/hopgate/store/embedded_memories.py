"""Memories that come with their vectors: whether a store has them already, and both written by one COPY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from psycopg.errors import UniqueViolation

from hopgate.memory import Memory, cleared
from hopgate.store import memories, setting_rows, vectors
from hopgate.store.fill import EmbeddedBatch
from hopgate.store.memories import INCOMING, Written, row_values
from hopgate.store.vectors import to_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.embed import Identity

TextVectors = Mapping[str, "NDArray[np.float32]"]
"""By external id the vectors of a memory: its own in the first row, those of its passages after it."""


def settled(connection: Connection[Any], new: Sequence[Memory]) -> set[str]:
    """Those of the memories, by external id, that the store holds as they come, with a vector where they need one."""
    known = memories.fetch(connection, [memory.external_id for memory in new])
    same = {memory.external_id for memory in new if _same(memory, known.get(memory.external_id))}
    return same - set(vectors.pending_names(connection, sorted(same))) if same else same


def _same(new: Memory, kept: Memory | None) -> bool:
    """Whether writing a memory would change nothing of the one that is kept: dates of arrival and marks stay."""
    if kept is None or (new.is_sensitive and not kept.is_sensitive):
        return False
    as_new = replace(
        kept,
        is_sensitive=new.is_sensitive,
        created_at=kept.created_at if new.created_at else None,
        superseded_by=kept.superseded_by if new.superseded_by else None,
        superseded_at=kept.superseded_at if new.superseded_at else None,
    )
    return as_new == new


def copy(
    connection: Connection[Any], new: Sequence[Memory], made: TextVectors, identity: Identity | None
) -> Written | None:
    """Add memories with their vectors by COPY, or do nothing where one of their ids is known or becomes so meanwhile.

    Sensitive memories get no vector, whatever was made.
    """
    if memories.ids_of(connection, [memory.external_id for memory in new]):
        return None
    setting_rows.require_languages(connection, {memory.language for memory in new if memory.language})
    own = {key: made[key] for key, _ in cleared((one.external_id, one) for one in new) if key in made}
    if own:
        assert identity is not None  # whoever made vectors says who he is
        vectors.claim(connection, identity)
        for rows in own.values():
            vectors.check_rows(connection, rows, column="embedding", dimension=identity.dimension)
    now = datetime.now(UTC)
    columns = f"{INCOMING}, embedding" if own else INCOMING
    try:
        with (
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(f"COPY memories ({columns}) FROM STDIN") as out,
        ):
            for memory in new:
                row = row_values(memory, now)
                vector = own.get(memory.external_id)
                out.write_row((*row, None if vector is None else to_sql(vector[0])) if own else row)
    except UniqueViolation:
        return None
    if own:
        _pass(connection, [memory for memory in new if memory.external_id in own], own)
    return Written(len(new), len(new), (), ())


def _pass(connection: Connection[Any], new: Sequence[Memory], own: TextVectors) -> None:
    """Store the passages of memories that were just copied, and take them off the list of what waits."""
    import numpy as np

    rows = connection.execute(
        "SELECT external_id, id FROM memories WHERE external_id = ANY(%s)", ([memory.external_id for memory in new],)
    )
    ids = dict(rows.fetchall())
    parts = [
        (row, own[name][1 + row.number])
        for name, text in cleared((memory.external_id, memory) for memory in new)
        for row in vectors.passages_of(ids[name], text)
    ]
    if parts:
        vectors.write_passages(connection, [row for row, _ in parts], np.stack([vector for _, vector in parts]))
    connection.execute("DELETE FROM waiting_vectors WHERE memory_id = ANY(%s)", (sorted(ids.values()),))


def add_vectors(connection: Connection[Any], new: Sequence[Memory], made: TextVectors, identity: Identity) -> int:
    """Give memories that are in the store their vectors; give how many got theirs.

    Those that changed or turned sensitive meanwhile get none.
    """
    import numpy as np

    rows = connection.execute(
        "SELECT id, external_id FROM memories WHERE external_id = ANY(%s) ORDER BY id",
        ([memory.external_id for memory in new if memory.external_id in made],),
    ).fetchall()
    by_name = {memory.external_id: memory for memory in new}
    passed = list(cleared((row, by_name[row[1]]) for row in rows))
    if not passed:
        return 0
    parts = [(name, part) for (key, name), text in passed for part in vectors.passages_of(key, text)]
    batch = EmbeddedBatch(
        [key for (key, _), _ in passed],
        [text for _, text in passed],
        [part for _, part in parts],
        np.stack([*(made[name][0] for (_, name), _ in passed), *(made[name][1 + one.number] for name, one in parts)]),
        "embedding",
    )
    return len(batch.write(identity, connection))
