"""(11) The development queries carry the choice of a configuration, or a declared default was used instead."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped
from hopgate.eval.gate.evidence import Tuning

NAME = "tuning"


def tuning(case: Case) -> Check:
    """Look at how the challenger, the base and every shuffle were chosen.

    A default that was declared beforehand is valid, so a set of queries that carries no choice is a note and no
    failure. What fails is a configuration that was chosen all the same.
    """
    evidence = case.evidence
    arms = {name: evidence.tuning[name] for name in (evidence.challenger, evidence.base) if name in evidence.tuning}
    chosen = {name: record for name, record in arms.items() if record.carries is not None}
    if not chosen:
        return skipped(NAME, "nothing was chosen on development queries: every configuration was fixed beforehand")
    fusers = {name: evidence.arms[name].fuser for name in chosen}
    forced = [name for name, record in chosen.items() if not record.carries and fusers[name] != record.default]
    figures: dict[str, Any] = {
        name: {"carries": record.carries, "gain": record.gain, "error": record.error, "agreement": record.agreement}
        for name, record in chosen.items()
    }
    told = "; ".join(f"{name}: {_in_words(record)}" for name, record in chosen.items())
    if forced:
        detail = f"{', '.join(forced)} was chosen on queries that do not carry a choice ({told}): use the default"
        return failed(NAME, detail, **figures)
    return passed(NAME, told, **figures)


def _in_words(record: Tuning) -> str:
    queries = f"{len(record.queries)} development queries"
    if not record.carries and not record.agreement:
        return f"{queries} are too few to choose on, so the declared default {record.default} was used"
    found = (
        f"choosing brings {record.gain:+.3f} ± {record.error:.3f} over the declared default on queries it has not seen "
        f"and is the same in {record.agreement:.0%} of the folds"
    )
    if record.carries:
        return f"{queries} carry the choice of {len(record.tried)}: {found}"
    return f"{queries} do not carry a choice: {found}, so the declared default {record.default} was used"
