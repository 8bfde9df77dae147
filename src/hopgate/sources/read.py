"""From a path to memories: which source it is, and each record checked with where it lies."""

import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from hopgate.corpus import parse_memory
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.plugins import plugin, plugins
from hopgate.sources import chats, database, documents, mail, notes, tables
from hopgate.sources.source import (
    MISPLACED,
    LeftOutWarning,
    Place,
    ReadOptions,
    Records,
    Rejected,
    SourceFormat,
    files_below,
)

# In the order in which they are tried: what shows more of itself comes first.
FORMATS = (
    SourceFormat("slack", "a Slack export", chats.is_slack, chats.slack, of_items=True),
    SourceFormat("chatgpt", "a ChatGPT export", chats.is_chatgpt, chats.chatgpt, of_items=True),
    SourceFormat("claude", "a Claude export", chats.is_claude, chats.claude, of_items=True),
    SourceFormat("telegram", "a Telegram export", chats.is_telegram, chats.telegram, of_items=True),
    SourceFormat("whatsapp", "a WhatsApp chat", chats.is_whatsapp, chats.whatsapp, of_items=True),
    SourceFormat("messages", "a list of messages", chats.is_messages, chats.messages, of_items=True),
    SourceFormat("obsidian", "an Obsidian vault", notes.is_vault, notes.markdown, of_items=True),
    SourceFormat("markdown", "Markdown notes", notes.is_markdown, notes.markdown, of_items=True),
    SourceFormat("documents", "documents", documents.is_document, notes.markdown, of_items=True),
    SourceFormat(
        "sqlite", "a SQLite file", database.recognises, database.records, takes_columns=True, takes_query=True
    ),
    SourceFormat("mbox", "mail", mail.recognises, mail.records, of_items=True),
    SourceFormat("csv", "a table", tables.is_csv, tables.csv_rows, takes_columns=True),
    SourceFormat("parquet", "a Parquet table", tables.is_parquet, tables.parquet_rows, takes_columns=True),
    SourceFormat("jsonl", "a corpus.jsonl", tables.is_json_lines, tables.json_lines),
    SourceFormat("json", "JSON records", tables.is_json, tables.json_objects, takes_columns=True),
    SourceFormat("text", "lines of text", tables.is_text, tables.text_lines),
)
# What a folder of notes may hold besides, that is no picture and no note's attachment.
BY_THEMSELVES = (".csv", ".tsv", ".json", ".jsonl", ".mbox", ".eml", ".parquet", ".sqlite", ".zip")
# How an address of a server begins.
ADDRESSES = ("postgresql:", "postgres:")
SERVER = SourceFormat("sql", "a query's rows", lambda _: False, database.records)
STANDARD_INPUT = SourceFormat("stdin", "lines of a corpus.jsonl", lambda _: False, tables.json_lines)


@dataclass(frozen=True, slots=True)
class FoundSource:
    """What a path is, and its memories, read as they are asked for."""

    name: str
    title: str
    path: str  # as errors call it
    items: Iterator[tuple[str, Memory | HopgateError]] = field(repr=False)  # each with where it lies
    sets_aside: bool = False  # whether an item that is no memory is set aside, and else refused
    root: str = ""  # of notes the folder that their ids begin from
    # As far as the memories were read: where each lies by its id, and what was set aside.
    places: dict[str, str] = field(default_factory=dict, repr=False)
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def memories(self) -> Iterator[Memory]:
        """The memories; what is none, or whose id stood there before, is set aside, or refused by name and place.

        Where nothing else is there, it is refused, too.
        """
        for where, memory in self.items:
            reason = str(memory) if isinstance(memory, HopgateError) else ""
            if isinstance(memory, Memory) and memory.external_id in self.places:
                reason = f"_id {memory.external_id!r} stands already on {self.places[memory.external_id]}"
            if isinstance(memory, Memory) and not reason:
                self.places[memory.external_id] = where
                yield memory
                continue
            self.rejected.append(Rejected(where if where.startswith(self.path) else f"{self.path}, {where}", reason))
            if not self.sets_aside:
                break
        if self.rejected and not (self.sets_aside and self.places):
            raise HopgateError(str(self.rejected[0]))
        if not self.places:
            raise HopgateError(f"{self.path} holds no memories: give a file or a folder with some")


