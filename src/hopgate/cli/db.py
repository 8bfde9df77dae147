"""`hopgate db`: the database's schema and, for an embedded one, its server."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.confirm import Backup, Yes, confirmed, say_backup, write_first
from hopgate.cli.output import place, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.store.owners_table import OwnersTable
    from hopgate.store.server import EmbeddedServer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


Memories = Annotated[
    str | None,
    typer.Option(
        help="A table of yours, such as public.notes, whose rows are memories.",
        show_default="hopgate.memories, a table of its own",
        metavar="SCHEMA.TABLE",
    ),
]


def _column(field: str, what: str) -> typer.models.OptionInfo:
    """The option that says in which column of the owner's table a field of a memory stands."""
    option = typer.Option(f"--{field}-column", help=f"Its column of {what}.", metavar="COLUMN")
    assert isinstance(option, typer.models.OptionInfo)
    return option


Content = Annotated[str | None, _column("content", "texts")]
ExternalId = Annotated[str | None, _column("external-id", "ids of yours")]
Category = Annotated[str | None, _column("category", "categories")]
Tags = Annotated[str | None, _column("tags", "tags: an array, JSON, or a text such as cat,vet")]
Keywords = Annotated[str | None, _column("keywords", "further words to be found by")]
Importance = Annotated[str | None, _column("importance", "importances from 0 to 1")]
Sensitive = Annotated[str | None, _column("sensitive", "flags of secrets: a boolean, a number or a text; NULL is one")]
Scope = Annotated[str | None, _column("scope", "scopes, such as user_id")]
Created = Annotated[str | None, _column("created", "times")]
Thread = Annotated[str | None, _column("thread", "threads, such as session_id")]
ReplyTo = Annotated[str | None, _column("reply-to", "what is answered")]
SupersededAt = Annotated[str | None, _column("superseded-at", "when a row gave way to another")]
Hide = Annotated[
    str | None, typer.Option(help="Rows that are no memories, such as 'deleted_at IS NOT NULL'.", metavar="SQL")
]
Superseded = Annotated[
    str | None, typer.Option(help="Rows that gave way, such as \"content LIKE '[SUPERSEDED]%'\".", metavar="SQL")
]
NotSensitive = Annotated[
    list[str] | None, typer.Option(help="A column that is called like a flag of secrets and is none.", metavar="COLUMN")
]


@app.command()
def upgrade(
    data: Data = None,
    dsn: Dsn = None,
    memories: Memories = None,
    content: Content = None,
    external_id: ExternalId = None,
    category: Category = None,
    tags: Tags = None,
    keywords: Keywords = None,
    importance: Importance = None,
    sensitive: Sensitive = None,
    scope: Scope = None,
    created: Created = None,
    thread: Thread = None,
    reply_to: ReplyTo = None,
    superseded_at: SupersededAt = None,
    hide: Hide = None,
    superseded: Superseded = None,
    not_sensitive: NotSensitive = None,
    vectors: Annotated[
        str | None, typer.Option("--embedding-column", help="Its column of vectors, with --embedder.", metavar="COLUMN")
    ] = None,
    embedder: Annotated[str | None, typer.Option(help="Who made these vectors.", show_default="none")] = None,
    as_json: AsJson = False,
) -> None:
    """Make hopgate's tables, in a schema of their own.

    With --memories the rows of your table are memories, now and as your programs write them. Nothing of the table is
    changed: it gets triggers, which db drop takes away again. Its columns are found by their names, or by the options.

    Example: hopgate db upgrade --dsn postgresql://me@host/notes --memories public.notes --scope-column user_id
    """
    from hopgate.store import connect, owners_table
    from hopgate.store.store import open_store

    if (vectors is None) != (embedder is None):
        raise HopgateError("say both which column holds vectors and who made them: --embedding-column and --embedder")
    columns = _columns(
        content, external_id, category, tags, keywords, importance, sensitive, scope, created, thread, reply_to,
        superseded_at,
    )  # fmt: skip
    owners = _owners(memories, columns, hide, superseded, not_sensitive, vectors)
    if isinstance(owners, owners_table.OwnersTable):
        with _address(data, dsn) as address, contextlib.closing(connect.connect(address)) as connection:
            for notice in owners_table.notices(connection, owners):
                sys.stderr.write(f"hopgate: {notice}\n")
    with open_store(place(data, dsn), upgrade=True, memories=owners) as store:
        if vectors is not None and embedder is not None:
            from hopgate.embed import embedder_from

            identity = embedder_from(embedder).identity
            store.run(lambda connection: owners_table.copy_vectors(connection, vectors, identity))
    status(data, dsn, as_json)


@app.command()
def schema(
    data: Data = None,
    dsn: Dsn = None,
    memories: Memories = None,
    content: Content = None,
    external_id: ExternalId = None,
    category: Category = None,
    tags: Tags = None,
    keywords: Keywords = None,
    importance: Importance = None,
    sensitive: Sensitive = None,
    scope: Scope = None,
    created: Created = None,
    thread: Thread = None,
    reply_to: ReplyTo = None,
    superseded_at: SupersededAt = None,
    hide: Hide = None,
    superseded: Superseded = None,
    not_sensitive: NotSensitive = None,
) -> None:
    """Print the SQL that db upgrade would run, for migrations of your own.

    Example: hopgate db schema > hopgate.sql
    """
    from hopgate.store import connect
    from hopgate.store import schema as schema_of

    columns = _columns(
        content, external_id, category, tags, keywords, importance, sensitive, scope, created, thread, reply_to,
        superseded_at,
    )  # fmt: skip
    owners = _owners(memories, columns, hide, superseded, not_sensitive, None)
    with _address(data, dsn) as address, contextlib.closing(connect.connect(address)) as connection:
        text = schema_of.sql_text(connection, owners)
    say(f"BEGIN;\n\n{text}COMMIT;")


