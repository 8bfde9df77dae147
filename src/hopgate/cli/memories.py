"""`hopgate add`, `ingest`, `show`, `delete`, `sensitive`, `export`, `watch`, `status`: memories in and out."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from hopgate.cli import output, parameters
from hopgate.cli.output import Shown, counted, json_line, progress, say
from hopgate.cli.parameters import (
    PATH,
    Location,
    click_options,
    count,
    date,
    flag,
    formatted,
    on_store,
    path,
    read_text,
    several,
    with_new_store,
    with_store,
)
from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.exports.memories import write_csv, write_parquet, write_vault
from hopgate.files import private_opener
from hopgate.guard import SensitivityRules
from hopgate.jsonl import parse_json
from hopgate.memory import Memory
from hopgate.redact import redacted
from hopgate.sources.notes import written_when
from hopgate.sources.read import FoundSource
from hopgate.sources.source import ReadOptions, Rejected
from hopgate.sources.tables import parse_map
from hopgate.store.sqlite import create

if TYPE_CHECKING:
    from hopgate.graph.inspect import MemoryDetail
    from hopgate.kb import KnowledgeBase
    from hopgate.store.memories import Written
    from hopgate.upkeep import CaughtUp

# So many memories are shown by --dry-run.
SHOWN = 5
# So many are deleted without asking; more come out of a list, and a wrong list is a typo that destroys.
MANY = 10
TEXTS = ("jsonl", "csv", "triples", "statements")
NAMED = {"jsonl": ("memory",), "triples": ("fact or mention", "facts and mentions"), "statements": ("statement",)}
FILES = ("parquet", "sqlite", "obsidian")

later = flag("--later", "Neither embed nor link now; hopgate watch --once does it.")
ids = parameters.arguments("ids", "The memories' _id.", "ID…")
form = click.option(
    "--as",
    "form",
    help="What it is: jsonl, markdown, obsidian, documents, text, csv, json, chatgpt, claude, slack, whatsapp, "
    "telegram, messages, mbox, parquet or sqlite.",
    show_default="recognised",
)
fields = several("--map", "Which column holds a memory's field; again for more.", "fields", metavar="FIELD=COLUMN")


@click.command("add", epilog='Example: hopgate add "The NAS moved to the cellar." --tags homelab --at 2024-03-01')
@click.argument(
    "text",
    help='What to remember, - for standard input; or messages, [{"role": …, "content": …}, …].',
    callback=read_text,
)
@click.option("--id", "key", help="The memory's id.", show_default="made of scope, title and text")
@click.option("--title", default="", help="Its title.")
@click.option("--scope", help="The session, user or conversation it belongs to.")
@several("--tags", "A tag, or several parted by commas; again for more.")
@click.option("--category", help="Its category.")
@click.option("--importance", type=float, default=0.5, help="A prior between 0 and 1.")
@click.option("--at", type=date, help="When it became known.", show_default="now")
@click.option("--thread", help="The conversation it is part of.")
@click.option("--reply-to", help="The id of the memory that it answers.")
@flag("--sensitive", "Never embed, extract or send it.", "is_sensitive")
@later
@parameters.extractor
@with_new_store
def add(kb: KnowledgeBase, text: str, key: str | None, tags: Sequence[str], later: bool, **given: Any) -> Shown:
    """Remember a text, or the messages of a conversation: stored, embedded and linked at once.

    The same text in the same scope is the same memory: it is brought up to date, not doubled.
    """
    words = tuple(tag.strip() for part in tags for tag in part.split(",") if tag.strip())
    done = kb.remember(_messages(text) or text, id=key, tags=words, link=not later, **given)
    value: dict[str, Any] = {"_id": done.ids[0], "ids": done.ids, "new": bool(done.added)}
    value |= {} if later else {"embedded": done.embedded, "linked": done.linked}
    what = done.ids[0] if len(done.ids) == 1 else f"{done.added} of {counted(len(done.ids), 'message')}"
    lines = [f"{'added' if done.added else 'updated'} {what}", *_kept_lines(done.kept_sensitive)]
    return value, [*lines, *_done_lines(done)]


def _messages(text: str) -> list[dict[str, Any]]:
    """The messages that a text is as JSON; none where it is something else."""
    with contextlib.suppress(ValueError, HopgateError):
        rows = parse_json(text)
        if isinstance(rows, list) and all(isinstance(row, dict) and "role" in row for row in rows):
            return rows
    return []


@click.command("ingest", epilog="Example: hopgate ingest notes/ chatgpt-export.zip")
@parameters.arguments("paths", "Files, folders, archives or a PostgreSQL address; - is standard input.", "PATH…")
@form
@fields
@click_options(ReadOptions)
@several("--sensitive-tag", "A tag that makes a memory sensitive, from now on; again for more.")
@several("--sensitive-match", "A regular expression that makes a memory sensitive, from now on; again for more.")
@flag("--dry-run", "Show the first five memories and store nothing.")
@flag("--prune", "Delete the notes that came from this folder and are there no more.")
@later
@parameters.extractor
@on_store
@formatted
def ingest(
    location: Location,
    paths: Sequence[str],
    form: str | None,
    dry_run: bool,
    prune: bool,
    later: bool,
    extractor: str | None,
    **given: Any,
) -> None:
    """Read memories from files, folders, exports or a query, each all or nothing, and embed and link them.

    What a path is, is recognised and said. A memory that is known already is brought up to date, not doubled. A field
    that is not a memory's is refused by name. Of a folder of notes, a mailbox or an export of chats, what cannot be
    read is set aside, and so is one of several sources; it is listed at the end, and the exit status is 1. Sensitive
    memories are stored and never embedded nor linked; rules of sensitivity are kept in the store, and count for all
    that comes later.
    """
    options = parameters.made(ReadOptions, given, fields=parse_map(given["fields"]))
    rejected: list[Rejected] = []
    rules = SensitivityRules(given["sensitive_tag"], given["sensitive_match"])
    with location.opened(create=True) as kb:
        if rules and not dry_run:
            kb.add_sensitivity(rules, source="hopgate ingest")
        for path in paths:
            try:
                source = kb.source(path, form, options)
                if dry_run:
                    _show_first(path, source, (kb.sensitivity() | rules).applied(source.memories))
                else:
                    with progress(f"reading {redacted(path)}") as advance:
                        written = kb.ingest(source, prune=prune, progress=advance)
                    output.show(*_read_lines(redacted(path), source, written))
                rejected += source.rejected
            except HopgateError as error:
                # Of several sources the others are read.
                if options.strict or len(paths) == 1:
                    raise
                rejected.append(Rejected(redacted(path), str(error)))
        if not (dry_run or later):
            # All that waits: what an ingest that was killed left is finished by the next.
            with progress("embedding", kb.pending_vectors()) as advance:
                done = kb.upkeep.catch_up(extractor=extractor, progress=advance)
            _say_besides(_done_lines(done))
    if rejected:
        _say_besides([f"set aside, {counted(len(rejected), 'item')}:", *(f"  {item}" for item in rejected)])
        sys.exit(1)


def _say_besides(lines: Iterable[str]) -> None:
    """Print lines for a person, of which JSON has nothing."""
    for line in () if output.chosen_format() == "json" else lines:
        say(line)


def _read_lines(path: str, source: FoundSource, written: Written) -> tuple[dict[str, Any], list[str]]:
    """What came of a source."""
    counts = {"rows": written.rows, "added": written.added, "pruned": written.pruned, "rejected": written.rejected}
    read = f"{path}: {source.title}, {counted(written.rows, 'memory')}, {written.added:,} of them new"
    read += f", {written.pruned:,} gone" if written.pruned else ""
    return {"path": path, "source": source.name, **counts}, [read, *_kept_lines(written.kept_sensitive)]


def _show_first(path: str, source: FoundSource, memories: Iterable[Memory]) -> None:
    """The first memories as they would be stored; what is sensitive is named and not shown."""
    records = []
    for memory in itertools.islice(memories, SHOWN):
        record = to_record(memory)
        if memory.is_sensitive:
            record["text"] = "(sensitive)"
            record.pop("title", None)
        records.append(record)
    first = f"{redacted(path)}: {source.title}; the first {counted(len(records), 'memory')}, nothing is stored"
    output.show(
        {"path": redacted(path), "source": source.name, "memories": records},
        [first, *(json_line(record).rstrip() for record in records)],
    )


@click.command("show", epilog="Example: hopgate show m1")
@click.argument("key", help="The memory's id.", metavar="ID")
@count("--limit", "How many edges and related memories.", 10)
@with_store
def show(kb: KnowledgeBase, key: str, limit: int) -> Shown:
    """Show a memory: its text, what was extracted, its edges, memories that share its concepts, what superseded it."""
    detail = kb.graph.memory(key, limit=limit)
    return detail, _memory_lines(detail)


def _memory_lines(detail: MemoryDetail) -> Iterator[str]:
    memory = detail.memory
    yield memory.external_id + (f"  {memory.title}" if memory.title else "")
    yield memory.text
    names = ("tags", "category", "expanded_keywords", "scope", "thread", "reply_to", "language", "created_at")
    yield from (f"  {line}" for line in output.pairs({name: getattr(memory, name) for name in (*names, "importance")}))
    if memory.is_sensitive:
        yield "  sensitive: never embedded, extracted or sent"
    if memory.superseded_at:
        by = f" by {memory.superseded_by}" if memory.superseded_by else ""
        because = f" because {detail.reason}" if detail.reason else ""
        yield f"  superseded{by} since {memory.superseded_at.isoformat()}{because}: recall leaves it out"
    for title, lines in (
        ("supersedes", detail.supersedes),
        ("mentions", detail.mentions),
        ("facts", detail.facts),
        ("edges", detail.edges),
        ("related", [f"{key} by {', '.join(names)}" for key, names in detail.related]),
    ):
        for line in lines:
            yield f"  {title:<12}{line}"
    if not detail.mentions and not memory.is_sensitive:
        yield "  nothing was extracted from it yet: hopgate build"


@click.command("delete", epilog="Example: hopgate delete m17 m18")
@ids
@parameters.yes
@parameters.backup_first
@with_store
def delete(kb: KnowledgeBase, ids: Sequence[str], yes: bool, backup: bool) -> Shown:
    """Delete memories, and from the graph exactly what only they supported; more than ten only when told so twice."""
    if len(ids) > MANY:
        parameters.ask(f"delete {counted(len(ids), 'memory')}", yes=yes, store=kb.store)
        if backup:
            parameters.back_up(kb.store, "delete")
    deleted = kb.delete(ids)
    return {"deleted": deleted}, f"deleted {counted(deleted, 'memory')}"


@click.command("list", epilog="""Example: hopgate list --where '{"tags": "home"}' --limit 5""")
@parameters.scope
@parameters.where
@click.option("--after", metavar="ID", help="Go on after this memory.")
@parameters.limit
@with_store
def list_memories(kb: KnowledgeBase, **asked: Any) -> Shown:
    """List memories in the order of arrival."""
    found = kb.list(**asked)
    if len(found) == asked["limit"]:
        sys.stderr.write(f"hopgate: the first {len(found)}; --after {found[-1].external_id} goes on\n")
    cells = [
        [memory.external_id, f"{memory.created_at:%Y-%m-%d}", memory.scope or "", output.one_line(memory)]
        for memory in found
    ]
    return [to_record(memory) for memory in found], [output.Table(["memory", "date", "scope", "content"], cells)]


@click.command("sensitive", epilog="Example: hopgate sensitive m17")
@ids
@flag("--undo", "Take the mark away, after saying what follows.")
@parameters.yes
@with_store
def sensitive(kb: KnowledgeBase, ids: Sequence[str], undo: bool, yes: bool) -> Shown:
    """Mark memories as sensitive: their vectors, mentions, evidence and cached extractions go at once.

    They stay findable by their words, and sensitive for good: to ingest them again does not change it. --undo alone
    takes the mark away; then the next embed, build or watch gives their texts to the embedder and the extractor.
    """
    if not undo:
        marked = kb.mark_sensitive(ids)
        return {"marked": marked}, f"marked {counted(marked, 'memory')} as sensitive"
    parameters.ask(
        f"make {counted(len(ids), 'memory')} not sensitive any more (the next embed sends their texts to "
        f"{kb.embedder_name() or 'the embedder'}, the next build gives them to the extractor, and both keep what "
        "they make of them)",
        yes=yes,
    )
    unmarked = kb.unmark_sensitive(ids)
    are = "is" if unmarked == 1 else "are"
    return {"unmarked": unmarked}, f"{counted(unmarked, 'memory')} {are} no longer sensitive"


@click.command("export", epilog="Example: hopgate export --format obsidian --out vault")
@click.option("--format", "form", type=click.Choice(TEXTS + FILES), default="jsonl", help="What is written.")
@path("--out", "The file to write, or the folder for obsidian.", show_default="standard output")
@on_store
def export(location: Location, form: str, out: Path | None) -> None:
    """Write every memory in a format that hopgate or another program reads; hopgate graph export writes the graph.

    jsonl, csv, parquet and sqlite hold every memory, sensitive ones among them: a new file is readable by its owner
    alone. triples are facts and mentions for hopgate build --extractor replay, statements sentences for hopgate build
    --statements. These and obsidian hold nothing sensitive.
    """
    if out is None and form in FILES:
        raise HopgateError(f"{form} is not written to standard output: give --out")
    with location.opened() as kb:
        if out is None:
            _write_text(kb, form, sys.stdout)
            return
        if form in FILES:
            made = _write_file(kb, form, out)
        else:
            # Every memory may be in it, sensitive ones among them.
            with open(out, "w", encoding="utf-8", newline="", opener=private_opener) as stream:
                made = _write_text(kb, form, stream)
    say(f"wrote {made} to {out}")


def _write_text(kb: KnowledgeBase, form: str, stream: IO[str]) -> str:
    if form == "csv":
        return counted(write_csv(kb.export(), stream), "memory")
    if form == "jsonl":
        rows: Iterable[Any] = (to_record(memory, dated=True) for memory in kb.export())
    else:
        rows = kb.graph.triples() if form == "triples" else kb.graph.statements()
    written = sum(bool(stream.write(json_line(row))) for row in rows)
    return counted(written, *NAMED[form])


def _write_file(kb: KnowledgeBase, form: str, out: Path) -> str:
    if form == "obsidian":
        concepts, count = write_vault(
            out, kb.export(), kb.graph.concepts(limit=None), kb.graph.edges(), kb.graph.mentions()
        )
        return f"{counted(concepts, 'concept')} and {counted(count, 'memory')}"
    return counted((write_parquet(kb.export(), out) if form == "parquet" else create(out, kb.export())), "memory")


@click.command("watch", epilog="Example: hopgate watch vault/")
@click.argument("folders", help="Folders of notes to keep in step.", metavar="[FOLDER]…", nargs=-1, type=PATH)
@click_options(ReadOptions, only=("sections", "scope"))
@flag("--once", "Do what waits now, and end.")
@parameters.extractor
@on_store
@formatted
def watch(location: Location, folders: Sequence[Path], once: bool, extractor: str | None, **given: Any) -> None:
    """Embed and link new memories as they come into the table, whoever writes them, until interrupted.

    The table notifies (LISTEN/NOTIFY), so that nothing is asked for in vain, and whoever writes never waits. Rules of
    sensitivity are applied before anything is embedded. Of folders of notes what is written, changed, renamed or
    deleted is in the store a second later.
    """
    with location.opened(create=bool(folders)) as kb:
        if not once:
            _say_besides([f"watching {', '.join(map(str, folders)) or 'for new memories'}; Ctrl-C ends it"])
        look = keeper(kb, folders, parameters.made(ReadOptions, given))
        for done in kb.upkeep.watch(extractor=extractor, wait=0 if once else None, look=look):
            output.show(done, _done_lines(done))


def keeper(kb: KnowledgeBase, folders: Sequence[Path], options: ReadOptions) -> Callable[[], None]:
    """Make what reads those of some folders in which something changed since it was called before."""
    before: dict[Path, dict[str, int]] = {}

    def look() -> None:
        for folder in folders:
            try:
                now = written_when(folder)
            except FileNotFoundError:
                # A file went while they were listed: a second later they are listed again.
                continue
            if now != before.get(folder):
                source = kb.source(folder, options=options)
                value, lines = _read_lines(str(folder), source, kb.ingest(source, prune=True))
                output.show(value, [*lines, *(f"  set aside: {item}" for item in source.rejected)])
                before[folder] = now

    return look


@click.command("status", epilog="Example: hopgate status")
@with_store
def status(kb: KnowledgeBase) -> dict[str, Any]:
    """Say how many memories there are, what waits to be embedded or linked, and with what settings recall works."""
    return kb.upkeep.status() | {"settings": str(kb.settings())}


def _done_lines(done: CaughtUp) -> Iterator[str]:
    """What was embedded and linked, and what waits for a model."""
    if done.embedded or done.linked:
        yield f"embedded {counted(done.embedded, 'memory')}, linked {done.linked:,}"
    if done.left:
        yield f"not linked: {done.left} made this graph; run hopgate build --extractor {done.left} with its model"


def _kept_lines(count: int) -> Iterator[str]:
    """Say that memories came as open ones and are sensitive still."""
    if count:
        yield f"{count:,} of them stay sensitive, as they were marked: hopgate sensitive --undo ID takes that away"
