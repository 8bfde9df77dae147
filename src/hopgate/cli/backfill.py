"""`hopgate backfill`: shards of many memories, in this process, in several or on a Ray cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli import extractor_options
from hopgate.cli.embed import Embedder
from hopgate.cli.engine_options import Address, EngineName, Workers
from hopgate.cli.ingest import As, FromSql, KeepUnknown, Map, Scope
from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import MOST, AsJson, Data, Dsn

# So many rejected rows are shown.
SHOWN = 20


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files, globs or folders of JSON lines or Parquet, or a PostgreSQL address.", metavar="SOURCE…"
        ),
    ],
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    gpus_per_worker: Annotated[float, typer.Option(help="What of a GPU each worker holds.", min=0)] = 0.0,
    form: As = None,
    fields: Map = None,
    from_sql: FromSql = None,
    scope: Scope = None,
    keep_unknown: KeepUnknown = False,
    embedder: Embedder = None,
    extractor: extractor_options.Name = "phrases",
    model: extractor_options.Model = None,
    url: extractor_options.Url = None,
    batch: Annotated[int, typer.Option(help="Memories that become visible together.", min=1, max=MOST)] = 512,
    rows_only: Annotated[
        bool, typer.Option("--rows-only", help="Rows and vectors; hopgate build makes the graph.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Bring all names together anew at the end.")] = False,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Bring shards of many memories in, embedded and linked; run again, it goes on where it stopped.

    A batch is visible whole or not at all. A memory is there once, by its id and what it says, however often this is
    run and by however many at once. Rows that no memory can be made of are listed with their reason, and the others go
    on. Sensitive memories are stored and leave this process for nobody. The graph is built after the last row.

    Example: hopgate backfill 'shards/*.parquet' --engine ray --workers 8 --dsn postgresql://db/notes
    """
    from hopgate.scale.engine import Engine
    from hopgate.sources.field_map import parse_map
    from hopgate.sources.source import ReadOptions

    options = ReadOptions(parse_map(fields or ()), query=from_sql, keep_unknown=keep_unknown, scope=scope)
    with opened(data, dsn) as kb, extractor_options.progress_line() as show:
        done = kb.backfill(
            *sources,
            engine=Engine(engine, address, workers, gpus_per_worker),
            show=show,
            extractor=extractor_options.make_extractor(kb, extractor, model, url),
            embedder=embedder,
            form=form,
            options=options,
            batch=batch,
            build=not rows_only,
            rebuild=rebuild,
        )
    if as_json:
        print_json(done.to_dict())
        return
    say(str(done))
    for stage, seconds in done.stages.items():
        say(f"  {stage}: {seconds:,.1f} s")
    for row in done.rejected[:SHOWN]:
        say(f"{row.source}, {row.place}: {row.reason} (in the stage {row.stage})")
    if len(done.rejected) > SHOWN:
        say(f"and {counted(len(done.rejected) - SHOWN, 'row')} more: --json lists them all")
