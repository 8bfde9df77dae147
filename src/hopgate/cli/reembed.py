"""`hopgate reembed`: change a store's embedder."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, progress, say


def command(
    embedder: Annotated[str, typer.Argument(help="The new embedder, as for hopgate embed.")],
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Embed every memory anew with another embedder, then change over; can be interrupted and run again.

    Recall goes on with the old vectors until the last new one is made.

    Example: hopgate reembed bge-small
    """
    with opened(data, dsn) as kb, progress("embedding", len(kb)) as advance:
        count = kb.reembed(embedder, progress=advance)
    print_json({"embedded": count}) if as_json else say(f"embedded {count:,} memories with {embedder}")
