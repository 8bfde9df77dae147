"""`hopgate add`, `ingest`, `show`, `delete`, `sensitive`, `export`, `watch`, `status`: memories in and out."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from hopgate.cli import output, parameters
from hopgate.cli.output import counted, json_line, print_json, progress, say
from hopgate.cli.parameters import Date, Where, as_json, click_options, count, flag, on_store, path, several
from hopgate.errors import HopgateError
from hopgate.files import private_opener
from hopgate.options import options_of
from hopgate.redact import redacted
from hopgate.sources.source import ReadOptions

if TYPE_CHECKING:
    from hopgate.graph.inspect.edges import MemoryDetail
    from hopgate.kb import KnowledgeBase
    from hopgate.sources.read import FoundSource
    from hopgate.upkeep import CaughtUp

# So many memories are shown by --dry-run.
SHOWN = 5
# So many are deleted without asking; more come out of a list, and a wrong list is a typo that destroys.
MANY = 10
TEXTS = ("jsonl", "csv", "triples", "statements", "graphml", "node-link")
FILES = ("parquet", "sqlite", "obsidian")

later = click.option("--later", is_flag=True, help="Neither embed nor link now; hopgate watch --once does it.")
ids = click.argument("ids", help="The memories' _id.", nargs=-1, required=True, metavar="ID…")
form = click.option(
    "--as",
    "form",
    help="What it is: jsonl, markdown, obsidian, text, csv, json, chatgpt, claude, slack, whatsapp, telegram, mbox, "
    "parquet or sqlite.",
    show_default="recognised",
)
fields = click.option(
    "--map",
    "fields",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column holds a memory's field; again for more.",
)


@click.command("add")
@click.argument("text", help="What to remember.")
@click.option("--id", "key", help="The memory's id.", show_default="made of scope, title and text")
@click.option("--title", default="", help="Its title.")
@click.option("--scope", help="The session, user or conversation it belongs to.")
@several("--tags", "A tag, or several parted by commas; again for more.")
@click.option("--category", help="Its category.")
@click.option("--importance", type=float, default=0.5, help="A prior between 0 and 1.")
@click.option("--at", type=Date(), help="When it became known.", show_default="now")
@click.option("--thread", help="The conversation it is part of.")
@click.option("--reply-to", help="The id of the memory that it answers.")
@flag("--sensitive", "Never embed, extract or send it.", "is_sensitive")
@later
@parameters.extractor
@on_store
@as_json
def add(
    where: Where,
    text: str,
    key: str | None,
    tags: Sequence[str],
    at: datetime | None,
    later: bool,
    extractor: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Remember one text: it is stored, embedded and linked at once.

    The same text in the same scope is the same memory: it is brought up to date, not doubled.

    Example: hopgate add "The NAS moved to the cellar." --tags homelab --at 2024-03-01
    """
    from hopgate.memory import Memory

    if not text.strip():
        raise HopgateError("there is nothing to remember: give a text")
    several = tuple(tag.strip() for part in tags for tag in part.split(",") if tag.strip())
    with where.opened() as kb:
        key = key or f"add#{kb.made_id(given['scope'], given['title'], text)}"
        written = kb.add(Memory(key, text, tags=several, created_at=at, **given))
        if not as_json:
            say(f"{'added' if written.added else 'updated'} {key}")
            _say_kept(written.kept_sensitive)
        done = None if later else link(kb, [key], extractor, quiet=as_json)
        if as_json:
            made = {"embedded": done.embedded, "linked": done.linked} if done else {}
            print_json({"_id": key, "new": bool(written.added), **made})


