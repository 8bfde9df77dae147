"""`hopgate ingest`: memories in."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, progress, say

Files = Annotated[list[str], typer.Argument(help="corpus.jsonl files; - is standard input.", metavar="FILE…")]
Embed = Annotated[bool, typer.Option("--embed/--no-embed", help="Embed the new memories for the dense leg.")]


def command(files: Files, embed: Embed = True, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Read memories from corpus.jsonl files, each all or nothing.

    A memory whose _id is known already is brought up to date, not doubled. Sensitive memories are stored and never
    embedded.

    Example: hopgate ingest notes.jsonl
    """
    with opened(data, dsn) as kb:
        for file in files:
            with progress(f"reading {file}") as advance:
                written = kb.ingest(file, progress=advance)
            if as_json:
                print_json({"file": file, "rows": written.rows, "added": written.added})
            else:
                say(f"{file}: {written.rows:,} memories, {written.added:,} of them new")
        if embed:
            with progress("embedding", kb.pending_vectors()) as advance:
                count = kb.embed(progress=advance)
            if count and not as_json:
                say(f"embedded {count:,} memories")
