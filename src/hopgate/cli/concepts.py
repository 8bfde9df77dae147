"""`hopgate concepts`: look at concepts, merge them and split them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import MOST, AsJson, AsOf, Data, Dsn, KnownAt, Limit, Scope

app = typer.Typer(no_args_is_help=False, invoke_without_command=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="A name of the concept, any of them.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change and change nothing.")]


@app.callback()
def top(
    context: typer.Context,
    ambiguous: Annotated[
        bool, typer.Option("--ambiguous", help="List names that may be the same as another and were left apart.")
    ] = False,
    limit: Limit = 50,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Look at concepts, merge them and split them.

    Example: hopgate concepts --ambiguous
    """
    if context.invoked_subcommand is not None:
        return
    if not ambiguous:
        say(context.get_help())
        return
    with opened(data, dsn) as kb:
        found = kb.graph.ambiguous(limit=limit)
    if as_json:
        print_json([asdict(pair) for pair in found])
        return
    for pair in found:
        advice = f"hopgate concepts merge {pair.near!r} {pair.name!r}"
        say(f"{pair.score:.2f}  {pair.name!r} may be {pair.near!r}: {advice}")
    if not found:
        say("no name is undecided")


@app.command("list")
def listed(
    kind: Annotated[str | None, typer.Option(help="Only concepts of this kind.")] = None,
    limit: Limit = 50,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    scope: Scope = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """List the concepts that most memories talk about.

    Example: hopgate concepts list --kind person --limit 20
    """
    with opened(data, dsn) as kb:
        found = kb.graph.concepts(kind=kind, limit=limit, as_of=as_of, known_at=known_at, scope=scope or None)
    if as_json:
        print_json([asdict(concept) for concept in found])
        return
    for concept in found:
        others = ", ".join(alias for alias in concept.aliases if alias != concept.name)
        say(
            f"{concept.memory_count:6,}  {concept.name}{_bracketed(concept.kind)}" + (f"  = {others}" if others else "")
        )
    if not found:
        say("there are no concepts: run hopgate build first")


@app.command()
def show(
    name: Name,
    limit: Annotated[int, typer.Option(help="How many memories and edges.", min=1, max=MOST)] = 20,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Show a concept: its names and merges, the memories that talk about it, and its edges.

    Example: hopgate concepts show "nas-2" --as-of 2024-03-01
    """
    with opened(data, dsn) as kb:
        found = kb.graph.concept(name, as_of=as_of, known_at=known_at, limit=limit)
    if as_json:
        print_json(found.to_dict())
        return
    concept = found.concept
    say(concept.name + _bracketed(concept.kind))
    say(f"names: {', '.join(concept.aliases)}")
    for merge in found.merges:
        score = "" if merge.score is None else f", score {merge.score:.2f}"
        say(f"merged: {merge.merged_name!r} ({merge.method}{score}, {merge.done_at:%Y-%m-%d})")
    left_out = concept.memory_count - len(found.memories)
    more = f" and {left_out:,} more" if left_out > 0 and known_at is None else ""
    say(f"memories: {', '.join(found.memories)}{more}")
    for edge in found.edges:
        since = f" from {edge.valid_from:%Y-%m-%d}" if edge.valid_from else ""
        until = f" until {edge.valid_to:%Y-%m-%d}" if edge.valid_to else ""
        evidence = f" [{', '.join(edge.evidence[:3])}]" if edge.evidence else ""
        say(f"  {edge.source} → {edge.relation} → {edge.target}{since}{until}{evidence}")


@app.command()
def clusters(
    resolution: Annotated[float, typer.Option(help="Above 1 more and smaller clusters, below 1 fewer.")] = 1.0,
    level: Annotated[int, typer.Option(help="0 is the coarsest; each further level splits the one before.")] = 0,
    members: Annotated[
        int | None, typer.Option(help="Show one cluster's concepts: its id.", show_default="all clusters")
    ] = None,
    scope: Scope = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Show the clusters that the graph makes of its concepts.

    Example: hopgate concepts clusters --resolution 2
    """
    with opened(data, dsn) as kb:
        found = kb.graph.clusters(resolution=resolution, level=level, scope=scope or None)
    if members is not None:
        one = found[members]
        if as_json:
            print_json(one.to_dict())
            return
        say(f"{one.id}  {one.label}")
        for concept in one.members:
            say(f"{concept.memory_count:6,}  {concept.name}{_bracketed(concept.kind)}")
        return
    if as_json:
        print_json(found.to_dict())
        return
    if not found.clusters:
        say("there are no concepts: run hopgate build first")
        return
    for line in str(found).splitlines():
        say(line)


@app.command()
def merge(
    kept: Annotated[str, typer.Argument(help="A name of the concept that stays.")],
    merged: Annotated[str, typer.Argument(help="A name of the concept that becomes part of it.")],
    dry_run: DryRun = False,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Make two concepts one; `hopgate concepts split` takes it back.

    Example: hopgate concepts merge "New York City" NYC --dry-run
    """
    with opened(data, dsn) as kb:
        change = kb.graph.merge(kept, merged, dry_run=dry_run)
    _show_changes([change], "would join" if dry_run else "joined", dry_run, as_json)


@app.command()
def split(name: Name, dry_run: DryRun = False, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Undo every merge into a concept; its edges and mentions come back as they were.

    Example: hopgate concepts split "New York City"
    """
    with opened(data, dsn) as kb:
        changes = kb.graph.split(name, dry_run=dry_run)
    _show_changes(changes, "would leave" if dry_run else "left", dry_run, as_json)


def _show_changes(changes: list[Any], verb: str, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, "changes": [asdict(change) for change in changes]})
        return
    for change in changes:
        names = ", ".join(map(repr, change.names))
        say(
            f"{names} {verb} {change.kept!r}: {counted(change.memories, 'memory')} and "
            f"{counted(change.edges, 'group of facts', 'groups of facts')} follow"
        )


def _bracketed(kind: str | None) -> str:
    return f" ({kind})" if kind else ""
