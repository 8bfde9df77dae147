"""`hopgate db`, `backup`, `backfill`, `embed`, `sync`, `cache`, `plugins`, …: the store and what this machine has."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import parameters
from hopgate.cli.graph import extractor_options, make_extractor
from hopgate.cli.memories import fields, form
from hopgate.cli.output import Shown, counted, progress, progress_line, say
from hopgate.cli.parameters import (
    PATH,
    Location,
    click_options,
    count,
    flag,
    on_store,
    printed,
    with_new_store,
    with_store,
)
from hopgate.errors import HopgateError
from hopgate.scale.engine import Engine
from hopgate.sources.source import ReadOptions
from hopgate.sources.tables import parse_map
from hopgate.store import connect, owners_table, server
from hopgate.store import schema as schema_of
from hopgate.store.owners_table import OwnersTable
from hopgate.store.store import open_store

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.scale.backfill import Backfilled

# So many rejected rows are shown.
SHOWN = 20
# As a file's columns are mapped -> as a table's are.
IN_TABLE = {"text": "content", "_id": "external_id"}
ADVICE = {
    "absent": "run hopgate db upgrade to create it",
    "current": "nothing to do",
    "other": "export with the version that made it, and ingest here",
}

embedder = click.option(
    "--embedder",
    help="bge-small, model2vec:NAME_OR_PATH, voyage:MODEL, openai:MODEL@URL or another of the guide.",
    show_default="the store's own, HOPGATE_EMBEDDER or bge-small",
)


@click.command("embed", epilog="Example: hopgate embed --embedder sentence-transformers:BAAI/bge-large-en-v1.5")
@embedder
@flag("--change", "Replace all vectors by those of --embedder, then change over to it.")
@parameters.yes
@parameters.backup_first
@with_store
def embed(kb: KnowledgeBase, embedder: str | None, change: bool, yes: bool, backup: bool) -> Shown:
    """Embed the memories that have no vector yet; can be interrupted and run again.

    With --change every memory is embedded anew with another embedder. Recall goes on with the old vectors until the
    last new one is made. A backup is written first.
    """
    if not change:
        with progress("embedding", kb.pending_vectors()) as advance:
            count = kb.embed(embedder, progress=advance)
        return {"embedded": count}, f"embedded {counted(count, 'memory')}"
    if embedder is None:
        raise HopgateError("--change needs the new embedder: name it with --embedder")
    parameters.ask(f"replace all vectors by those of {embedder}", yes=yes, store=kb.store)
    if backup and kb.embedder_name():
        parameters.back_up(kb.store, "embed")
    with progress("embedding", len(kb)) as advance:
        count = kb.reembed(embedder, progress=advance)
    return {"embedded": count}, f"embedded {counted(count, 'memory')} with {embedder}"


@click.command(
    "backfill",
    epilog="Example: hopgate backfill 'shards/*.parquet' --engine processes --workers 8",
)
@parameters.arguments(
    "sources", "JSON lines or Parquet as files, globs or folders, or a PostgreSQL address.", "SOURCE…"
)
@click_options(Engine)
@form
@fields
@click_options(ReadOptions, only=("query", "scope", "keep_unknown"))
@embedder
@extractor_options
@count("--batch", "Memories that become visible together.", 512)
@flag("--rows-only", "Rows and vectors; hopgate build makes the graph.")
@flag("--rebuild", "Bring all names together anew at the end.")
@with_new_store
def backfill(kb: KnowledgeBase, sources: Sequence[str], fields: Sequence[str], rows_only: bool, **given: Any) -> Shown:
    """Bring shards of many memories in, embedded and linked; run again, it goes on where it stopped.

    A batch is visible whole or not at all. A memory is there once, by its id and what it says, however often this is
    run and by however many at once. Rows that no memory can be made of are listed with their reason, and the others go
    on. Sensitive memories are stored and leave this process for nobody. The graph is built after the last row.
    """
    engine = parameters.made(Engine, given)
    options = parameters.made(ReadOptions, given, fields=parse_map(fields))
    extractor, build = make_extractor(kb, given), not rows_only
    with progress_line() as show:
        done = kb.backfill(
            *sources, engine=engine, options=options, extractor=extractor, build=build, show=show, **given
        )
    return done, _backfill_lines(done)


def _backfill_lines(done: Backfilled) -> Iterator[str]:
    yield str(done)
    for stage, seconds in done.stages.items():
        yield f"  {stage}: {seconds:,.1f} s"
    for row in done.rejected[:SHOWN]:
        yield f"{row.source}, {row.place}: {row.reason} (in the stage {row.stage})"
    if len(done.rejected) > SHOWN:
        yield f"and {counted(len(done.rejected) - SHOWN, 'row')} more: --json lists them all"


@click.command("backup", epilog="Example: hopgate backup notes.hopgate")
@click.argument("file", help="The file to write; it must not exist.", type=PATH)
@with_store
def backup(kb: KnowledgeBase, file: Path) -> Shown:
    """Write memories, vectors, graph and settings as they are at one moment into one file, and read it back.

    Sensitive memories are among them: the file is readable by its owner alone.
    """
    made = kb.upkeep.backup(file)
    rows = sum(table.rows for table in made.tables.values())
    tables = f"{counted(rows, 'row')} of {len(made.tables)} tables, schema {made.schema}"
    value = {"file": str(file), "schema": made.schema, "memories": made.memories, "rows": rows}
    return value, f"{file}: {counted(made.memories, 'memory')}, {tables}"


@click.command("restore", epilog="Example: hopgate restore notes.hopgate --data new-store")
@click.argument("file", help="A file of hopgate backup.", type=PATH)
@with_new_store
def restore(kb: KnowledgeBase, file: Path) -> Shown:
    """Load a backup into a store without memories, and compare every table with it before it counts.

    The store's own rules of sensitivity stay beside the backup's, and hold in what is loaded.
    """
    made = kb.upkeep.restore(file)
    back = f"{counted(made.memories, 'memory')} {'is' if made.memories == 1 else 'are'} back"
    value = {"file": str(file), "schema": made.schema, "memories": made.memories}
    return value, f"{file}: {back}, {len(made.tables)} tables equal by checksum"


@click.command("sync", epilog="Example: hopgate sync notes.sqlite")
@click.argument("file", help="A SQLite file of memories.", type=click.Path(path_type=Path))
@with_store
def sync(kb: KnowledgeBase, file: Path) -> Shown:
    """Bring the store and a SQLite file in step, both ways; sensitive memories never move.

    What is new, changed, deleted or marked sensitive on one side becomes so on the other; the file remembers what both
    had the last time. What both changed is as the store has it. Vectors and the graph stay in the store.
    """
    synced = kb.sync(file)
    kb.upkeep.catch_up()
    return synced, str(synced)


cache = click.Group("cache", help="What is kept on disk beside stores: embeddings and models.")


@cache.command("info", epilog="Example: hopgate cache info")
@printed
def info() -> Shown:
    """Say where the cache is and how much it holds: vectors under digests, never a text."""
    from hopgate.embed import EmbeddingCache

    held = EmbeddingCache.default().info()
    lines = [f"{held.path} holds {counted(held.vectors, 'vector')} in {held.bytes / 1e6:,.1f} MB."]
    lines += [f"{name} made {count:,} of them." for name, count in held.embedders.items()]
    return asdict(held), [*lines, "hopgate cache clear empties it: what is in stores stays."]


@cache.command("clear", epilog="Example: hopgate cache clear")
@parameters.yes
@printed
def clear(yes: bool) -> Shown:
    """Empty the caches; what is in stores stays."""
    from hopgate.embed import EmbeddingCache

    parameters.ask("empty the caches, which every store of this user shares", yes=yes)
    removed = EmbeddingCache.default().clear()
    return {"vectors": removed}, f"removed {counted(removed, 'vector')}"


@click.command(
    "completion", epilog="Example: hopgate completion bash > ~/.local/share/bash-completion/completions/hopgate"
)
@click.argument("shell", help="The shell.", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete hopgate's commands and options."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(context.find_root().command, {}, "hopgate", "_HOPGATE_COMPLETE").source())


@click.command("plugins", epilog="Example: hopgate plugins --json")
@printed
def plugins() -> Shown:
    """List what installed packages add: embedders, sources, extractors and re-rankers."""
    from hopgate.plugins import plugins as installed

    found = installed()
    return found, found or "no plugin is installed"


db = click.Group("db", help="The database's schema and, for an embedded one, its server.")


# Which table of the owner's holds memories, and in which columns.
owners_options = parameters.together(click_options(OwnersTable), fields)


def _owners(given: dict[str, Any]) -> OwnersTable | str | None:
    """The owner's table as the options say it, taking them."""
    columns = {IN_TABLE.get(field, field): column for field, column in parse_map(given.pop("fields")).items()}
    if given["name"] is not None and given["name"] != schema_of.OWN:
        return parameters.made(OwnersTable, given, columns=columns)
    own = given.pop("name")
    if columns or any(given.values()):
        raise HopgateError("columns and conditions are those of a table of yours: name it with --memories")
    return None if own is None else str(own)


