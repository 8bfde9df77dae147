"""`hopgate delete`: memories away, with what only they supported."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, say

Ids = Annotated[list[str], typer.Argument(help="The memories' _id.", metavar="ID…")]


def command(ids: Ids, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Delete memories, and from the graph exactly what only they supported.

    Example: hopgate delete m17 m18
    """
    with opened(data, dsn) as kb:
        deleted = kb.delete(ids)
    print_json({"deleted": deleted}) if as_json else say(f"deleted {deleted:,} memories")
