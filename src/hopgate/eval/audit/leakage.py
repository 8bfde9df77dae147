"""(6) Weights are chosen on development queries and reported on others."""

from __future__ import annotations

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped

NAME = "leakage"


def leakage(case: Case) -> Check:
    """Look for reported queries among those any arm was tuned on."""
    reported = set(case.evidence.qrels)
    leaks = {arm: len(reported & tuning.queries) for arm, tuning in case.evidence.tuning.items()}
    leaks = {arm: count for arm, count in leaks.items() if count}
    if leaks:
        what = ", ".join(f"{arm} ({count})" for arm, count in leaks.items())
        return failed(NAME, f"arms were tuned on queries that they are reported on: {what}", leaks=leaks)
    tuned = {arm: len(tuning.queries) for arm, tuning in case.evidence.tuning.items() if tuning.queries}
    if not tuned:
        return skipped(NAME, "no arm was tuned: every setting was fixed beforehand")
    used = max(tuned.values())
    detail = f"{len(tuned)} arms were tuned on {used} queries, none of which is among the {len(reported)} reported"
    return passed(NAME, detail, tuned_on=tuned)
