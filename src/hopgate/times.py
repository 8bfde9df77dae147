"""One rule for time: a date or time without a zone is UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import overload

from hopgate.errors import HopgateError

FARTHEST = timedelta(hours=16)
# A number of seconds above this is one of milliseconds: as seconds it is the year 5138.
_MILLISECONDS = 10**11
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


@overload
def utc(given: None) -> None: ...
@overload
def utc(given: date) -> datetime: ...
def utc(given: date | None) -> datetime | None:
    """Give a date or time its zone: UTC where it has none; one that has a zone is left as it is.

    PostgreSQL knows no zone 16 hours or more from UTC, Python does: such a time is told in UTC.

    Everything that takes a time from outside passes it through here, so that neither the machine's zone nor that of the
    server's session ever decides.

    Examples
    --------
    >>> from datetime import timedelta, timezone
    >>> print(utc(datetime(2024, 5, 1, 12)), utc(date(2024, 5, 1)), utc(None))
    2024-05-01 12:00:00+00:00 2024-05-01 00:00:00+00:00 None
    >>> print(utc(datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))))
    2024-05-01 12:00:00+02:00
    """
    if given is None:
        return None
    if not isinstance(given, date):
        # Types say so, and who writes a text in the place of a time is no fault of the program's.
        raise HopgateError(
            f"a time is a datetime, not {given!r:.60}: write datetime.fromisoformat('2024-02-01'), for example"
        )
    if not isinstance(given, datetime):
        given = datetime(given.year, given.month, given.day)
    offset = given.utcoffset()
    if offset is None:
        # A zone without an offset is as good as none.
        return given.replace(tzinfo=UTC)
    if abs(offset) < FARTHEST:
        return given
    try:
        return given.astimezone(UTC)
    except OverflowError:
        # Within a day of the first or the last moment there is, which no store takes anyway.
        return given.replace(tzinfo=UTC)


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
            return utc(date(year, month, day))
        return utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def from_epoch(number: float) -> str:
    """Give seconds, or milliseconds, since 1970 as an ISO time in UTC.

    Examples
    --------
    >>> from_epoch(1_714_557_600), from_epoch(1_714_557_600_000)
    ('2024-05-01T10:00:00+00:00', '2024-05-01T10:00:00+00:00')
    """
    return datetime.fromtimestamp(number / 1000 if abs(number) > _MILLISECONDS else number, UTC).isoformat()
