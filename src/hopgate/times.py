"""One rule for time: a date or time without a zone is UTC."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias, overload

from hopgate.errors import HopgateError

FARTHEST = timedelta(hours=16)
# A number of seconds above this is one of milliseconds: as seconds it is the year 5138.
_MILLISECONDS = 10**11
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


When: TypeAlias = date | str
"""A date or a time, or either as ISO text: "2024-05-01", "2024-05", "2024-05-01T12:30"."""


@overload
def utc(given: None) -> None: ...
@overload
def utc(given: When) -> datetime: ...
def utc(given: When | None) -> datetime | None:
    """Give a date or time, or its text, a zone: UTC where it has none; one that has a zone is left as it is.

    PostgreSQL knows no zone 16 hours or more from UTC, Python does: such a time is told in UTC.

    Everything that takes a time from outside passes it through here, so that neither the machine's zone nor that of the
    server's session ever decides.
    """
    if given is None:
        return None
    read = moment(given) if isinstance(given, str) else given
    if not isinstance(read, date):
        raise HopgateError(f"{given!r:.60} is no date: write one like 2024-05-01, or a time like 2024-05-01T12:30")
    given = read
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
    """Give seconds, or milliseconds, since 1970 as an ISO time in UTC."""
    return datetime.fromtimestamp(number / 1000 if abs(number) > _MILLISECONDS else number, UTC).isoformat()
