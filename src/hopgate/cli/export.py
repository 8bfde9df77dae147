"""`hopgate export`: memories and graph out, for people and for other programs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.output import counted, opened, say
from hopgate.cli.printable import printable_json
from hopgate.cli.shared_options import Data, Dsn
from hopgate.errors import HopgateError
from hopgate.files import private_opener

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

TEXTS = ("jsonl", "csv", "triples", "statements", "graphml", "node-link")
FILES = ("parquet", "sqlite", "obsidian")

Form = Annotated[
    str,
    typer.Option("--format", help="jsonl, csv, parquet, sqlite, triples, statements, graphml, node-link or obsidian."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The file to write, or the folder for obsidian.", show_default="standard output"),
]


def command(form: Form = "jsonl", out: Out = None, data: Data = None, dsn: Dsn = None) -> None:
    """Write every memory, or the graph, in a format that hopgate or another program reads.

    jsonl, csv, parquet and sqlite hold every memory, sensitive ones among them: a new file is readable by its owner
    alone. triples are facts and mentions for hopgate build --extractor replay, statements sentences for hopgate build
    --statements. These, graphml, node-link and obsidian hold nothing sensitive.

    Example: hopgate export --format obsidian --out vault
    """
    if form not in TEXTS + FILES:
        raise HopgateError(f"there is no format {form!r}: use one of {', '.join(TEXTS + FILES)}")
    if form in FILES and out is None:
        raise HopgateError(f"{form} is not written to standard output: give --out")
    with opened(data, dsn) as kb:
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
            stream.write(_line(to_record(memory, dated=True)))
        return counted(count, "memory")
    if form == "csv":
        return counted(write_csv(kb.export(), stream), "memory")
    if form == "triples":
        rows = list(kb.graph.triples())
        stream.writelines(map(_line, rows))
        return f"{len(rows):,} facts and mentions"
    if form == "statements":
        rows = kb.graph.statements()
        stream.writelines(map(_line, rows))
        return counted(len(rows), "statement")
    graph = kb.graph.to_networkx()
    if form == "graphml":
        stream.write(graphml(graph))
    else:
        stream.write(_line(node_link(graph)))
    return f"{counted(graph.number_of_nodes(), 'concept')} and {counted(graph.number_of_edges(), 'edge')}"


def _line(row: Mapping[str, Any]) -> str:
    return printable_json(json.dumps(row, ensure_ascii=False)) + "\n"


def _write_file(kb: KnowledgeBase, form: str, out: Path) -> str:
    from hopgate.exports.memories import write_parquet, write_vault
    from hopgate.store.sqlite import create

    if form == "parquet":
        return counted(write_parquet(kb.export(), out), "memory")
    if form == "sqlite":
        return counted(create(out, kb.export()), "memory")
    concepts, count = write_vault(out, kb.export(), kb.graph.pages(), kb.graph.mentions())
    return f"{counted(concepts, 'concept')} and {counted(count, 'memory')}"
