"""`hopgate report`: a gate's figures and verdict, computed again from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.output import print_json, say
from hopgate.cli.shared_options import AsJson
from hopgate.errors import HopgateError


def command(
    folder: Annotated[Path, typer.Argument(help="What hopgate gate --out wrote.", metavar="DIR")],
    trec: Annotated[
        Path | None, typer.Option(help="Also write every arm's run and the qrels as TREC files here.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check that nothing was changed; exit with 1 where something was.")
    ] = False,
    fingerprint: Annotated[
        str | None, typer.Option(help="For --verify: the fingerprint that was printed when the gate was run.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a gate from its saved runs: measures, statistics, audit and verdict.

    A page that is there already says more, because memories' texts are not saved with a gate: it is left as it is, and
    a new one is written beside it.

    Example: hopgate report gate-report
    """
    from hopgate.cli.gate import show
    from hopgate.eval.gate.judge import judge
    from hopgate.eval.gate.saved import load_gate
    from hopgate.eval.report import Notes, write_report, write_trec

    if not (folder / "gate.json").is_file():
        raise HopgateError(f"{folder} holds no saved gate: run hopgate gate DATASET --out {folder}")
    if verify:
        _verify(folder, fingerprint, as_json)
        return
    evidence, about = load_gate(folder)
    judgement = judge(evidence)
    path = write_report(folder, judgement, Notes(title=str(about.get("data set", folder.name)), about=about), keep=True)
    if trec is not None:
        write_trec(trec, evidence)
    if as_json:
        print_json(judgement.to_dict())
        return
    show(judgement, evidence.k)
    say(f"\nreport: {path}")


def _verify(folder: Path, fingerprint: str | None, as_json: bool) -> None:
    """Name what was changed since the gate was saved, and exit with 1 where anything was."""
    from hopgate.eval.gate.verify import verify_gate

    found = verify_gate(folder, fingerprint)
    if as_json:
        print_json({"fingerprint": found.fingerprint, "differs": list(found.differs)})
    else:
        for what in found.differs:
            say(what)
        say(f"{folder}: {'changed' if found.differs else 'as it was saved'}, fingerprint {found.fingerprint}")
    if found.differs:
        raise typer.Exit(1)
