"""`hopgate gate`: whether the graph earns its place on this data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.engine_options import Address, EngineName, Workers
from hopgate.cli.output import cell, opened, print_json, say, stages
from hopgate.cli.shared_options import AsJson, Data, Dsn
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.eval.gate.judge import Judgement
    from hopgate.eval.gate.plan import GateOptions, Policy
    from hopgate.scale.engine import Engine

STATUS = {"OPEN": 0, "CLOSED": 10, "INCONCLUSIVE": 11, "INVALID": 12}


def command(
    dataset: Annotated[
        Path | None,
        typer.Argument(
            help="A folder in the BEIR layout; with --store, one with queries and qrels.", metavar="DATASET"
        ),
    ] = None,
    store: Annotated[bool, typer.Option("--store", help="Judge a store's graph as it is, read-only.")] = False,
    runs: Annotated[
        list[Path] | None, typer.Option(help="Judge runs in TREC format: the bases', and the challenger's last.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="For --runs: judgements, as TREC or as BEIR's .tsv.")] = None,
    queries: Annotated[Path | None, typer.Option(help="For --runs: a queries.jsonl, for slices.")] = None,
    tune: Annotated[
        str | None, typer.Option(help="The split that weights are chosen on; none to tune nothing.", show_default="dev")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split that is reported.", show_default="test")] = None,
    k: Annotated[int | None, typer.Option("--k", help="The top k that is judged.", show_default="10")] = None,
    arms: Annotated[str | None, typer.Option(help="quick, default or full.", show_default="default")] = None,
    shuffles: Annotated[
        int | None, typer.Option(help="Shuffled graphs to compare with; below 19 none can pass.", show_default="20")
    ] = None,
    rerank: Annotated[
        bool | None, typer.Option("--rerank", help="Compare every arm with a cross-encoder over it, too.")
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(help="phrases, rules, llama, openai or replay.", show_default="triples.jsonl, else phrases"),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The extractor's model, as for hopgate build.")] = None,
    url: Annotated[str | None, typer.Option(help="The endpoint for openai.")] = None,
    statements: Annotated[
        str | None,
        typer.Option(
            help="Build with statements too: this file, or alone the data set's statements.jsonl.", metavar="[FILE]"
        ),
    ] = None,
    embedder: Annotated[str | None, typer.Option(help="The embedder, as for hopgate embed.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="The chance of any wrong decision that is put up with.", show_default="0.05")
    ] = None,
    worthwhile: Annotated[
        float | None, typer.Option(help="The smallest gain that is worth having.", show_default="0.03")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="The largest loss put up with elsewhere.", show_default="0.02")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure that the claim is about.", show_default="recall@k")
    ] = None,
    slices: Annotated[
        list[str] | None, typer.Option("--slice", help="Watch only this slice, such as hops=2; may be given again.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Declare all this in a file: read where it is there, written where not.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep runs, settings and the report in this folder.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the shuffles and the statistics.", show_default="0")] = None,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 0 OPEN, 10 CLOSED, 11 INCONCLUSIVE, 12 INVALID.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Where it opens, make the configuration that of the store (--data, --dsn).")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="For --apply: also where it does not open.")] = False,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Test validly whether the graph leg helps: OPEN, CLOSED, INCONCLUSIVE or INVALID.

    A data set is built in a throw-away store, from triples.jsonl where there is one. With --store your own store is
    judged as it is, and nothing in it is changed. The exit status is 0 for any verdict, unless --exit-code asks.

    Example: hopgate gate my-dataset --out gate-report
    """
    from hopgate.eval.gate.plan import declared
    from hopgate.scale.engine import Engine as _Engine

    given = {
        "tune": "" if tune == "none" else tune, "split": split, "k": k, "arms": arms, "shuffles": shuffles,
        "rerank": rerank, "extractor": extractor, "model": model, "url": url, "statements": statements,
        "embedder": embedder, "alpha": alpha,
        "worthwhile": worthwhile, "margin": margin, "measure": measure, "slices": tuple(slices) if slices else None,
        "seed": seed,
    }  # fmt: skip
    options, policy, text = declared(plan, {name: value for name, value in given.items() if value is not None})
    if force and not apply:
        raise HopgateError("--force belongs to --apply: add it, or leave --force out")
    if runs:
        judgement = _judge_runs(runs, qrels, queries, dataset, options, policy, text, out)
    elif dataset is None:
        raise HopgateError("name a data set, or runs with --runs and --qrels")
    else:
        able = _Engine(engine, address, workers)
        judgement = _judge_data(dataset, store, options, policy, text, out, data, dsn, able, apply=apply)
    applied = _apply(judgement, data, dsn, force=force) if apply else None
    if as_json:
        print_json({**judgement.to_dict(), **({"applied": applied} if apply else {})})
    else:
        show(judgement, options.k)
        if applied is not None:
            say(f"\napplied to the store: {applied['fuser']} (gate {judgement.fingerprint})")
        elif apply:
            say("\nnothing was applied: the gate is not OPEN (--force applies the challenger all the same)")
        if out is not None:
            say(f"\nreport: {out / 'report.html'}")
    if exit_code:
        sys.exit(STATUS[judgement.decision.verdict.value])


