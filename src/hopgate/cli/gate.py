"""`hopgate gate`: whether the graph earns its place on this data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.common import AsJson, print_json, say, stages
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.eval.gate.judge import Judgement

ARMS = ("quick", "default", "full")


def command(
    dataset: Annotated[Path, typer.Argument(help="A folder in the BEIR layout.", metavar="DATASET")],
    tune: Annotated[str, typer.Option(help="The split that weights are chosen on; none to tune nothing.")] = "dev",
    split: Annotated[str, typer.Option(help="The split that is reported.")] = "test",
    k: Annotated[int, typer.Option("--k", help="The top k that is judged.")] = 10,
    arms: Annotated[str, typer.Option(help="quick, default or full.")] = "default",
    out: Annotated[Path | None, typer.Option(help="Keep runs, settings and the report in this folder.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the shuffled control and the statistics.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Test validly whether the graph leg helps: OPEN, CLOSED, INCONCLUSIVE or INVALID.

    Builds in a throw-away store. Uses triples.jsonl where there is one, and the no-model extractor otherwise. The exit
    status is 0 for any verdict.

    Example: hopgate gate my-dataset --out gate-report
    """
    if arms not in ARMS:
        raise HopgateError(f"--arms is one of {', '.join(ARMS)}, not {arms!r}")
    if not 1 <= k <= 50:
        raise HopgateError(f"--k must be between 1 and 50, the depth of the legs, not {k}")
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate.plan import GateOptions
    from hopgate.eval.gate.run import run_gate

    read = read_dataset(dataset)
    options = GateOptions(tune="" if tune == "none" else tune, split=split, k=k, arms=arms, seed=seed)  # type: ignore[arg-type]
    with stages() as stage:
        judgement = run_gate(read, options, out=out, stage=stage)
    if as_json:
        print_json(judgement.to_dict())
        return
    show(judgement, k)
    if out is not None:
        say(f"\nreport: {out / 'report.html'}")


def show(judgement: Judgement, k: int) -> None:
    """Print the verdict, the audit and the arms."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from hopgate.cli.common import console

    out = console()
    out.print(Text(judgement.decision.verdict.value, style="bold"))
    out.print(Text(judgement.decision.reason))
    checks = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="audit", title_justify="left")
    for head in ("check", "status", "detail"):
        checks.add_column(head, overflow="fold")
    for check in judgement.checks:
        checks.add_row(Text(check.name), Text(check.status.value), Text(check.detail))
    out.print(checks)
    columns = ("recall@2", "recall@5", f"recall@{k}", "recall@20", "ndcg@10", "mrr")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="arms", title_justify="left")
    table.add_column("arm")
    for head in dict.fromkeys(columns):
        table.add_column(head, justify="right")
    for name, values in judgement.arms().items():
        found = {measure.lower(): value for measure, value in values.items()}
        table.add_row(Text(name), *(f"{found.get(head, float('nan')):.3f}" for head in dict.fromkeys(columns)))
    out.print(table)
    out.print(Text(f"recommended: {judgement.decision.chosen}"))
