"""`hopgate slices`: multi-hop questions from one's own facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.output import opened, progress
from hopgate.cli.shared_options import MOST, AsJson, Data, Dsn
from hopgate.errors import HopgateError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def top() -> None:
    """Multi-hop questions from one's own facts."""


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="The data set to write: a new or empty folder.")],
    dataset: Annotated[
        Path | None, typer.Option(help="Make them from this data set's triples.jsonl instead of a store's graph.")
    ] = None,
    hops: Annotated[int, typer.Option(help="How many facts each question joins.")] = 2,
    limit: Annotated[int, typer.Option(help="How many questions at most.", min=1, max=MOST)] = 200,
    neighbours: Annotated[
        int,
        typer.Option(
            help="Memories among each other's nearest so many are adjacent; such hops are left out.", min=1, max=MOST
        ),
    ] = 10,
    dev: Annotated[float, typer.Option(help="Share of the questions that go to the split dev.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Which of the paths come first.")] = 0,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set of multi-hop questions whose hops are not adjacent, from a graph's own facts.

    The facts that questions were made from are left out of its triples.jsonl, so that a gate on it is not circular.
    Sensitive memories are left out.

    Example: hopgate slices build --dataset my-dataset --out my-hops --hops 2
    """
    from hopgate.cli.dataset import show_counts
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.slices.hop_dataset import build_hop_dataset, dataset_source, store_source

    if dataset is not None:
        if data is not None or dsn is not None:
            raise HopgateError("--dataset is made from files: leave --data and --dsn out, or leave it out")
        source = dataset_source(read_dataset(dataset))
    else:
        with opened(data, dsn) as kb:
            source = store_source(kb)
    with progress("making questions"):
        made = build_hop_dataset(source, out, hops=hops, limit=limit, neighbours=neighbours, seed=seed, dev=dev)
    show_counts(made, as_json)
