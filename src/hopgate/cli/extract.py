"""`hopgate extract`: memories in, mentions and facts out."""

from __future__ import annotations

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, say
from hopgate.cli.extractor_options import (
    Batch,
    Concurrency,
    Limit,
    MaxTokens,
    Model,
    Name,
    Url,
    chosen,
    counted,
    settings,
    shown,
    tell,
)


def command(
    extractor: Name = "phrases",
    model: Model = None,
    url: Url = None,
    limit: Limit = None,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = 1,
    batch: Batch = 64,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Extract mentions and facts from memories; what is done is not done again, and a stopped run goes on.

    Sensitive memories are never read. Before the first build, `hopgate build` makes the graph of what was extracted;
    in a graph that is built, new mentions and facts take their place at once.

    Example: hopgate extract --extractor llama --model model.gguf --limit 100
    """
    with opened(data, dsn) as kb, shown() as show:
        run = settings(max_tokens, concurrency, batch)
        progress = kb.extract(chosen(kb, extractor, model, url), run=run, limit=limit, show=show)
        states = kb.extraction_states()
    if as_json:
        print_json({**counted(progress), "states": states})
        return
    tell(progress)
    say("memories: " + ", ".join(f"{count:,} {state}" for state, count in states.items()))
