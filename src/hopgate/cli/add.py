"""`hopgate add`: one memory in, from the command line."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from hopgate.cli.linking import ExtractorName, Later, link, say_kept
from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn, read_date


def command(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    key: Annotated[
        str | None, typer.Option("--id", help="The memory's id.", show_default="made of scope, title and text")
    ] = None,
    title: Annotated[str, typer.Option(help="Its title.", show_default="none")] = "",
    scope: Annotated[str | None, typer.Option(help="The session, user or conversation it belongs to.")] = None,
    tags: Annotated[list[str] | None, typer.Option(help="A tag, or several parted by commas; again for more.")] = None,
    category: Annotated[str | None, typer.Option(help="Its category.")] = None,
    importance: Annotated[float, typer.Option(help="A prior between 0 and 1.")] = 0.5,
    at: Annotated[
        datetime | None,
        typer.Option(help="When it became known.", parser=read_date, metavar="DATE", show_default="now"),
    ] = None,
    thread: Annotated[str | None, typer.Option(help="The conversation it is part of.")] = None,
    reply_to: Annotated[str | None, typer.Option(help="The id of the memory that it answers.")] = None,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Never embed, extract or send it.")] = False,
    later: Later = False,
    extractor: ExtractorName = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Remember one text: it is stored, embedded and linked at once.

    The same text in the same scope is the same memory: it is brought up to date, not doubled.

    Example: hopgate add "The NAS moved to the cellar." --tags homelab --at 2024-03-01
    """
    from hopgate.errors import HopgateError
    from hopgate.memory import Memory
    from hopgate.sources.source import digest

    if not text.strip():
        raise HopgateError("there is nothing to remember: give a text")
    memory = Memory(
        key or f"add#{digest(scope, title, text)}",
        text,
        title=title,
        tags=tuple(tag.strip() for given in tags or () for tag in given.split(",") if tag.strip()),
        category=category,
        importance=importance,
        is_sensitive=sensitive,
        scope=scope,
        created_at=at,
        thread=thread,
        reply_to=reply_to,
    )
    with opened(data, dsn) as kb:
        written = kb.add(memory)
        if as_json:
            done = None if later else link(kb, [memory.external_id], extractor, quiet=True)
            made = {"embedded": done.embedded, "linked": done.linked} if done else {}
            print_json({"_id": memory.external_id, "new": bool(written.added), **made})
            return
        say(f"{'added' if written.added else 'updated'} {memory.external_id}")
        say_kept(written.kept_sensitive)
        if not later:
            link(kb, [memory.external_id], extractor, quiet=False)
