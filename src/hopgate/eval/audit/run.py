"""The twelve checks: those of the specification in its order, then tuning and integrity."""

from __future__ import annotations

from collections.abc import Callable

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, skipped
from hopgate.eval.audit.circularity import circularity
from hopgate.eval.audit.control import control
from hopgate.eval.audit.exclusion import exclusion
from hopgate.eval.audit.fairness import fairness
from hopgate.eval.audit.inertness import inertness
from hopgate.eval.audit.integrity import integrity
from hopgate.eval.audit.leakage import leakage
from hopgate.eval.audit.persistence import persistence
from hopgate.eval.audit.power import power
from hopgate.eval.audit.reachability import reachability
from hopgate.eval.audit.selection import selection
from hopgate.eval.audit.tuning import tuning

CHECKS: tuple[Callable[[Case], Check], ...] = (
    reachability,
    inertness,
    exclusion,
    selection,
    circularity,
    leakage,
    power,
    persistence,
    fairness,
    control,
    tuning,
    integrity,
)
NEED_LEGS = (reachability, inertness, exclusion, fairness, control, tuning, integrity)
"""What looks at legs, at how weights were chosen or at shuffles: somebody's own runs have none of them."""


def audit(case: Case) -> tuple[Check, ...]:
    """Run every check: none is left out because another failed."""
    return tuple(
        skipped(check.__name__, "a run was given, and not the legs, the weights and the graph that made it")
        if case.evidence.given_runs and check in NEED_LEGS
        else check(case)
        for check in CHECKS
    )
