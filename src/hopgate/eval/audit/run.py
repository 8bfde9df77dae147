"""The ten checks, in the order of the specification."""

from __future__ import annotations

from collections.abc import Callable

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check
from hopgate.eval.audit.circularity import circularity
from hopgate.eval.audit.control import control
from hopgate.eval.audit.exclusion import exclusion
from hopgate.eval.audit.fairness import fairness
from hopgate.eval.audit.inertness import inertness
from hopgate.eval.audit.leakage import leakage
from hopgate.eval.audit.persistence import persistence
from hopgate.eval.audit.power import power
from hopgate.eval.audit.reachability import reachability
from hopgate.eval.audit.selection import selection

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
)


def audit(case: Case) -> tuple[Check, ...]:
    """Run every check: none is left out because another failed."""
    return tuple(check(case) for check in CHECKS)
