"""Somebody's own runs against each other: every check that applies to runs alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query, read_queries
from hopgate.eval.data.runs import Qrels, read_qrels, read_run
from hopgate.eval.gate.evidence import MEASURES, Arm, Evidence
from hopgate.eval.gate.plan import GateOptions, Policy
from hopgate.eval.measures import Recall
from hopgate.eval.slices import metadata_slices


def read_judgements(path: Path) -> Qrels:
    """Read judgements in TREC's columns or, in a `.tsv` file, in BEIR's.

    Raises
    ------
    HopgateError
        For the first thing that is wrong, naming file, line and reason.
    """
    return read_qrels(path)


def runs_evidence(
    runs: Sequence[Path], qrels: Path, *, queries: Path | None = None, options: GateOptions, policy: Policy
) -> Evidence:
    """Make the evidence of a challenger's run against one or more bases'.

    Parameters
    ----------
    runs : sequence of Path
        TREC runs, the challenger's last. The claim is made against every other one: nothing says which of them was
        the strongest beforehand, so that none may be chosen by what it scores here.
    qrels : Path
    queries : Path, optional
        A `queries.jsonl`, whose types, hops and strata become slices.
    """
    if len(runs) < 2:
        raise HopgateError("--runs wants two runs or more: the bases' first, and the challenger's last")
    judged = read_judgements(qrels)
    names = [_name(path, runs) for path in runs]
    arms = {name: Arm(name, read_run(path)) for name, path in zip(names, runs, strict=True)}
    for name, arm in arms.items():
        if not arm.run.keys() & judged.keys():
            raise HopgateError(f"the run {name} answers no query that {qrels} judges: are the ids the same?")
    known = read_queries(queries) if queries else {}
    asked = {name: known.get(name, Query(name, name)) for name in judged}
    return Evidence(
        queries=asked,
        qrels=judged,
        arms=arms,
        challenger=names[-1],
        base=names[0],
        rivals=tuple(names[1:-1]),
        k=options.k,
        primary=options.primary,
        measures=tuple(measure for measure in (Recall(options.k), *MEASURES) if measure != options.primary),
        slices=metadata_slices(asked, judged, declared=options.slices),
        policy=policy,
        given_runs=True,
    )


def _name(path: Path, runs: Sequence[Path]) -> str:
    """The file's name without its ending, or the whole path where two have the same."""
    return path.stem if sum(other.stem == path.stem for other in runs) == 1 else str(path)
