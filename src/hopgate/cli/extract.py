"""`hopgate extract`: memories in, mentions and facts out."""

from __future__ import annotations

from hopgate.cli import extractor_options as options
from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, say
from hopgate.extract.spec import TOGETHER


def command(
    extractor: options.Name = "phrases",
    model: options.Model = None,
    url: options.Url = None,
    types: options.Types = None,
    together: options.Together = TOGETHER,
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

    Example: hopgate extract --extractor llama --model model.gguf --limit 100
    """
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
