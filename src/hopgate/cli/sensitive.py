"""`hopgate sensitive`: memories that no model, cache or report may see again."""

from __future__ import annotations

from hopgate.cli.common import AsJson, Data, Dsn, opened, print_json, say
from hopgate.cli.delete import Ids


def command(ids: Ids, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Mark memories as sensitive: their vectors, mentions, evidence and cached extractions go at once.

    They stay findable by their words.

    Example: hopgate sensitive m17
    """
    with opened(data, dsn) as kb:
        marked = kb.mark_sensitive(ids)
    print_json({"marked": marked}) if as_json else say(f"marked {marked:,} memories as sensitive")
