"""What the graph shows at a time: the SQL conditions on edges and memories, for a time of validity and of knowledge."""

from __future__ import annotations

from datetime import datetime


def visible_edges(as_of: datetime | None, known_at: datetime | None) -> str:
    """The condition on `concept_edges`, with parameters `as_of` and `known_at`.

    Without `known_at` what is believed now; without `as_of` whatever its time of validity. Intervals are half-open and
    a missing end is no end.

    Examples
    --------
    >>> visible_edges(None, None)
    'retired_at IS NULL'
    """
    conditions = ["retired_at IS NULL"]
    if known_at is not None:
        conditions = ["recorded_at <= %(known_at)s", "(retired_at IS NULL OR retired_at > %(known_at)s)"]
    if as_of is not None:
        conditions.append("(valid_from IS NULL OR valid_from <= %(as_of)s)")
        conditions.append("(valid_to IS NULL OR valid_to > %(as_of)s)")
    return " AND ".join(conditions)


def visible_memories(known_at: datetime | None, *, superseded: bool) -> str:
    """The condition on `memories`, with the parameter `known_at`. Sensitive ones take no part in the graph.

    Examples
    --------
    >>> visible_memories(None, superseded=False)
    'NOT is_sensitive AND superseded_at IS NULL'
    """
    conditions = ["NOT is_sensitive"]
    if known_at is not None:
        conditions.append("created_at <= %(known_at)s")
    if not superseded:
        later = "superseded_at > %(known_at)s"
        conditions.append("superseded_at IS NULL" if known_at is None else f"(superseded_at IS NULL OR {later})")
    return " AND ".join(conditions)
