"""(4) A slice may not be defined by the failures of the runs it compares."""

from __future__ import annotations

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed

NAME = "selection"


def selection(case: Case) -> Check:
    """Look at how every declared slice was defined."""
    slices = list(case.evidence.selected)
    chosen = [repr(part) for part in slices if part.from_runs]
    same = [repr(part) for part in slices if case.evidence.space and case.evidence.space in part.spaces]
    names = ", ".join(map(repr, slices))
    if chosen:
        return failed(NAME, f"defined from the runs it compares: {', '.join(chosen)}", from_runs=chosen)
    if same:
        detail = f"defined in the embedding space under test ({case.evidence.space}): {', '.join(same)}"
        return failed(NAME, detail, same_space=same)
    return passed(NAME, f"no slice was defined from a run or in the space under test: {names}")
