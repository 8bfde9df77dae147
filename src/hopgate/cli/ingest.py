"""`hopgate ingest`: memories in, from whatever file they are in."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.linking import ExtractorName, Later, link, say_kept
from hopgate.cli.output import counted, opened, print_json, progress, say
from hopgate.cli.shared_options import AsJson, Data, Dsn
from hopgate.redact import redacted

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.sources.read import FoundSource

# So many memories are shown by --dry-run.
SHOWN = 5

Paths = Annotated[
    list[str],
    typer.Argument(help="Files, folders, archives or a PostgreSQL address; - is standard input.", metavar="PATH…"),
]
As = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="What it is: jsonl, markdown, obsidian, text, csv, json, chatgpt, claude, slack, whatsapp, telegram, "
        "mbox, parquet or sqlite.",
        show_default="recognised",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", help="FIELD=COLUMN: which column holds a memory's field; again for more."),
]
FromSql = Annotated[
    str | None, typer.Option("--from-sql", help="A table or a SELECT of the SQLite file or server that PATH names.")
]
Sections = Annotated[bool, typer.Option("--sections", help="A memory for each section of a note, not for each note.")]
DateOrder = Annotated[str | None, typer.Option(help="dmy or mdy, where a chat's dates can be read both ways.")]
Scope = Annotated[str | None, typer.Option(help="The scope of every memory that names none.")]
KeepUnknown = Annotated[
    bool,
    typer.Option("--keep-unknown", help="Keep fields that are not a memory's, as extra, instead of refusing them."),
]
SensitiveTag = Annotated[
    list[str] | None, typer.Option(help="A tag that makes a memory sensitive, from now on; again for more.")
]
SensitiveMatch = Annotated[
    list[str] | None,
    typer.Option(help="A regular expression that makes a memory sensitive, from now on; again for more."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the first five memories and store nothing.")]


def command(
    paths: Paths,
    form: As = None,
    fields: Map = None,
    from_sql: FromSql = None,
    sections: Sections = False,
    date_order: DateOrder = None,
    scope: Scope = None,
    keep_unknown: KeepUnknown = False,
    sensitive_tag: SensitiveTag = None,
    sensitive_match: SensitiveMatch = None,
    dry_run: DryRun = False,
    later: Later = False,
    extractor: ExtractorName = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Read memories from files, folders, exports or a query, each all or nothing, and embed and link them.

    What a path is, is recognised and said. A memory that is known already is brought up to date, not doubled. A field
    that is not a memory's is refused by name. Sensitive memories are stored and never embedded nor linked; rules of
    sensitivity are kept in the store, and count for all that comes later.

    Example: hopgate ingest notes/ chatgpt-export.zip
    """
    from hopgate.errors import HopgateError
    from hopgate.sensitivity import SensitivityRules
    from hopgate.sources.field_map import parse_map
    from hopgate.sources.read import read_source
    from hopgate.sources.source import ReadOptions

    if date_order not in (None, "dmy", "mdy", "ymd"):
        raise HopgateError(f"--date-order {date_order!r} is none: give dmy or mdy")
    options = ReadOptions(parse_map(fields or ()), sections, date_order, from_sql, keep_unknown, scope)
    rules = SensitivityRules(tuple(sensitive_tag or ()), tuple(sensitive_match or ()))
    with opened(data, dsn) as kb:
        if dry_run:
            rules = kb.sensitivity() | rules
            for path in paths:
                _show(path, read_source(path, form, options), rules.applied, as_json)
            return
        if rules:
            kb.add_sensitivity(rules, source="hopgate ingest")
        for path in paths:
            _load(kb, path, read_source(path, form, options), as_json)
        if not later:
            # All that waits: what an ingest that was killed left is finished by the next.
            link(kb, None, extractor, quiet=as_json)


def _load(kb: KnowledgeBase, path: str, found: FoundSource, as_json: bool) -> None:
    with progress(f"reading {redacted(path)}") as advance:
        written = kb.load(found.memories, progress=advance)
    if as_json:
        print_json({"path": redacted(path), "source": found.name, "rows": written.rows, "added": written.added})
    else:
        say(f"{redacted(path)}: {found.title}, {counted(written.rows, 'memory')}, {written.added:,} of them new")
        say_kept(written.kept_sensitive)


def _show(path: str, found: FoundSource, applied: Any, as_json: bool) -> None:
    """The first memories as they would be stored; what is sensitive is named and not shown."""
    from hopgate.corpus import to_record

    memories = list(itertools.islice(applied(found.memories), SHOWN))
    records = [to_record(memory) for memory in memories]
    for record, memory in zip(records, memories, strict=True):
        if memory.is_sensitive:
            record["text"] = "(sensitive)"
            record.pop("title", None)
    if as_json:
        print_json({"path": redacted(path), "source": found.name, "memories": records})
        return
    say(f"{redacted(path)}: {found.title}; the first {counted(len(records), 'memory')}, nothing is stored")
    for record in records:
        print_json(record)
