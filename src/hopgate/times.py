"""Dates as extractors tell them, as precise as they were said, to moments."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def moment(text: str | None) -> datetime | None:
    """Read an ISO date, month, year or time as the moment at which it begins; none for what is not a date.

    Intervals are half-open: something until 2024-03 ends where something from 2024-03 begins.

    Examples
    --------
    >>> print(moment("2024-03"), moment("2024"), moment("last spring"))
    2024-03-01 00:00:00+00:00 2024-01-01 00:00:00+00:00 None
    """
    if not text:
        return None
    partial = _PARTIAL.fullmatch(text.strip())
    try:
        if partial:
            year, month, day = (int(part or 1) for part in partial.groups())
            return datetime(year, month, day, tzinfo=UTC)
        told = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return told if told.tzinfo else told.replace(tzinfo=UTC)
