"""What extractors said of memories: cached by text, recorded by memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def forget(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Remove every extraction ever cached for these memories' texts, whatever the extractor."""
    connection.execute(
        "DELETE FROM extraction_cache WHERE text_hash IN "
        "(SELECT sha256(convert_to(content, 'UTF8')) FROM memories WHERE id = ANY(%s)) "
        "OR text_hash IN (SELECT text_hash FROM extractions WHERE memory_id = ANY(%s))",
        (list(ids), list(ids)),
    )
    connection.execute("DELETE FROM extractions WHERE memory_id = ANY(%s)", (list(ids),))