@contextlib.contextmanager
def _connected(location: Location, *, create: bool = False) -> Iterator[Any]:
    """A connection to a database whose schema may be of any version."""
    with location.reached(create=create) as store, contextlib.closing(connect.connect(store.dsn)) as connection:
        yield connection


@db.command(
    "upgrade",
    epilog="Example: hopgate db upgrade --dsn postgresql://me@host/notes --memories public.notes --map scope=user_id",
)
@owners_options
@click.option("--embedder", help="Who made these vectors.")
@on_store
@printed
def upgrade(location: Location, embedder: str | None, **given: Any) -> Shown:
    """Make hopgate's tables, in a schema of their own.

    With --memories the rows of your table are memories, now and as your programs write them. Nothing of the table is
    changed: it gets triggers, which db drop takes away again. Its columns are found by their names, or by --map.
    """
    vectors = given["embedding"]
    if (vectors is None) != (embedder is None):
        raise HopgateError("say both which column holds vectors and who made them: --embedding-column and --embedder")
    owners = _owners(given)
    if isinstance(owners, OwnersTable):
        with _connected(location, create=True) as connection:
            for notice in owners_table.notices(connection, owners):
                sys.stderr.write(f"hopgate: {notice}\n")
    with open_store(location.place, upgrade=True, memories=owners) as store:
        if vectors is not None and embedder is not None:
            from hopgate.embed import embedder_from

            identity = embedder_from(embedder).identity
            store.run(lambda connection: owners_table.copy_vectors(connection, vectors, identity))
    return _schema_state(location)