def _judge_data(
    folder: Path,
    store: bool,
    options: GateOptions,
    policy: Policy,
    plan: str,
    out: Path | None,
    data: Path | None,
    dsn: str | None,
    engine: Engine,
    *,
    apply: bool,
) -> Judgement:
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate.run import gate_store, run_gate

    if not store:
        if not apply and (data is not None or dsn is not None):
            raise HopgateError("--data and --dsn name a store: add --store to judge its graph, or leave them out")
        with stages() as stage:
            read = read_dataset(folder)
            return run_gate(read, options, policy=policy, plan=plan, out=out, stage=stage, engine=engine)
    for name in ("extractor", "statements", "embedder"):
        if getattr(options, name):
            raise HopgateError(f"a store is judged as it is: leave --{name} out, or leave --store out")
    with opened(data, dsn) as kb, stages() as stage:
        read = read_dataset(folder, kb.export())
        return gate_store(kb, read, options, policy=policy, plan=plan, out=out, stage=stage, engine=engine)


def _apply(judgement: Judgement, data: Path | None, dsn: str | None, *, force: bool) -> dict[str, Any] | None:
    """Make what was chosen the store's own; where the gate does not open, say so and leave the store alone."""
    from hopgate.eval.gate.chosen import apply_gate

    if judgement.decision.verdict.value != "OPEN" and not force:
        return None
    with opened(data, dsn) as kb:
        return apply_gate(judgement, kb)


def _judge_runs(
    runs: list[Path],
    qrels: Path | None,
    queries: Path | None,
    last: Path | None,
    options: GateOptions,
    policy: Policy,
    plan: str,
    out: Path | None,
) -> Judgement:
    from hopgate.eval.gate.given_runs import runs_evidence
    from hopgate.eval.gate.plan import plan_hash
    from hopgate.eval.gate.run import look
    from hopgate.eval.report import Notes, write_report

    if qrels is None:
        raise HopgateError("--runs needs --qrels: the judgements that the runs are scored with")
    # `--runs base challenger` gives the option its first word, and the argument the second.
    paths = [*runs, *([last] if last is not None else [])]
    evidence = runs_evidence(paths, qrels, queries=queries, options=options, policy=policy)
    about = {"data set": qrels.name, "plan": plan_hash(plan), "runs": ", ".join(map(str, paths))}
    judgement, about = look(qrels.parent, evidence, about, qrels.stem, out)
    if out is not None:
        write_report(out, judgement, Notes(title=qrels.stem, about=about))
    return judgement


def show(judgement: Judgement, k: int) -> None:
    """Print the verdict, what to do, the audit and the arms."""
    from rich import box
    from rich.table import Table

    from hopgate.cli.output import console
    from hopgate.eval.gate.next_step import chosen_in_words, looks_in_words, next_step

    out = console()
    out.print(cell(judgement.decision.verdict.value, style="bold"))
    out.print(cell(judgement.decision.reason))
    if judgement.evidence.looks > 1:
        out.print(cell(looks_in_words(judgement)))
    checks = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="audit", title_justify="left")
    for head in ("check", "status", "detail"):
        checks.add_column(head, overflow="fold")
    for check in judgement.checks:
        checks.add_row(cell(check.name), cell(check.status.value), cell(check.detail))
    out.print(checks)
    columns = ("recall@2", "recall@5", f"recall@{k}", "recall@20", "ndcg@10", "mrr")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="arms", title_justify="left")
    table.add_column("arm")
    for head in dict.fromkeys(columns):
        table.add_column(head, justify="right")
    for name, values in judgement.arms().items():
        found = {measure.lower(): value for measure, value in values.items()}
        table.add_row(cell(name), *(f"{found.get(head, float('nan')):.3f}" for head in dict.fromkeys(columns)))
    out.print(table)
    out.print(cell(f"{chosen_in_words(judgement)}: {judgement.decision.chosen}"))
    out.print(cell(f"what to do now: {next_step(judgement)}"))
