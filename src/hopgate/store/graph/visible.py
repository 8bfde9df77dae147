"""What the graph shows at a time: conditions on edges and memories, and their parameters."""

from __future__ import annotations

from datetime import datetime

from hopgate.times import utc


def visible_edges(as_of: datetime | None, known_at: datetime | None) -> str:
    """The condition on `concept_edges`; its parameters are those of `time_parameters`.

    Without `known_at` what is known now; without `as_of` whatever its time of validity. A missing end is no end.
    An edge holds at its first moment and no longer at its last; one that is a point (valid from = valid to) holds at
    its instant.

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
        conditions.append("(valid_to IS NULL OR valid_to > %(as_of)s OR valid_from = %(as_of)s)")
    return " AND ".join(conditions)


def visible_memories(known_at: datetime | None, *, superseded: bool) -> str:
    """The condition on `memories`; its parameters are those of `time_parameters`. Sensitive ones are never visible.

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


def time_parameters(as_of: datetime | None, known_at: datetime | None) -> dict[str, datetime | None]:
    """The parameters of the conditions above; a time without a zone is UTC, whatever the zone of the session.

    Examples
    --------
    >>> time_parameters(datetime(2024, 5, 1), None)
    {'as_of': datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc), 'known_at': None}
    """
    return {"as_of": utc(as_of), "known_at": utc(known_at)}
