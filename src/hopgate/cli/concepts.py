"""`hopgate concepts`: look at concepts, merge them and split them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from hopgate.cli.common import AsJson, Data, Dsn, moment, opened, print_json, say

app = typer.Typer(no_args_is_help=False, invoke_without_command=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="A name of the concept, any of them.")]
AsOf = Annotated[datetime | None, typer.Option(help="Only what was true on this date.")]
KnownAt = Annotated[datetime | None, typer.Option(help="Only what was known by this date.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change and change nothing.")]
Shown = Annotated[int, typer.Option(help="How many.", min=1)]


@app.callback()
def top(
    context: typer.Context,
    ambiguous: Annotated[
        bool, typer.Option("--ambiguous", help="List names that may be the same as another and were left apart.")
    ] = False,
    limit: Shown = 50,
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
    from hopgate.store.graph import concept_rows

    with opened(data, dsn) as kb, kb.store.transaction() as connection:
        found = concept_rows.ambiguous(connection, limit=limit)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        say(f"{one.score:.2f}  {one.name!r} may be {one.near!r}: hopgate concepts merge {one.near!r} {one.name!r}")
    if not found:
        say("no name is undecided")


@app.command("list")
def listed(
    kind: Annotated[str | None, typer.Option(help="Only concepts of this kind.")] = None,
    limit: Shown = 50,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """List the concepts that most memories talk about.

    Example: hopgate concepts list --kind person --limit 20
    """
    from hopgate.store.graph import concept_rows

    with opened(data, dsn) as kb, kb.store.transaction() as connection:
        found = concept_rows.listed(connection, kind=kind, limit=limit, as_of=moment(as_of), known_at=moment(known_at))
    if as_json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        others = [alias for alias in one.aliases if alias != one.name]
        say(
            f"{one.memory_count:6,}  {one.name}" + _bracketed(one.kind) + (f"  = {', '.join(others)}" if others else "")
        )
    if not found:
        say("there are no concepts: run hopgate build first")


@app.command()
def show(
    name: Name,
    limit: Annotated[int, typer.Option(help="How many memories and edges.", min=1)] = 20,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Show a concept: its names and merges, the memories that talk about it, and its edges.

    Example: hopgate concepts show "nas-2" --as-of 2024-03-01
    """
    from hopgate.graph.inspect.edges import edges
    from hopgate.graph.names.normal import normalise
    from hopgate.store.graph import concept_rows, merge_rows

    with opened(data, dsn) as kb, kb.store.transaction() as connection:
        concept = concept_rows.find(connection, normalise(name), name)
        times = {"as_of": moment(as_of), "known_at": moment(known_at)}
        found = edges(connection, of=name, limit=limit, **times)
        merges = merge_rows.merges_into(connection, concept.id)
        talking = concept_rows.memories_about(connection, concept.id, known_at=times["known_at"], limit=limit)
    if as_json:
        told: dict[str, Any] = asdict(concept) | {"memories": talking}
        told["merges"] = [_dated(asdict(one)) for one in merges]
        told["edges"] = [_dated(asdict(one)) for one in found]
        print_json(told)
        return
    say(concept.name + _bracketed(concept.kind))
    say(f"names: {', '.join(concept.aliases)}")
    for one in merges:
        score = "" if one.score is None else f", score {one.score:.2f}"
        say(f"merged: {one.merged_name!r} ({one.method}{score}, {one.merged_at:%Y-%m-%d})")
    say(f"memories: {', '.join(talking)}" + (f" and {concept.memory_count - len(talking):,} more"
        if concept.memory_count > len(talking) and known_at is None else ""))  # fmt: skip
    for edge in found:
        since = f" from {edge.valid_from:%Y-%m-%d}" if edge.valid_from else ""
        until = f" until {edge.valid_to:%Y-%m-%d}" if edge.valid_to else ""
        told_by = f" [{', '.join(edge.evidence[:3])}]" if edge.evidence else ""
        say(f"  {edge.source} → {edge.relation} → {edge.target}{since}{until}{told_by}")


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
        change = kb.merge_concepts(kept, merged, dry_run=dry_run)
    _tell([change], "would join" if dry_run else "joined", dry_run, as_json)


@app.command()
def split(name: Name, dry_run: DryRun = False, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Undo every merge into a concept; its edges and mentions come back as they were.

    Example: hopgate concepts split "New York City"
    """
    with opened(data, dsn) as kb:
        changes = kb.split_concept(name, dry_run=dry_run)
    _tell(changes, "would leave" if dry_run else "left", dry_run, as_json)


def _tell(changes: list[Any], verb: str, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, "changes": [asdict(one) for one in changes]})
        return
    for one in changes:
        names = ", ".join(map(repr, one.names))
        say(f"{names} {verb} {one.kept!r}: {one.memories:,} memories and {one.edges:,} groups of facts follow")


def _bracketed(kind: str | None) -> str:
    return f" ({kind})" if kind else ""


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
