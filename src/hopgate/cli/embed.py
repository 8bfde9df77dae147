"""`hopgate embed`: vectors for memories that have none."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, progress, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="bge-small, sentence-transformers:NAME_OR_PATH or openai:MODEL@URL.",
        show_default="the store's own, HOPGATE_EMBEDDER or bge-small",
    ),
]


def command(embedder: Embedder = None, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Embed the memories that have no vector yet; can be interrupted and run again.

    Example: hopgate embed --embedder sentence-transformers:BAAI/bge-large-en-v1.5
    """
    with opened(data, dsn) as kb, progress("embedding", kb.pending_vectors()) as advance:
        count = kb.embed(embedder, progress=advance)
    print_json({"embedded": count}) if as_json else say(f"embedded {counted(count, 'memory')}")
