"""From a path to memories: which source it is, and each record checked with where it lies."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopgate.corpus import STANDARD_INPUT, parse_memory, read_corpus
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.sources import chats, database, mail, notes, tables, whatsapp
from hopgate.sources.source import UNREADABLE, Place, ReadOptions, Record, Records, SourceFormat

# In the order in which they are tried: what shows more of itself comes first.
FORMATS = (
    SourceFormat("slack", "a Slack export", chats.is_slack, chats.slack),
    SourceFormat("chatgpt", "a ChatGPT export", chats.is_chatgpt, chats.chatgpt),
    SourceFormat("claude", "a Claude export", chats.is_claude, chats.claude),
    SourceFormat("telegram", "a Telegram export", chats.is_telegram, chats.telegram),
    SourceFormat("whatsapp", "a WhatsApp chat", whatsapp.recognises, whatsapp.records),
    SourceFormat("obsidian", "an Obsidian vault", notes.is_vault, notes.markdown),
    SourceFormat("markdown", "Markdown notes", notes.is_markdown, notes.markdown),
    SourceFormat("sqlite", "a SQLite file", database.recognises, database.records),
    SourceFormat("mbox", "mail", mail.recognises, mail.records),
    SourceFormat("csv", "a table", tables.is_csv, tables.csv_rows),
    SourceFormat("parquet", "a Parquet table", tables.is_parquet, tables.parquet_rows),
    SourceFormat("jsonl", "a corpus.jsonl", tables.is_json_lines, tables.corpus_lines),
    SourceFormat("json", "JSON records", tables.is_json, tables.json_objects),
    SourceFormat("text", "lines of text", tables.is_text, tables.text_lines),
)
# How an address of a server begins.
ADDRESSES = ("postgresql:", "postgres:")
BY_NAME = {form.name: form for form in FORMATS}


@dataclass(frozen=True, slots=True)
class FoundSource:
    """What a path is, and its memories, read as they are asked for."""

    name: str
    title: str
    memories: Iterator[Memory]


def read_source(path: str | Path, form: str | None = None, options: ReadOptions | None = None) -> FoundSource:
    r"""Recognise what a path is and read its memories.

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
    options, name = options or ReadOptions(), str(path)
    if name == STANDARD_INPUT:
        lines = read_corpus(name, keep_unknown=options.keep_unknown)
        return FoundSource("jsonl", "lines of a corpus.jsonl", _scoped(lines, options.scope))
    if name.startswith(ADDRESSES):
        rows = database.server_records(name, options)
        return FoundSource("sql", "a query's rows", _memories(rows, "the query", options))
    found, place = _found(path, form, options)
    return FoundSource(found.name, found.title, _memories(_in_layout(found, place, options), name, options))


def checked_memories(
    path: str | Path, form: str | None = None, options: ReadOptions | None = None
) -> Iterator[tuple[str, Memory | HopgateError]]:
    """Read the memories of a path, each with where it lies; for a record that is none, its error in its place.

    What cannot be parted into records ends in an error all the same. Ids that stand twice are not looked for.
    """
    options, name = options or ReadOptions(), str(path)
    records: Iterator[tuple[str, Record | HopgateError]]
    if name.startswith(ADDRESSES):
        records = ((where, record) for where, record in database.server_records(name, options))
    else:
        found, place = _found(path, form, options)
        if found.name in ("jsonl", "json") and place.name.lower().endswith(tables.LINES):
            records = tables.checked_lines(place, options)
        else:
            records = ((where, record) for where, record in _in_layout(found, place, options))
    for where, record in records:
        try:
            if isinstance(record, HopgateError):
                raise record
            yield where, parse_memory(_in_scope(record, options.scope), keep_unknown=options.keep_unknown)
        except HopgateError as error:
            yield where, error


def _found(path: str | Path, form: str | None, options: ReadOptions) -> tuple[SourceFormat, Place]:
    """Recognise what a path is, and refuse options that are not for it."""
    if form is not None and form not in BY_NAME:
        raise HopgateError(f"there is no source {form!r}: use one of {', '.join(BY_NAME)}")
    place = _place(Path(path))
    found = BY_NAME[form] if form else _recognised(place, options)
    if options.fields and found.name not in ("csv", "json", "parquet", "sqlite"):
        raise HopgateError(f"{path} is {found.title}, which has no columns: --map is for tables, JSON and queries")
    if options.query and found.name != "sqlite":
        raise HopgateError(f"{path} is {found.title}, and no database: --from-sql needs an address or a SQLite file")
    return found, place


def _place(path: Path) -> Place:
    try:
        path.stat()
        return _only_folder(zipfile.Path(path)) if path.is_file() and zipfile.is_zipfile(path) else path
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None


def _recognised(place: Place, options: ReadOptions) -> SourceFormat:
    if isinstance(place, Path) and not place.is_file() and not place.is_dir():
        # A pipe cannot be looked into beforehand.
        return BY_NAME["jsonl"]
    for form in FORMATS:
        # A field map says that lines are not hopgate's own.
        if form.recognises(place) and not (form.name == "jsonl" and options.fields):
            return form
    what = "a directory in which hopgate recognises nothing" if place.is_dir() else "nothing that hopgate recognises"
    raise HopgateError(f"{place} is {what}: say what it is with --as {_names()}")


def _only_folder(place: zipfile.Path) -> zipfile.Path:
    """The folder inside an archive that holds nothing but it."""
    inner = [one for one in place.iterdir() if not one.name.startswith((".", "__MACOSX"))]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else place


def _names() -> str:
    names: Sequence[str] = list(BY_NAME)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _in_layout(form: SourceFormat, place: Place, options: ReadOptions) -> Records:
    """Refuse a file whose fields are not where its program puts them."""
    try:
        yield from form.records(place, options)
    except (*UNREADABLE, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise HopgateError(f"{place} is not {form.title} in a known layout: {type(error).__name__} {error}") from None


def _memories(records: Records, name: str, options: ReadOptions) -> Iterator[Memory]:
    seen: dict[str, str] = {}
    for where, record in records:
        try:
            memory = parse_memory(_in_scope(record, options.scope), keep_unknown=options.keep_unknown)
        except HopgateError as error:
            raise HopgateError(f"{name}, {where}: {error}") from None
        if memory.external_id in seen:
            first = seen[memory.external_id]
            raise HopgateError(f"{name}, {where}: _id {memory.external_id!r} stands already on {first}")
        seen[memory.external_id] = where
        yield memory
    if not seen:
        raise HopgateError(f"{name} holds no memories")


def _in_scope(record: Record, scope: str | None) -> Record:
    """A record with the scope that it is to have where it names none."""
    if scope is None or "scope" in record or "scope" in (record.get("metadata") or {}):
        return record
    return {**record, "scope": scope}


def _scoped(memories: Iterator[Memory], scope: str | None) -> Iterator[Memory]:
    from dataclasses import replace

    for memory in memories:
        yield replace(memory, scope=scope) if scope is not None and memory.scope is None else memory
