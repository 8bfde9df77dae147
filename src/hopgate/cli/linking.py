"""What `add`, `ingest` and `watch` share: embedding and linking at once, or later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.output import counted, progress, say

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.upkeep import CaughtUp

Later = Annotated[bool, typer.Option("--later", help="Neither embed nor link now; hopgate watch --once does it.")]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        help="What links: phrases, rules, llama or openai.",
        show_default="phrases or rules, as made the graph",
    ),
]


def link(kb: KnowledgeBase, ids: Sequence[str] | None, extractor: str | None, *, quiet: bool) -> CaughtUp:
    """Embed and link memories, by default all that wait, and say how many."""
    with progress("embedding", kb.pending_vectors()) as advance:
        done = kb.upkeep.catch_up(ids, extractor=extractor, progress=advance)
    if not quiet:
        say_done(done)
    return done


def say_done(done: CaughtUp) -> None:
    """Say what was embedded and linked, and what waits for a model."""
    if done.embedded or done.linked:
        say(f"embedded {counted(done.embedded, 'memory')}, linked {done.linked:,}")
    if done.left:
        say(f"not linked: {done.left} made this graph; run hopgate build --extractor {done.left} with its model")


def say_kept(count: int) -> None:
    """Say that memories came as open ones and are sensitive still."""
    if count:
        say(f"{count:,} of them stay sensitive, as they were marked: hopgate sensitive --undo ID takes that away")
