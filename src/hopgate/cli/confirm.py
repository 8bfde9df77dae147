"""What a command asks before it destroys something, and the backup that it writes first."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.errors import HopgateError
from hopgate.files import private_folder

if TYPE_CHECKING:
    from hopgate.store.store import Store

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking, as a script must.")]
Backup = Annotated[bool, typer.Option("--backup/--no-backup", help="Write a backup first.")]

BACKUPS = "backups"


def asked(action: str, *, yes: bool) -> None:
    """Ask on a terminal whether to do something; anywhere else `--yes` is needed."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise HopgateError(f"this would {action}: add --yes to do it without being asked")
    if not typer.confirm(f"This will {action}. Do it?", err=True):
        raise HopgateError("nothing was changed")


def confirmed(action: str, place: str | Path | None, *, yes: bool) -> str | Path:
    """Name the store and ask whether to do something to it; give where it is."""
    from hopgate.store.connect import located, shown

    where = located(place)
    asked(f"{action}, in {shown(where)}", yes=yes)
    return where


def write_first(store: Store, where: str | Path, command: str) -> Path | None:
    """Write a backup of a store before a command changes it; none where there is nothing to keep."""
    from hopgate.store.backup import has_memories, write_backup
    from hopgate.store.server import default_directory

    if not has_memories(store):
        return None
    folder = (where if isinstance(where, Path) else default_directory()) / BACKUPS
    private_folder(folder)
    path = folder / f"before-{command}-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.hopgate"
    write_backup(store, path)
    return path


def say_backup(path: Path | None) -> None:
    """Say where the backup is, apart from the command's own output."""
    if path is not None:
        sys.stderr.write(f"hopgate: a backup of what there was is in {path}; hopgate restore reads it\n")
