"""`hopgate backup`: the whole store in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn


def command(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.", metavar="FILE")],
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Write memories, vectors, graph and settings as they are at one moment into one file, and read it back.

    Sensitive memories are among them: the file is readable by its owner alone.

    Example: hopgate backup notes.hopgate
    """
    with opened(data, dsn) as kb:
        made = kb.upkeep.backup(file)
    rows = sum(table.rows for table in made.tables.values())
    if as_json:
        print_json({"file": str(file), "schema": made.schema, "memories": made.memories, "rows": rows})
    else:
        say(
            f"{file}: {counted(made.memories, 'memory')}, {counted(rows, 'row')} of "
            f"{len(made.tables)} tables, schema {made.schema}"
        )
