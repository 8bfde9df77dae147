"""`hopgate sensitive`: memories that no model, cache or report may see again."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.confirm import Yes, asked
from hopgate.cli.delete import Ids
from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

Undo = Annotated[bool, typer.Option("--undo", help="Take the mark away, after saying what follows.")]


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
            print_json({"marked": marked}) if as_json else say(f"marked {counted(marked, 'memory')} as sensitive")
            return
        asked(
            f"make {counted(len(ids), 'memory')} not sensitive any more (the next embed sends their texts to "
            f"{kb.embedder_name() or 'the embedder'}, the next build gives them to the extractor, and both keep what "
            "they make of them)",
            yes=yes,
        )
        unmarked = kb.unmark_sensitive(ids)
    print_json({"unmarked": unmarked}) if as_json else say(
        f"{counted(unmarked, 'memory')} {'is' if unmarked == 1 else 'are'} no longer sensitive"
    )