def read_source(path: str | Path, form: str | None = None, options: ReadOptions | None = None) -> FoundSource:
    r"""Recognise what a path is and read its memories.

    The first record that is none ends it, but for an item of a folder of notes, of a mailbox or of an export of chats:
    that is set aside, unless the options are strict.

    Parameters
    ----------
    path : str or Path
        A file, a folder, an archive, a PostgreSQL address with a query, or `-` for lines on standard input.
    form : str, optional
        The name of the source, where it is not to be recognised.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "todo.txt").write_text("Call Ada.\nFeed the cat.\n")
    ...     found = read_source(Path(folder, "todo.txt"))
    ...     found.title, [memory.text for memory in found.memories]
    ('lines of text', ['Call Ada.', 'Feed the cat.'])
    """
    options = options or ReadOptions()
    found, records = _records(path, form, options)
    name = {SERVER.name: "the query", STANDARD_INPUT.name: "standard input"}.get(found.name, str(path))
    of_notes = found.records is notes.markdown and not zipfile.is_zipfile(path)
    root = str(notes.root_of(Path(path), options.folders)) if of_notes else ""
    if root and Path(path).is_dir() and (others := [name for name, _ in files_below(Path(path), *BY_THEMSELVES)]):
        sentence = f"{path} is read for its notes: {others[0]} and the like ({len(others):,} in all) are given by name"
        warnings.warn(sentence, LeftOutWarning, stacklevel=2)
    sets_aside = found.of_items and not options.strict
    return FoundSource(found.name, found.title, name, _checked(records, options), sets_aside, root)


def _records(path: str | Path, form: str | None, options: ReadOptions) -> tuple[SourceFormat, Records]:
    """Recognise what a path is, refuse options that are not for it, and read its records."""
    if str(path).startswith(ADDRESSES):
        return SERVER, database.server_records(str(path), options)
    if str(path) == "-":
        return STANDARD_INPUT, tables.standard_input()
    formats = {form.name: form for form in (*_from_plugins(), *FORMATS)}
    if form is not None and form not in formats:
        raise HopgateError(f"there is no source {form!r}: use one of {', '.join(formats)}")
    place = _place(Path(path))
    found = formats[form] if form else _recognised(place, options, formats)
    if (options.fields or options.text) and not found.takes_columns:
        raise HopgateError(
            f"{path} is {found.title}, which has no columns: --map and --text are for tables, JSON and queries"
        )
    if options.query and not found.takes_query:
        raise HopgateError(f"{path} is {found.title}, and no database: --from-sql needs an address or a SQLite file")
    return found, _in_layout(found, place, options)


def _checked(records: Records, options: ReadOptions) -> Iterator[tuple[str, Memory | HopgateError]]:
    """Make a memory of each record, in the scope asked for where it names none; of one that is none, the reason."""
    for where, record in records:
        made: Memory | HopgateError
        try:
            made = record if isinstance(record, HopgateError) else parse_memory(record, options.keeps)
        except HopgateError as error:
            made = error
        if options.scope is not None and isinstance(made, Memory) and made.scope is None:
            made = replace(made, scope=options.scope)
        yield where, made


def _place(path: Path) -> Place:
    try:
        path.stat()
        return (
            _only_folder(zipfile.Path(path))
            if path.is_file() and not documents.is_document(path) and zipfile.is_zipfile(path)
            else path
        )
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None


def _only_folder(place: zipfile.Path) -> zipfile.Path:
    """The folder inside an archive that holds nothing but it."""
    inner = [one for one in place.iterdir() if not one.name.startswith((".", "__MACOSX"))]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else place


def _from_plugins() -> Iterator[SourceFormat]:
    """What plugins read; one that cannot be loaded is warned of, for most files are not its own."""
    for found in plugins("sources"):
        try:
            yield plugin("sources", found.name)
        except HopgateError as error:
            warnings.warn(str(error), stacklevel=2)


def _recognised(place: Place, options: ReadOptions, formats: Mapping[str, SourceFormat]) -> SourceFormat:
    if isinstance(place, Path) and not place.is_file() and not place.is_dir():
        # A pipe cannot be looked into beforehand.
        return formats["jsonl"]
    for form in formats.values():
        # A field map says that lines are not hopgate's own, and objects no messages.
        if form.recognises(place) and not (form.name in ("jsonl", "messages") and (options.fields or options.text)):
            return form
    what = "a directory in which hopgate recognises nothing" if place.is_dir() else "nothing that hopgate recognises"
    *names, last = formats
    raise HopgateError(f"{place} is {what}: say what it is with --as {', '.join(names)} or {last}")


def _in_layout(form: SourceFormat, place: Place, options: ReadOptions) -> Records:
    """Refuse a file whose fields are not where its program puts them."""
    try:
        yield from form.records(place, options)
    except MISPLACED as error:
        raise HopgateError(f"{place} is not {form.title} in a known layout: {type(error).__name__} {error}") from None
