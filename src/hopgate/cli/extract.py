"""`hopgate extract`: memories in, mentions and facts out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli import extractor_options as options
from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn
from hopgate.errors import HopgateError
from hopgate.extract.spec import TOGETHER

WRITTEN = ("facts", "statements")
FEW = 4


def command(
    extractor: options.Name = "phrases",
    model: options.Model = None,
    url: options.Url = None,
    types: options.Types = None,
    together: options.Together = None,
    write: Annotated[
        str, typer.Option(help="facts, into the store; or statements, into a file that build reads.")
    ] = "facts",
    out: Annotated[Path | None, typer.Option(help="The file of --write statements; a file there is added to.")] = None,
    limit: options.Limit = None,
    max_tokens: options.MaxTokens = None,
    concurrency: options.Concurrency = 1,
    batch: options.Batch = 64,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Extract mentions and facts from memories; what is done is not done again, and a stopped run goes on.

    Sensitive memories are never read. Before the first build, `hopgate build` makes the graph of what was extracted;
    in a graph that is built, new mentions and facts take their place at once. The exit status is 1 where nothing could
    be extracted.

    With --write statements a model writes what each memory says in sentences of their own, for
    `hopgate build --statements FILE`.

    Example: hopgate extract --extractor llama --model model.gguf --limit 100
    """
    if write not in WRITTEN:
        raise HopgateError(f"--write is one of {', '.join(WRITTEN)}, not {write!r}")
    if (out is not None) != (write == "statements"):
        raise HopgateError("--write statements needs --out FILE, and --out is for statements only")
    if out is not None:
        _statements(out, extractor, model, url, together, limit, data, dsn, as_json=as_json)
        return
    with opened(data, dsn) as kb, options.progress_line() as show:
        run = options.run_settings(max_tokens, concurrency, batch)
        progress = kb.extract(
            options.make_extractor(kb, extractor, model, url, types, together), run=run, limit=limit, show=show
        )
        states = kb.extraction_states()
    if as_json:
        print_json({**options.run_counts(progress), "states": states})
        options.end_if_nothing(progress)
        return
    options.show_run(progress)
    say("memories: " + ", ".join(f"{count:,} {state}" for state, count in states.items()))
    options.end_if_nothing(progress)


def _statements(
    out: Path,
    extractor: str,
    model: str | None,
    url: str | None,
    together: int | None,
    limit: int | None,
    data: Path | None,
    dsn: str | None,
    *,
    as_json: bool,
) -> None:
    """Let the model write statements into a file."""
    with opened(data, dsn) as kb, options.progress_line() as show:
        made = options.make_extractor(kb, extractor, model, url, None, together)
        # A file's model has a small context, and answers about few memories at once.
        several = together or (FEW if extractor == "llama" else TOGETHER)
        run = kb.upkeep.write_statements(made, out, together=several, limit=limit, show=show)
    if as_json:
        print_json(asdict(run))
    else:
        say(f"{run}: hopgate build --statements {out}")
    if run.memories and run.unanswered == run.memories:
        raise typer.Exit(1)
