"""`hopgate reembed`: change a store's embedder."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.confirm import Backup, Yes, confirmed, say_backup, write_first
from hopgate.cli.output import counted, opened, place, print_json, progress, say
from hopgate.cli.shared_options import AsJson, Data, Dsn


def command(
    embedder: Annotated[str, typer.Argument(help="The new embedder, as for hopgate embed.")],
    data: Data = None,
    dsn: Dsn = None,
    yes: Yes = False,
    backup: Backup = True,
    as_json: AsJson = False,
) -> None:
    """Embed every memory anew with another embedder, then change over; can be interrupted and run again.

    Recall goes on with the old vectors until the last new one is made. A backup is written first.

    Example: hopgate reembed bge-small
    """
    where = confirmed(f"replace all vectors by those of {embedder}", place(data, dsn), yes=yes)
    with opened(data, dsn) as kb, progress("embedding", len(kb)) as advance:
        if backup and kb.embedder_name():
            say_backup(write_first(kb.store, where, "reembed"))
        count = kb.reembed(embedder, progress=advance)
    print_json({"embedded": count}) if as_json else say(f"embedded {counted(count, 'memory')} with {embedder}")
