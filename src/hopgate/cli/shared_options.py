"""The options that commands share: where the store is, which scopes, and for whom the answer is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _folder(path: str) -> Path:
    """Read --data; typer would make the current folder of an empty one."""
    from hopgate.store.address import check_folder

    return check_folder(path)


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
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value for a program to read.")]
