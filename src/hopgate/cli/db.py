"""`hopgate db`: the database's schema and, for an embedded one, its server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.common import AsJson, Data, Dsn, place, print_json, say
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.store.server.process import EmbeddedServer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command()
def upgrade(data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Bring the schema up to this hopgate; an existing memories table is added to, never rewritten.

    Example: hopgate db upgrade --dsn postgresql://me@host/notes
    """
    from hopgate.store.store import open_store

    with open_store(place(data, dsn), upgrade=True):
        pass
    status(data, dsn, as_json)


@app.command()
def status(data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Say which schema the database has and which one this hopgate wants.

    Example: hopgate db status --json
    """
    from hopgate.store import connect
    from hopgate.store.schema import migrate

    with _address(data, dsn) as address, contextlib.closing(connect.connect(address)) as connection:
        found = migrate.status(connection)
        version = connection.info.server_version
    if as_json:
        values = {"current": found.current, "head": found.head, "state": found.state, "server_version": version}
        print_json(values)
        return
    advice = {
        "absent": "run hopgate db upgrade to create it",
        "behind": "run hopgate db upgrade",
        "current": "nothing to do",
        "newer": "update hopgate",
    }[found.state]
    say(f"schema {found.current or 'none'}, hopgate wants {found.head}: {advice}")


@app.command()
def language(
    name: Annotated[
        str | None, typer.Argument(help="A text-search configuration of PostgreSQL, or a code such as de.")
    ] = None,
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Say in which language memories are searched that name none, or change it.

    Example: hopgate db language german
    """
    from hopgate.cli.common import opened

    with opened(data, dsn) as kb:
        say(kb.language(name))


@app.command()
def downgrade(
    revision: Annotated[str, typer.Argument(help="The schema to go back to, such as 0001, or base for none.")],
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Go back to an earlier schema; memories stay, what it had no place for is lost.

    Example: hopgate db downgrade 0001
    """
    from hopgate.store import connect
    from hopgate.store.schema import migrate

    with _address(data, dsn) as address, connect.explained():
        migrate.downgrade(address, revision)
    say(f"the schema is back at {revision}")


@app.command()
def start(data: Data = None) -> None:
    """Start the embedded server and leave it running, so that each command finds it warm.

    Example: hopgate db start
    """
    from hopgate.store.server import process

    server = _embedded(data)
    process.keep(server.directory, True)
    server.close()
    say(f"the server on {server.directory} runs until hopgate db stop")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the embedded server that `hopgate db start` left running.

    Example: hopgate db stop
    """
    from hopgate.store.server import process

    directory = _directory(data)
    if not directory.is_dir():
        raise HopgateError(f"there is no data directory {directory}: give the one of hopgate db start with --data")
    process.keep(directory, False)
    if not process.stop(directory):
        raise HopgateError(f"another process uses the server on {directory}: it stops when that one ends")
    say(f"the server on {directory} is stopped")


def _directory(data: Path | None) -> Path:
    from hopgate.store.server import process
    from hopgate.store.store import ENVIRONMENT

    named = data or os.environ.get(ENVIRONMENT)
    return Path(named).expanduser().absolute() if named else process.default_directory()


def _embedded(data: Path | None) -> EmbeddedServer:
    from hopgate.store.server import lingering
    from hopgate.store.server.process import EmbeddedServer

    return EmbeddedServer(_directory(data), lingering.seconds(lingering.COMMAND_S))


@contextlib.contextmanager
def _address(data: Path | None, dsn: str | None) -> Iterator[str]:
    """The database's address without touching its schema, which may be of any version."""
    from hopgate.store.store import ENVIRONMENT, is_address

    named = place(data, dsn) or os.environ.get(ENVIRONMENT)
    if named is not None and is_address(str(named)):
        yield str(named)
        return
    server = _embedded(data)
    try:
        yield server.dsn
    finally:
        server.close()