@db.command("schema", epilog="Example: hopgate db schema > hopgate.sql")
@owners_options
@on_store
def schema(location: Location, **given: Any) -> None:
    """Print the SQL that db upgrade would run, for migrations of your own."""
    owners = _owners(given)
    with _connected(location) as connection:
        say(f"BEGIN;\n\n{schema_of.sql_text(connection, owners)}COMMIT;")


@db.command("status", epilog="Example: hopgate db status --json")
@on_store
@printed
def status(location: Location) -> Shown:
    """Say which schema the database has and which one this hopgate needs."""
    return _schema_state(location)


def _schema_state(location: Location) -> Shown:
    with _connected(location) as connection:
        found = schema_of.status(connection)
        table = owners_table.followed(connection)
        version = connection.info.server_version
    schemas = {"current": found.current, "wanted": found.wanted, "state": found.state}
    lines = [f"schema {found.current or 'none'}, hopgate needs {found.wanted}: {ADVICE[found.state]}"]
    lines += [f"the rows of {table} are memories"] if table is not None else []
    return {**schemas, "follows": table, "server_version": version}, lines


@db.command("language", epilog="Example: hopgate db language german")
@click.argument("name", help="A text-search configuration of PostgreSQL, or a code such as de.", required=False)
@with_store
def language(kb: KnowledgeBase, name: str | None) -> Shown:
    """Say in which language memories are searched that name none, or change it."""
    found = kb.language(name)
    return {"language": found}, found


@db.command("drop", epilog="Example: hopgate db drop --yes")
@parameters.yes
@parameters.backup_first
@on_store
def drop(location: Location, yes: bool, backup: bool) -> None:
    """Take away all that hopgate made in a database, its memories included; a table of yours stays as it was.

    A backup is written first.
    """
    # Before anything is started: the place may be a typo.
    place = connect.shown(connect.located(location.place))
    parameters.ask(f"take away all of hopgate's tables, memories included, in {place}", yes=yes)
    with location.reached() as store:
        if backup:
            parameters.back_up(store, "drop")
        with contextlib.closing(connect.connect(store.dsn)) as connection, connection.transaction():
            lost = schema_of.guards(connection)
            schema_of.drop(connection)
    for line in lost:
        say(f"this went with it: {line}")
    say("nothing of hopgate's is left in the database but the extension vector")


@db.command("scrub", epilog="Example: hopgate db scrub --yes")
@parameters.yes
@with_store
def scrub(kb: KnowledgeBase, yes: bool) -> Shown:
    """Remove what deleted and sensitive texts left on the disk, and say what cannot be reached.

    Every table is written anew and locked meanwhile; it takes as much free disk as the largest one.
    """
    parameters.ask("write every table of hopgate's anew, each locked meanwhile", yes=yes, store=kb.store)
    scrubbed = kb.upkeep.scrub()
    return scrubbed, [*(f"done: {line}" for line in scrubbed.done), *(f"left: {line}" for line in scrubbed.left)]


@db.command("start", epilog="Example: hopgate db start")
@on_store
def start(location: Location) -> None:
    """Start the embedded server and leave it running, so that each command finds it warm."""
    started = server.EmbeddedServer(_directory(location), server.linger_seconds(server.COMMAND_S))
    server.keep(started.directory, True)
    started.close()
    say(f"the server on {started.directory} runs until hopgate db stop")


@db.command("stop", epilog="Example: hopgate db stop")
@on_store
def stop(location: Location) -> None:
    """Stop the embedded server that `hopgate db start` left running."""
    directory = _directory(location)
    if not directory.is_dir():
        raise HopgateError(f"there is no data directory {directory}: give the one of hopgate db start with --data")
    server.keep(directory, False)
    if not server.stop(directory):
        raise HopgateError(f"another process uses the server on {directory}: it stops when that one ends")
    say(f"the server on {directory} is stopped")


def _directory(location: Location) -> Path:
    place = connect.located(location.place)
    if isinstance(place, str):
        raise HopgateError(f"{connect.shown(place)} is not started or stopped from here: name a folder with --data")
    return place
