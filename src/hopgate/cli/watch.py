"""`hopgate watch`: vectors and links for what other programs write, off their path."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hopgate.cli.linking import ExtractorName, say_done
from hopgate.cli.output import opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn


def command(
    once: Annotated[bool, typer.Option("--once", help="Do what waits now, and end.")] = False,
    extractor: ExtractorName = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Embed and link new memories as they come into the table, whoever writes them, until interrupted.

    The table notifies (LISTEN/NOTIFY), so that nothing is asked for in vain, and whoever writes never waits. Rules of
    sensitivity are applied before anything is embedded.

    Example: hopgate watch --dsn postgresql://me@localhost/notes
    """
    with opened(data, dsn) as kb:
        if not once and not as_json:
            say("watching for new memories; Ctrl-C ends it")
        for done in kb.upkeep.watch(extractor=extractor, wait=0 if once else None):
            print_json(asdict(done)) if as_json else say_done(done)
