"""Take back what memories supported in the graph."""
from __future__ import annotations
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
if TYPE_CHECKING:
    from psycopg import Connection
def revoke(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Placeholder."""
