"""`hopgate delete`: memories away, with what only they supported."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.confirm import Backup, Yes, confirmed, say_backup, write_first
from hopgate.cli.output import counted, opened, place, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

# So many may be typed by hand; more come out of a list, and a wrong list is a typo that destroys.
MANY = 10

Ids = Annotated[list[str], typer.Argument(help="The memories' _id.", metavar="ID…")]


def command(
    ids: Ids, data: Data = None, dsn: Dsn = None, yes: Yes = False, backup: Backup = True, as_json: AsJson = False
) -> None:
    """Delete memories, and from the graph exactly what only they supported; more than ten only when told so twice.

    Example: hopgate delete m17 m18
    """
    many = len(ids) > MANY
    where = confirmed(f"delete {counted(len(ids), 'memory')}", place(data, dsn), yes=yes) if many else None
    with opened(data, dsn) as kb:
        if where is not None and backup:
            say_backup(write_first(kb.store, where, "delete"))
        deleted = kb.delete(ids)
    print_json({"deleted": deleted}) if as_json else say(f"deleted {counted(deleted, 'memory')}")
