"""(12) Every run is what its own lists, fuser, prior and re-ranker make of it, and nothing was changed on disk."""

from __future__ import annotations

from collections.abc import Iterator

from hopgate.eval.arms.fused_runs import remade_run
from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed
from hopgate.eval.gate.evidence import Arm, Evidence

NAME = "integrity"


def integrity(case: Case) -> Check:
    """Make every arm's and every shuffle's run again, and compare."""
    evidence = case.evidence
    wrong = [*evidence.altered, *remade_differently(evidence)]
    if wrong:
        return failed(NAME, "; ".join(wrong), differing=wrong)
    count = len(evidence.arms) + len(evidence.shuffles)
    return passed(NAME, f"the runs of all {count} arms and shuffles were made again from their lists and are equal")


def remade_differently(evidence: Evidence) -> Iterator[str]:
    """Name the arms whose run is not what their lists make, with the first query that shows it."""
    arms: list[Arm] = [*evidence.arms.values(), *evidence.shuffles]
    for arm in arms:
        run = remade_run(arm, evidence.qrels, evidence.importance)
        if run is None:
            yield f"the run of {arm.name} cannot be made again: its lists or its fuser are not known"
            continue
        differing = [
            query
            for query, ranking in run.items()
            if [tuple(pair) for pair in arm.run.get(query, ())] != [tuple(pair) for pair in ranking]
        ]
        if differing:
            yield (
                f"the run of {arm.name} is not what its lists and {arm.fuser or 'its leg'} make, on {len(differing)} "
                f"of {len(run)} queries ({differing[0]} first)"
            )
