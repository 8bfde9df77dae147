"""`hopgate demo`: the synthetic corpus, recalled."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hopgate.cli.common import console, progress, say

QUESTIONS = ("HEVC 10-bit hwaccel vaapi", "Boiler error E119 pressure", "Who owns the wiki service?")


def command() -> None:
    """Ingest the synthetic memories into an embedded server and answer three questions.

    Example: hopgate demo
    """
    import hopgate
    from hopgate.demo import corpus

    made = corpus()
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        kb.add(*made.memories)
        say(f"{len(kb)} synthetic memories in an embedded PostgreSQL")
        with progress("embedding", kb.pending_vectors()) as advance:
            kb.embed(progress=advance)
        for question in QUESTIONS:
            from rich.table import Table

            table = Table(title=question, title_justify="left", box=None)
            table.add_column("memory")
            table.add_column("content")
            for hit in kb.recall(question, k=3):
                table.add_row(hit.external_id, hit.memory.content.replace("\n", " ")[:90])
            console().print(table)
