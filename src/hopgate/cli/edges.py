"""`hopgate edges`: what the graph says about a concept, as of a time."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import AsJson, AsOf, Data, Dsn, KnownAt, Limit, Scope


def command(
    concept: Annotated[str, typer.Argument(help="A name of the concept, any of them.", metavar="CONCEPT")],
    as_of: AsOf = None,
    known_at: KnownAt = None,
    scope: Scope = None,
    limit: Limit = 50,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """List the edges of a concept, heaviest first, each with its interval and its evidence.

    Example: hopgate edges "backup job" --as-of 2024-03-01
    """
    from hopgate.times import utc

    with opened(data, dsn) as kb:
        found = kb.graph.edges(concept, as_of=utc(as_of), known_at=utc(known_at), scope=scope or None, limit=limit)
    if as_json:
        rows = [asdict(edge) for edge in found]
        print_json([{name: _plain(value) for name, value in row.items()} for row in rows])
        return
    for edge in found:
        start, end = (f"{moment:%Y-%m-%d}" if moment else "…" for moment in (edge.valid_from, edge.valid_to))
        evidence = f"  ({', '.join(edge.evidence)})" if edge.evidence else ""
        say(f"{edge.source} — {edge.relation} → {edge.target}  {start} to {end}{evidence}")
    if not found:
        say(f"{concept} has no edges" + (" then" if as_of or known_at else ""))


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
