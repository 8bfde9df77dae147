"""What `extract` and `build` share: the extractor's options, its progress, and what is printed at the end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.output import say
from hopgate.cli.shared_options import MOST

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.extract.progress import Progress
    from hopgate.extract.runner import Run
    from hopgate.kb import KnowledgeBase

Name = Annotated[str, typer.Option("--extractor", help="phrases, rules, llama, openai or replay.")]
Model = Annotated[
    str | None, typer.Option(help="A GGUF file for llama, a model's name for openai, a triples.jsonl for replay.")
]
Url = Annotated[str | None, typer.Option(help="The endpoint for openai; its key comes from OPENAI_API_KEY.")]
Types = Annotated[
    Path | None,
    typer.Option("--types", help="A types.toml with the kinds and relations that a model should prefer."),
]
Together = Annotated[
    int | None, typer.Option(help="Memories in one call to a model; 16 for openai, 1 for llama.", min=1, max=25)
]
Limit = Annotated[int | None, typer.Option(help="Only the first so many memories.", min=1, max=MOST)]
MaxTokens = Annotated[int | None, typer.Option(help="Begin no memory once so many tokens are spent.", min=1, max=MOST)]
Concurrency = Annotated[int, typer.Option(help="Memories extracted from at once.", min=1, max=MOST)]
Batch = Annotated[int, typer.Option(help="Memories written in one transaction.", min=1, max=MOST)]


def make_extractor(
    kb: KnowledgeBase,
    name: str,
    model: str | None,
    url: str | None,
    types: Path | None = None,
    together: int | None = None,
) -> Extractor:
    """Make the extractor that the options name; a replay may only name memories that the store has."""
    from hopgate.extract.spec import extractor_from

    known = set(kb.id_map().values()) if name == "replay" else None
    return extractor_from(name, model=model, url=url, known=known, types=types, together=together)


def run_settings(max_tokens: int | None, concurrency: int, batch: int) -> Run:
    """The settings of a run."""
    from hopgate.extract.runner import Run

    return Run(batch=batch, concurrency=concurrency, max_tokens=max_tokens)


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[object], object]]:
    """Show one line that changes on a terminal, and nothing on a pipe."""
    if not sys.stderr.isatty():
        yield str
        return
    yield lambda progress: sys.stderr.write(f"\r\x1b[K{progress}")
    sys.stderr.write("\r\x1b[K")


def end_if_nothing(progress: Progress) -> None:
    """End with status 1 where a run asked for extractions and got none."""
    got = progress.memories - progress.failed - progress.truncated
    if got == 0 and (progress.failed or progress.truncated or progress.stopped):
        raise typer.Exit(1)


def run_counts(progress: Progress) -> dict[str, Any]:
    """A run's count as JSON values."""
    from dataclasses import asdict

    return asdict(progress)


def show_run(progress: Progress) -> None:
    """Say how a run went, and why memories did not make it."""
    say(str(progress) + (f", {progress.skipped} were done before" if progress.skipped else ""))
    for reason, count in sorted(progress.reasons.items(), key=lambda row: (-row[1], row[0]))[:5]:
        say(f"  {count} × {reason}")
    if progress.stopped:
        say(f"stopped: {progress.stopped}; run it again to go on")