def _columns(*named: str | None) -> dict[str, str]:
    """Which column each field of a memory stands in; in the order of the options."""
    fields = (
        "content", "external_id", "category", "tags", "expanded_keywords", "importance", "is_sensitive", "scope",
        "created_at", "thread", "reply_to", "superseded_at",
    )  # fmt: skip
    return {field: column for field, column in zip(fields, named, strict=True) if column is not None}


def _owners(
    memories: str | None,
    columns: dict[str, str],
    hide: str | None,
    superseded: str | None,
    not_sensitive: list[str] | None,
    vectors: str | None,
) -> OwnersTable | str | None:
    """The owner's table as the options say it."""
    from hopgate.store.owners_table import OwnersTable
    from hopgate.store.schema import OWN

    if memories is None or memories == OWN:
        if columns or hide or superseded or not_sensitive or vectors:
            raise HopgateError("columns and conditions are those of a table of yours: name it with --memories")
        return memories
    return OwnersTable(memories, columns, hide, superseded, tuple(not_sensitive or ()), vectors)


@app.command()
def status(data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Say which schema the database has and which one this hopgate needs.

    Example: hopgate db status --json
    """
    from hopgate.store import connect, owners_table
    from hopgate.store.schema import status as schema_status

    with _address(data, dsn) as address, contextlib.closing(connect.connect(address)) as connection:
        found = schema_status(connection)
        table = owners_table.followed(connection)
        version = connection.info.server_version
    if as_json:
        print_json(
            {
                "current": found.current,
                "wanted": found.wanted,
                "state": found.state,
                "follows": table,
                "server_version": version,
            }
        )
        return
    advice = {
        "absent": "run hopgate db upgrade to create it",
        "current": "nothing to do",
        "other": "export with the version that made it, and ingest here",
    }[found.state]
    say(f"schema {found.current or 'none'}, hopgate needs {found.wanted}: {advice}")
    if table is not None:
        say(f"the rows of {table} are memories")


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
    from hopgate.cli.output import opened

    with opened(data, dsn) as kb:
        say(kb.language(name))


@app.command()
def drop(data: Data = None, dsn: Dsn = None, yes: Yes = False, backup: Backup = True) -> None:
    """Take away all that hopgate made in a database, its memories included; a table of yours stays as it was.

    A backup is written first.

    Example: hopgate db drop --yes
    """
    from hopgate.store import connect
    from hopgate.store import schema as schema_of
    from hopgate.store.store import Store

    where = confirmed("take away all of hopgate's tables, memories included", place(data, dsn), yes=yes)
    with _address(data, dsn) as address, connect.explained():
        if backup:
            with contextlib.closing(Store(address)) as store:
                say_backup(write_first(store, where, "drop"))
        with contextlib.closing(connect.connect(address)) as connection, connection.transaction():
            schema_of.drop(connection)
    say("nothing of hopgate's is left in the database but the extension vector")


@app.command()
def scrub(
    yes: Yes = False,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Remove what deleted and sensitive texts left on the disk, and say what cannot be reached.

    Every table is written anew and locked meanwhile; it takes as much free disk as the largest one.

    Example: hopgate db scrub --yes
    """
    from hopgate.cli.output import opened

    confirmed("write every table of hopgate's anew, each locked meanwhile", place(data, dsn), yes=yes)
    with opened(data, dsn) as kb:
        found = kb.upkeep.scrub()
    if as_json:
        print_json({"tables": found.tables, "done": list(found.done), "left": list(found.left)})
        return
    for line in found.done:
        say(f"done: {line}")
    for line in found.left:
        say(f"left: {line}")


@app.command()
def start(data: Data = None) -> None:
    """Start the embedded server and leave it running, so that each command finds it warm.

    Example: hopgate db start
    """
    from hopgate.store.server import keep

    server = _embedded(data)
    keep(server.directory, True)
    server.close()
    say(f"the server on {server.directory} runs until hopgate db stop")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the embedded server that `hopgate db start` left running.

    Example: hopgate db stop
    """
    from hopgate.store import server

    directory = _directory(data)
    if not directory.is_dir():
        raise HopgateError(f"there is no data directory {directory}: give the one of hopgate db start with --data")
    server.keep(directory, False)
    if not server.stop(directory):
        raise HopgateError(f"another process uses the server on {directory}: it stops when that one ends")
    say(f"the server on {directory} is stopped")


def _directory(data: Path | None) -> Path:
    from hopgate.store.connect import located, shown

    where = located(data)
    if isinstance(where, str):
        raise HopgateError(f"{shown(where)} is not started or stopped from here: name a folder with --data")
    return where


def _embedded(data: Path | None) -> EmbeddedServer:
    from hopgate.store import lingering
    from hopgate.store.server import EmbeddedServer

    return EmbeddedServer(_directory(data), lingering.seconds(lingering.COMMAND_S))


@contextlib.contextmanager
def _address(data: Path | None, dsn: str | None) -> Iterator[str]:
    """The database's address without touching its schema, which may be of any version."""
    from hopgate.store.connect import located
    from hopgate.store.server import EmbeddedServer

    where = located(place(data, dsn))
    if isinstance(where, str):
        yield where
        return
    server = EmbeddedServer(where)
    try:
        yield server.dsn
    finally:
        server.close()
