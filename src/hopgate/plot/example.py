"""A store to look at: the user's, or one with the synthetic corpus."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase


def open_or_example(where: str | Path | None = None) -> KnowledgeBase:
    """Open a store; without one, the synthetic corpus with its graph, made on first use and kept in the user's cache.

    Parameters
    ----------
    where : str or Path, optional
        As for `hopgate.open`; by default what `HOPGATE_STORE` says.
    """
    import hopgate
    from hopgate.embed.cache import default_directory
    from hopgate.store.store import ENVIRONMENT

    if where is not None or os.environ.get(ENVIRONMENT):
        return hopgate.open(where)
    kb = hopgate.open(default_directory() / "example")
    if not len(kb):
        fill(kb)
    return kb


def fill(kb: KnowledgeBase) -> None:
    """Put the synthetic corpus into a store: memories, vectors, and the graph of the facts it was written around."""
    from hopgate.demo import corpus
    from hopgate.demo.generate import files
    from hopgate.extract.replay import Replay

    synthetic = corpus()
    kb.add(*synthetic.memories)
    kb.embed()
    with tempfile.TemporaryDirectory() as folder:
        triples = Path(folder) / "triples.jsonl"
        triples.write_text(files(synthetic)["triples.jsonl"], encoding="utf-8")
        known = {memory.external_id for memory in synthetic.memories}
        kb.build(Replay(str(triples), known), single_valued=synthetic.single_valued)
