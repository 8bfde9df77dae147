"""`hopgate curate`: proposals for memories that repeat, extend or contradict others."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from hopgate.cli.output import counted, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn, read_date


def command(
    apply: Annotated[bool, typer.Option("--apply", help="Carry the proposals out.")] = False,
    since: Annotated[
        datetime | None,
        typer.Option(help="Only memories made since this date are new.", parser=read_date, metavar="DATE"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also list memories that are simply kept.")] = False,
    extractor: Annotated[
        str | None, typer.Option(help="llama or openai: a model decides, and the rules where it does not.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="A GGUF file for llama, a model's name for openai.")] = None,
    url: Annotated[str | None, typer.Option(help="The endpoint for openai; its key comes from OPENAI_API_KEY.")] = None,
    restore: Annotated[
        list[str] | None, typer.Option(help="Take back that this _id was superseded; may be given again.")
    ] = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Propose what each new memory means for older ones: ADD, UPDATE, DELETE or NOOP. Nothing changes without --apply.

    A memory that gives way is never deleted: it keeps a tombstone and is left out of recall. Contradictions are seen in
    the graph, so run hopgate build first. With --model a model is asked first, never about sensitive memories.

    Example: hopgate curate --since 2024-06-01 --apply
    """
    with opened(data, dsn) as kb:
        if restore:
            done = kb.graph.restore(restore)
            print_json({"restored": done}) if as_json else say(
                f"{counted(done, 'memory')} {'is' if done == 1 else 'are'} no longer superseded"
            )
            return
        decide = None
        if extractor or model:
            from hopgate.extract.model.judge import Judge
            from hopgate.extract.spec import extractor_from

            decide = Judge(extractor_from(extractor or "openai", model=model, url=url)).decide
        proposals = kb.graph.curate(since=since, apply=apply, decide=decide)
    shown = [proposal for proposal in proposals if every or proposal.gives_way]
    if as_json:
        print_json({"applied": apply, "proposals": [asdict(one) | {"gives_way": one.gives_way} for one in shown]})
        return
    for proposal in shown:
        older = f" ↔ {proposal.older}" if proposal.older else ""
        # Of two ids it must be plain which one goes.
        way = f"; {proposal.gives_way} {'gave' if apply else 'would give'} way" if proposal.gives_way else ""
        say(f"{proposal.action.value:<6} {proposal.memory}{older}: {proposal.reason}{way}")
    gone = sum(proposal.gives_way is not None for proposal in shown)
    say(
        f"{counted(gone, 'memory')} {'gave' if apply else 'would give'} way"
        + ("" if apply or not gone else "; --apply does it")
    )
