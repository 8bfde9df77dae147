"""`hopgate graph`: the whole graph in figures, and out to other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, AsOf, Data, Dsn, KnownAt

if TYPE_CHECKING:
    from hopgate.graph.inspect.stats import GraphStats

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def top() -> None:
    """Measure the graph, or write it for other tools."""


@app.command()
def stats(
    damping: Annotated[
        float, typer.Option(help="Damping of the walks that are compared with degree.", min=0.05, max=0.95)
    ] = 0.5,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Count nodes, edges, hubs, components, kinds and relations; say how much PageRank resembles degree here.

    Example: hopgate graph stats --json
    """
    with opened(data, dsn) as kb:
        found = kb.graph.stats(damping=damping)
    print_json(found.to_dict()) if as_json else _show(found)


@app.command()
def export(
    out: Annotated[
        Path | None, typer.Option("--out", help="A file ending in .graphml or .json.", show_default="standard output")
    ] = None,
    form: Annotated[str | None, typer.Option("--format", help="graphml or json (node-link).")] = None,
    memories: Annotated[bool, typer.Option("--memories", help="Also memories and what they mention.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Write the graph as GraphML or node-link JSON: concepts and edges with ids, names and times, no memory's text.

    Example: hopgate graph export --out notes.graphml
    """
    from hopgate.errors import HopgateError
    from hopgate.exports import graph as exporting

    if form is not None and form not in exporting.FORMATS:
        raise HopgateError(f"there is no format {form!r}: use one of {', '.join(exporting.FORMATS)}")
    with opened(data, dsn) as kb:
        graph = kb.graph.to_networkx(as_of=as_of, known_at=known_at, memories=memories)
    if out is not None:
        exporting.write_network(graph, out, form)
        say(f"wrote {counted(graph.number_of_nodes(), 'node')} and {counted(graph.number_of_edges(), 'edge')} to {out}")
    elif form == "graphml":
        sys.stdout.write(exporting.graphml(graph))
    else:
        print_json(exporting.node_link(graph))


def _show(found: GraphStats) -> None:
    say(f"memories      {found.memories:,}, of which {found.linked_memories:,} talk about a concept")
    undecided = f"{counted(found.merges, 'merge')}, {found.ambiguous:,} undecided"
    say(f"concepts      {found.concepts:,} by {counted(found.names, 'name')}; {undecided}")
    say(f"mentions      {found.mentions:,}")
    say(f"edges         {found.edges:,} believed, {found.retired:,} retired, {found.name_links:,} links by name")
    say(f"invalidated   {found.invalidation_rate:.1%} of the facts")
    relations = f"{found.relations:,} from {found.raw_relations:,} as extracted"
    say(f"relations     {relations}; {found.single_valued:,} single-valued")
    say(f"components    {found.components:,}; the largest holds {found.largest_component:.1%} of the nodes")
    for title, rows in (("kinds", found.kinds), ("relations", found.top_relations), ("hubs", found.hubs)):
        listed = ", ".join(f"{name or 'unknown'} {count:,}" for name, count in rows)
        say(f"{'top ' + title:<13} {listed or 'none'}")
    if found.degree is not None:
        degree = found.degree
        say(
            f"degree        at damping {degree.damping} the first {degree.top} of two unrelated walks overlap by "
            f"{degree.between_queries:.2f} ({degree.between_queries_corrected:.2f} corrected for degree), and with the "
            f"ranking by degree by {degree.with_degree:.2f} ({degree.with_degree_corrected:.2f})"
        )
