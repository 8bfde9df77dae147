"""(8) Every arm can be recomputed."""

from __future__ import annotations

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed

NAME = "persistence"


def persistence(case: Case) -> Check:
    """Compare every arm's per-query values with those recomputed from the saved runs."""
    saved = case.evidence.saved
    if saved is None:
        return failed(NAME, "no run was saved, so that no figure can be recomputed: save them with save_gate")
    missing, differing = [], []
    for name, values in case.values.items():
        ours = values[case.evidence.primary]
        if name not in saved:
            missing.append(name)
        elif any(abs(saved[name].get(query, -1.0) - value) > 1e-9 for query, value in ours.items()):
            differing.append(name)
    if missing or differing:
        what = [f"not saved: {', '.join(missing)}"] * bool(missing)
        what += [f"recomputed differently: {', '.join(differing)}"] * bool(differing)
        return failed(NAME, "; ".join(what), missing=missing, differing=differing)
    return passed(NAME, f"the values of all {len(case.values)} arms were recomputed from disk and agree")
