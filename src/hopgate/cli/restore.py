"""`hopgate restore`: a backup into an empty store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn


def command(
    file: Annotated[Path, typer.Argument(help="A file of hopgate backup.", metavar="FILE")],
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Load a backup into a store without memories, and compare every table with it before it counts.

    A backup of an older schema is brought up to this one. The store's own rules of
    sensitivity stay beside the backup's, and hold in what is loaded.

    Example: hopgate restore notes.hopgate --data new-store
    """
    with opened(data, dsn) as kb:
        made = kb.upkeep.restore(file)
    if as_json:
        print_json({"file": str(file), "schema": made.schema, "memories": made.memories})
    else:
        say(
            f"{file}: {counted(made.memories, 'memory')} {'is' if made.memories == 1 else 'are'} back, "
            f"{len(made.tables)} tables equal by checksum"
        )
