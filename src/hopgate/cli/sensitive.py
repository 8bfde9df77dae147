"""`hopgate sensitive`: memories that no model, cache or report may see again."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, say
from hopgate.cli.delete import Ids

Undo = Annotated[bool, typer.Option("--undo", help="Take the mark away, after saying what follows.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def command(
    ids: Ids, undo: Undo = False, yes: Yes = False, data: Data = None, dsn: Dsn = None, as_json: AsJson = False
) -> None:
    """Mark memories as sensitive: their vectors, mentions, evidence and cached extractions go at once.

    They stay findable by their words, and sensitive for good: to ingest them again does not change it. --undo alone
    takes the mark away; then the next embed, build or watch gives their texts to the embedder and the extractor.

    Example: hopgate sensitive m17
    """
    with opened(data, dsn) as kb:
        if not undo:
            marked = kb.mark_sensitive(ids)
            print_json({"marked": marked}) if as_json else say(f"marked {marked:,} memories as sensitive")
            return
        if not yes:
            _ask(len(ids), kb.embedder_name() or "the embedder")
        unmarked = kb.unmark_sensitive(ids)
    print_json({"unmarked": unmarked}) if as_json else say(f"{unmarked:,} memories are no longer sensitive")


def _ask(count: int, embedder: str) -> None:
    """Say what the end of a mark means, and go on only if that is wanted."""
    from hopgate.errors import HopgateError

    what = (
        f"{count:,} memories will not be sensitive any more: the next embed sends their texts to {embedder}, the next "
        "build gives them to the extractor, and both keep what they make of them"
    )
    if not sys.stdin.isatty():
        raise HopgateError(f"{what}. Nothing was changed: say --yes to do it")
    say(what)
    if not typer.confirm("Go on?"):
        raise HopgateError("nothing was changed")
