"""`hopgate status`: what a store holds, and what waits to be done."""

from __future__ import annotations

from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn


def command(data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Say how many memories there are, what waits to be embedded or linked, and with what settings recall works.

    Example: hopgate status
    """
    with opened(data, dsn) as kb:
        found = kb.upkeep.status() | {"settings": str(kb.settings())}
    if as_json:
        print_json(found)
        return
    say(
        f"memories      {found['memories']:,}, of which {found['sensitive']:,} are sensitive and "
        f"{found['superseded']:,} superseded"
    )
    say(f"vectors       {found['pending_vectors']:,} pending; embedder {found['embedder'] or 'not chosen yet'}")
    built = "built" if found["graph_built"] else "not built: hopgate build"
    failed = f", {found['failed_graph']:,} failed" if found["failed_graph"] else ""
    made_by = found["extractor"] or "none yet"
    say(f"graph         {found['pending_graph']:,} pending{failed}; {built}; extractor {made_by}")
    for kind, rules in found["sensitivity"].items():
        if rules:
            say(f"sensitive by  {kind}: {', '.join(rules)}")
    say(f"settings      {found['settings']}")
    for name, value in found["store_settings"].items():
        say(f"  {name:<12}{value}")
