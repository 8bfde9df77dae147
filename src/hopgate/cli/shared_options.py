"""The options that commands share: where the store is, which scopes, and for whom the answer is printed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from hopgate.times import moment


def _folder(path: str) -> Path:
    """Read --data; typer would make the current folder of an empty one."""
    from hopgate.store.connect import check_folder

    return check_folder(path)


def read_date(text: str) -> datetime:
    """Read a date or a time; what is none is refused with one that would do.

    Examples
    --------
    >>> read_date("2024-05-01").isoformat(), read_date("2024-05-01T12:30+02:00").isoformat()
    ('2024-05-01T00:00:00+00:00', '2024-05-01T12:30:00+02:00')
    """
    if (read := moment(text)) is None:
        raise typer.BadParameter(f"{text!r} is no date: write one like 2024-05-01, or a time like 2024-05-01T12:30")
    return read


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory of the embedded store.",
        show_default="the user's data directory",
        parser=_folder,
        metavar="PATH",
    ),
]
Dsn = Annotated[str | None, typer.Option("--dsn", help="Address of a server, postgresql://…, instead of --data.")]
Scope = Annotated[
    list[str] | None, typer.Option(help="Only what memories of this scope say; again for more.", show_default="all")
]
# More rows than any store has, and far from the end of what PostgreSQL and C count with.
MOST = 1_000_000_000
Limit = Annotated[int, typer.Option(help="How many.", min=1, max=MOST)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value for a program to read.")]
AsOf = Annotated[
    datetime | None, typer.Option(help="Only what was true on this date.", parser=read_date, metavar="DATE")
]
KnownAt = Annotated[
    datetime | None, typer.Option(help="Only what was known by this date.", parser=read_date, metavar="DATE")
]
