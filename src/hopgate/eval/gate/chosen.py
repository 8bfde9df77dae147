"""What a gate recommends, as settings that recall understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.recall.settings import Settings

if TYPE_CHECKING:
    from hopgate.eval.gate.judge import Judgement


def chosen_configuration(gate: Judgement) -> dict[str, Any]:
    """Give the settings to recall with after this gate: the challenger's where it opens, else the base's.

    Names and values are those of `Settings.replaced`. Somebody's own runs have no configuration: nothing is given.
    """
    evidence = gate.evidence
    arm = evidence.challenger_arm if gate.decision.verdict == "OPEN" else evidence.base_arm
    if evidence.given_runs:
        return {}
    fuser = arm.fuser_value
    if fuser is None:  # one leg alone
        fuser = Settings().fuser.reweighed(**{leg: float(leg in arm.legs) for leg in ("lexical", "dense", "graph")})
    return {"fuser": repr(fuser), "rerank": bool(arm.read)}
