"""`hopgate build`: memories become a graph."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli import extractor_options as options
from hopgate.cli.engine_options import Address, EngineName, Workers
from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.extract.model.judge import Judge


def command(
    extractor: options.Name = "phrases",
    model: options.Model = None,
    url: options.Url = None,
    single_valued: Annotated[
        list[str] | None, typer.Option(help="A relation of which a concept has one at a time; may be given again.")
    ] = None,
    several_valued: Annotated[
        list[str] | None, typer.Option(help="A relation of which it has several after all; may be given again.")
    ] = None,
    statements: Annotated[
        Path | None, typer.Option(help="A statements.jsonl: sentences about memories, which recall starts from too.")
    ] = None,
    types: options.Types = None,
    together: options.Together = None,
    tie_break: Annotated[
        bool, typer.Option("--tie-break", help="Ask the same model about names that stay undecided.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Bring all names together anew.")] = False,
    limit: options.Limit = None,
    max_tokens: options.MaxTokens = None,
    concurrency: options.Concurrency = 1,
    batch: options.Batch = 64,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Build the graph, or bring it up to date with the memories that are new.

    Extracts, brings the names of one concept together, derives edges and embeds them where memories are embedded. The
    first time all names are clustered; afterwards new names are resolved against the concepts that are there, and what
    stays undecided is listed by `hopgate concepts --ambiguous`. A graph that another extractor made is made anew. What
    people merged or split stays so. With --engine processes several processes read memories for the first build.

    Example: hopgate build --extractor replay --model triples.jsonl --single-valued "runs on"
    """
    from hopgate.extract.model.type_table import read_type_table
    from hopgate.scale.engine import Engine

    with opened(data, dsn) as kb, options.progress_line() as show:
        made = options.make_extractor(kb, extractor, model, url, types, together)
        opinion = _second_opinion(made) if tie_break else None
        # Names that another extractor found are no ground to resolve these against one by one.
        another = limit is None and kb.upkeep.made_by() not in ("", made.identity.extractor)
        built = kb.build(
            made,
            ask=opinion.same if opinion else None,
            run=options.run_settings(max_tokens, concurrency, batch),
            limit=limit,
            several_valued=several_valued or (),
            statements=statements,
            single_valued=[*(single_valued or ()), *(read_type_table(types).single_valued if types else ())],
            rebuild=rebuild or another,
            show=show,
            engine=Engine(engine, address, workers),
        )
        merged, apart = kb.graph.tie_break(opinion) if opinion else (0, 0)
        counts = kb.graph.counts()
    if as_json:
        resolution = asdict(built.resolution) if built.incremental else None
        values = {"incremental": built.incremental, "resolution": resolution, "graph": counts}
        print_json({"extraction": options.run_counts(built.extraction), **values})
        options.end_if_nothing(built.extraction)
        return
    read = built.extraction
    if built.incremental and statements is None and not (read.memories or read.skipped or read.stopped):
        say("no memory waits to be linked: the graph is up to date")
    else:
        options.show_run(read)
    if built.incremental and read.memories:
        done = built.resolution
        say(f"new names: {done.merged:,} joined concepts, {done.ambiguous:,} are undecided, {done.new:,} are new")
    if opinion:
        asked = f"{counted(opinion.asked, 'question')}, {opinion.answered:,} answered"
        say(f"the model was asked about names: {asked}; {merged:,} undecided ones merged, {apart:,} kept apart")
    say(
        f"the graph has {counted(counts['concepts'], 'concept')} by {counted(counts['names'], 'name')}, "
        f"{counted(counts['mentions'], 'mention')} "
        f"and {counted(counts['edges'], 'edge')} of {counted(counts['relations'], 'relation')}; "
        f"{counts['invalidation_rate']:.1%} of the facts were invalidated"
    )
    options.end_if_nothing(built.extraction)


def _second_opinion(extractor: Extractor) -> Judge:
    from hopgate.extract.model.judge import Judge

    return Judge(extractor)
