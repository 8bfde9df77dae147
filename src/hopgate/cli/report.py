"""`hopgate report`: a gate's figures and verdict, computed again from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.common import AsJson, print_json, say
from hopgate.errors import HopgateError


def command(
    folder: Annotated[Path, typer.Argument(help="What hopgate gate --out wrote.", metavar="DIR")],
    trec: Annotated[
        Path | None, typer.Option(help="Also write every arm's run and the qrels as TREC files here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a gate from its saved runs: measures, statistics, audit and verdict.

    The page is written anew without memories' texts, which are not saved with a gate.

    Example: hopgate report gate-report
    """
    from hopgate.cli.gate import show
    from hopgate.eval.gate.judge import judge
    from hopgate.eval.gate.saved import load_gate
    from hopgate.eval.report import Notes, write_report, write_trec

    if not (folder / "gate.json").is_file():
        raise HopgateError(f"{folder} holds no saved gate: run hopgate gate DATASET --out {folder}")
    evidence, about = load_gate(folder)
    judgement = judge(evidence)
    path = write_report(folder, judgement, Notes(title=str(about.get("data set", folder.name)), about=about))
    if trec is not None:
        write_trec(trec, evidence)
    if as_json:
        print_json(judgement.to_dict())
        return
    show(judgement, evidence.k)
    say(f"\nreport: {path}")
