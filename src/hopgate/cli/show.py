"""`hopgate show`: one memory, and everything that was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import MOST, AsJson, Data, Dsn

if TYPE_CHECKING:
    from hopgate.graph.inspect.edges import MemoryDetail


def command(
    key: Annotated[str, typer.Argument(help="The memory's id.", metavar="ID")],
    limit: Annotated[int, typer.Option(help="How many edges and neighbours.", min=1, max=MOST)] = 10,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory: its text, what was extracted, its edges and neighbours, and what superseded it.

    Example: hopgate show m1
    """
    with opened(data, dsn) as kb:
        found = kb.graph.memory(key, limit=limit)
    print_json(found.to_dict()) if as_json else _print(found)


def _print(found: MemoryDetail) -> None:
    memory = found.memory
    say(memory.external_id + (f"  {memory.title}" if memory.title else ""))
    say(memory.text)
    shown = ("tags", "category", "expanded_keywords", "scope", "thread", "reply_to", "language")
    values = {name: getattr(memory, name) for name in shown}
    values |= {"created_at": memory.created_at and memory.created_at.isoformat(), "importance": memory.importance}
    for name, value in values.items():
        if value:
            say(f"  {name:<18}{', '.join(value) if isinstance(value, tuple) else value}")
    if memory.is_sensitive:
        say("  sensitive: never embedded, extracted or sent")
    if memory.superseded_at:
        taken = f" by {memory.superseded_by}" if memory.superseded_by else ""
        say(f"  superseded{taken} since {memory.superseded_at.isoformat()}: recall leaves it out")
        if found.reason:
            say(f"    because {found.reason}")
    for key in found.supersedes:
        say(f"  supersedes {key}")
    for title, lines in (
        ("mentions", [str(mention) for mention in found.mentions]),
        ("facts", [str(fact) for fact in found.facts]),
        ("edges", [f"{edge.source} — {edge.relation} → {edge.target}" for edge in found.edges]),
        ("neighbours", [f"{key} by {', '.join(names)}" for key, names in found.neighbours]),
    ):
        for line in lines:
            say(f"  {title:<18}{line}")
    if not found.mentions and not memory.is_sensitive:
        say("  nothing was extracted from it yet: hopgate build")