@click.command("ingest")
@click.argument(
    "paths",
    help="Files, folders, archives or a PostgreSQL address; - is standard input.",
    nargs=-1,
    required=True,
    metavar="PATH…",
)
@form
@fields
@click_options(options_of(ReadOptions))
@several("--sensitive-tag", "A tag that makes a memory sensitive, from now on; again for more.")
@several("--sensitive-match", "A regular expression that makes a memory sensitive, from now on; again for more.")
@flag("--dry-run", "Show the first five memories and store nothing.")
@later
@parameters.extractor
@on_store
@as_json
def ingest(
    where: Where,
    paths: Sequence[str],
    form: str | None,
    fields: Sequence[str],
    sensitive_tag: Sequence[str],
    sensitive_match: Sequence[str],
    dry_run: bool,
    later: bool,
    extractor: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Read memories from files, folders, exports or a query, each all or nothing, and embed and link them.

    What a path is, is recognised and said. A memory that is known already is brought up to date, not doubled. A field
    that is not a memory's is refused by name. Sensitive memories are stored and never embedded nor linked; rules of
    sensitivity are kept in the store, and count for all that comes later.

    Example: hopgate ingest notes/ chatgpt-export.zip
    """
    from hopgate.sensitivity import SensitivityRules
    from hopgate.sources.read import read_source
    from hopgate.sources.tables import parse_map

    options = parameters.made(ReadOptions, given, fields=parse_map(fields))
    rules = SensitivityRules(tuple(sensitive_tag), tuple(sensitive_match))
    with where.opened() as kb:
        if dry_run:
            rules = kb.sensitivity() | rules
            for path in paths:
                _show_first(path, read_source(path, form, kb.keyed(options)), rules.applied, as_json)
            return
        if rules:
            kb.add_sensitivity(rules, source="hopgate ingest")
        for path in paths:
            _load(kb, path, read_source(path, form, kb.keyed(options)), as_json)
        if not later:
            # All that waits: what an ingest that was killed left is finished by the next.
            link(kb, None, extractor, quiet=as_json)


def _load(kb: KnowledgeBase, path: str, source: FoundSource, as_json: bool) -> None:
    with progress(f"reading {redacted(path)}") as advance:
        written = kb.load(source.memories, progress=advance)
    output.show(
        as_json,
        {"path": redacted(path), "source": source.name, "rows": written.rows, "added": written.added},
        f"{redacted(path)}: {source.title}, {counted(written.rows, 'memory')}, {written.added:,} of them new",
    )
    if not as_json:
        _say_kept(written.kept_sensitive)


def _show_first(path: str, source: FoundSource, applied: Callable[[Any], Any], as_json: bool) -> None:
    """The first memories as they would be stored; what is sensitive is named and not shown."""
    from hopgate.corpus import to_record

    memories = list(itertools.islice(applied(source.memories), SHOWN))
    records = [to_record(memory) for memory in memories]
    for record, memory in zip(records, memories, strict=True):
        if memory.is_sensitive:
            record["text"] = "(sensitive)"
            record.pop("title", None)
    output.show(
        as_json,
        {"path": redacted(path), "source": source.name, "memories": records},
        f"{redacted(path)}: {source.title}; the first {counted(len(records), 'memory')}, nothing is stored",
    )
    if not as_json:
        for record in records:
            print_json(record)


@click.command("show")
@click.argument("key", help="The memory's id.", metavar="ID")
@count("--limit", "How many edges and neighbours.", 10)
@on_store
@as_json
def show(where: Where, key: str, limit: int, as_json: bool) -> None:
    """Show a memory: its text, what was extracted, its edges and neighbours, and what superseded it.

    Example: hopgate show m1
    """
    with where.opened() as kb:
        detail = kb.graph.memory(key, limit=limit)
    output.show(as_json, detail, _memory_lines(detail))


def _memory_lines(detail: MemoryDetail) -> Iterator[str]:
    memory = detail.memory
    yield memory.external_id + (f"  {memory.title}" if memory.title else "")
    yield memory.text
    names = ("tags", "category", "expanded_keywords", "scope", "thread", "reply_to", "language")
    values = {name: getattr(memory, name) for name in names}
    values |= {"created_at": memory.created_at and memory.created_at.isoformat(), "importance": memory.importance}
    for name, value in values.items():
        if value:
            yield f"  {name:<18}{', '.join(value) if isinstance(value, tuple) else value}"
    if memory.is_sensitive:
        yield "  sensitive: never embedded, extracted or sent"
    if memory.superseded_at:
        by = f" by {memory.superseded_by}" if memory.superseded_by else ""
        yield f"  superseded{by} since {memory.superseded_at.isoformat()}: recall leaves it out"
        if detail.reason:
            yield f"    because {detail.reason}"
    for key in detail.supersedes:
        yield f"  supersedes {key}"
    for title, lines in (
        ("mentions", [str(mention) for mention in detail.mentions]),
        ("facts", [str(fact) for fact in detail.facts]),
        ("edges", [f"{edge.source} — {edge.relation} → {edge.target}" for edge in detail.edges]),
        ("neighbours", [f"{key} by {', '.join(names)}" for key, names in detail.neighbours]),
    ):
        for line in lines:
            yield f"  {title:<18}{line}"
    if not detail.mentions and not memory.is_sensitive:
        yield "  nothing was extracted from it yet: hopgate build"


@click.command("delete")
@ids
@parameters.yes
@parameters.backup_first
@on_store
@as_json
def delete(where: Where, ids: Sequence[str], yes: bool, backup: bool, as_json: bool) -> None:
    """Delete memories, and from the graph exactly what only they supported; more than ten only when told so twice.

    Example: hopgate delete m17 m18
    """
    many = len(ids) > MANY
    place = where.confirmed(f"delete {counted(len(ids), 'memory')}", yes=yes) if many else None
    with where.opened() as kb:
        if place is not None and backup:
            parameters.write_backup_first(kb.store, place, "delete")
        deleted = kb.delete(ids)
    output.show(as_json, {"deleted": deleted}, f"deleted {counted(deleted, 'memory')}")


@click.command("sensitive")
@ids
@flag("--undo", "Take the mark away, after saying what follows.")
@parameters.yes
@on_store
@as_json
def sensitive(where: Where, ids: Sequence[str], undo: bool, yes: bool, as_json: bool) -> None:
    """Mark memories as sensitive: their vectors, mentions, evidence and cached extractions go at once.

    They stay findable by their words, and sensitive for good: to ingest them again does not change it. --undo alone
    takes the mark away; then the next embed, build or watch gives their texts to the embedder and the extractor.

    Example: hopgate sensitive m17
    """
    with where.opened() as kb:
        if not undo:
            marked = kb.mark_sensitive(ids)
            output.show(as_json, {"marked": marked}, f"marked {counted(marked, 'memory')} as sensitive")
            return
        parameters.ask(
            f"make {counted(len(ids), 'memory')} not sensitive any more (the next embed sends their texts to "
            f"{kb.embedder_name() or 'the embedder'}, the next build gives them to the extractor, and both keep what "
            "they make of them)",
            yes=yes,
        )
        unmarked = kb.unmark_sensitive(ids)
    line = f"{counted(unmarked, 'memory')} {'is' if unmarked == 1 else 'are'} no longer sensitive"
    output.show(as_json, {"unmarked": unmarked}, line)


@click.command("export")
@click.option("--format", "form", type=click.Choice(TEXTS + FILES), default="jsonl", help="What is written.")
@path("--out", "The file to write, or the folder for obsidian.", show_default="standard output")
@on_store
def export(where: Where, form: str, out: Path | None) -> None:
    """Write every memory, or the graph, in a format that hopgate or another program reads.

    jsonl, csv, parquet and sqlite hold every memory, sensitive ones among them: a new file is readable by its owner
    alone. triples are facts and mentions for hopgate build --extractor replay, statements sentences for hopgate build
    --statements. These, graphml, node-link and obsidian hold nothing sensitive.

    Example: hopgate export --format obsidian --out vault
    """
    if form in FILES and out is None:
        raise HopgateError(f"{form} is not written to standard output: give --out")
    with where.opened() as kb:
        if form in TEXTS:
            with _stream(out) as stream:
                made = _write_text(kb, form, stream)
        else:
            assert out is not None
            made = _write_file(kb, form, out)
    if out is not None:
        say(f"wrote {made} to {out}")


@contextlib.contextmanager
def _stream(out: Path | None) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    try:
        # Every memory may be in it, sensitive ones among them.
        with open(out, "w", encoding="utf-8", newline="", opener=private_opener) as stream:
            yield stream
    except OSError as error:
        raise HopgateError(f"{out} cannot be written: {error.strerror or error}") from None


def _write_text(kb: KnowledgeBase, form: str, stream: IO[str]) -> str:
    from hopgate.corpus import to_record
    from hopgate.exports.graph import graphml, node_link
    from hopgate.exports.memories import write_csv

    if form == "jsonl":
        count = 0
        for count, memory in enumerate(kb.export(), start=1):  # noqa: B007
            stream.write(json_line(to_record(memory, dated=True)))
        return counted(count, "memory")
    if form == "csv":
        return counted(write_csv(kb.export(), stream), "memory")
    if form == "triples":
        rows = list(kb.graph.triples())
        stream.writelines(map(json_line, rows))
        return counted(len(rows), "fact or mention", "facts and mentions")
    if form == "statements":
        rows = kb.graph.statements()
        stream.writelines(map(json_line, rows))
        return counted(len(rows), "statement")
    graph = kb.graph.to_networkx()
    stream.write(graphml(graph) if form == "graphml" else json_line(node_link(graph)))
    return f"{counted(graph.number_of_nodes(), 'concept')} and {counted(graph.number_of_edges(), 'edge')}"


def _write_file(kb: KnowledgeBase, form: str, out: Path) -> str:
    from hopgate.exports.memories import write_parquet, write_vault
    from hopgate.store.sqlite import create

    if form == "parquet":
        return counted(write_parquet(kb.export(), out), "memory")
    if form == "sqlite":
        return counted(create(out, kb.export()), "memory")
    concepts, count = write_vault(out, kb.export(), kb.graph.pages(), kb.graph.mentions())
    return f"{counted(concepts, 'concept')} and {counted(count, 'memory')}"


@click.command("watch")
@flag("--once", "Do what waits now, and end.")
@parameters.extractor
@on_store
@as_json
def watch(where: Where, once: bool, extractor: str | None, as_json: bool) -> None:
    """Embed and link new memories as they come into the table, whoever writes them, until interrupted.

    The table notifies (LISTEN/NOTIFY), so that nothing is asked for in vain, and whoever writes never waits. Rules of
    sensitivity are applied before anything is embedded.

    Example: hopgate watch --dsn postgresql://me@localhost/notes
    """
    with where.opened() as kb:
        if not once and not as_json:
            say("watching for new memories; Ctrl-C ends it")
        for done in kb.upkeep.watch(extractor=extractor, wait=0 if once else None):
            output.show(as_json, done, _done_lines(done))


@click.command("status")
@on_store
@as_json
def status(where: Where, as_json: bool) -> None:
    """Say how many memories there are, what waits to be embedded or linked, and with what settings recall works.

    Example: hopgate status
    """
    with where.opened() as kb:
        state = kb.upkeep.status() | {"settings": str(kb.settings())}
    output.show(as_json, state, _status_lines(state))


def _status_lines(state: dict[str, Any]) -> Iterator[str]:
    yield (
        f"memories      {state['memories']:,}, of which {state['sensitive']:,} are sensitive and "
        f"{state['superseded']:,} superseded"
    )
    yield f"vectors       {state['pending_vectors']:,} pending; embedder {state['embedder'] or 'not chosen yet'}"
    built = "built" if state["graph_built"] else "not built: hopgate build"
    failed = f", {state['failed_graph']:,} failed" if state["failed_graph"] else ""
    made_by = state["extractor"] or "none yet"
    yield f"graph         {state['pending_graph']:,} pending{failed}; {built}; extractor {made_by}"
    if state["pgvector"]:
        yield f"server        {state['pgvector']}"
    for kind, rules in state["sensitivity"].items():
        if rules:
            yield f"sensitive by  {kind}: {', '.join(rules)}"
    yield f"settings      {state['settings']}"
    for name, value in state["store_settings"].items():
        yield f"  {name:<12}{value}"


def link(kb: KnowledgeBase, ids: Sequence[str] | None, extractor: str | None, *, quiet: bool) -> CaughtUp:
    """Embed and link memories, by default all that wait, and say how many."""
    with progress("embedding", kb.pending_vectors()) as advance:
        done = kb.upkeep.catch_up(ids, extractor=extractor, progress=advance)
    if not quiet:
        for line in _done_lines(done):
            say(line)
    return done


def _done_lines(done: CaughtUp) -> Iterator[str]:
    """What was embedded and linked, and what waits for a model."""
    if done.embedded or done.linked:
        yield f"embedded {counted(done.embedded, 'memory')}, linked {done.linked:,}"
    if done.left:
        yield f"not linked: {done.left} made this graph; run hopgate build --extractor {done.left} with its model"


def _say_kept(count: int) -> None:
    """Say that memories came as open ones and are sensitive still."""
    if count:
        say(f"{count:,} of them stay sensitive, as they were marked: hopgate sensitive --undo ID takes that away")
