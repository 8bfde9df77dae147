"""What a gate recommends, as settings that recall understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.recall.settings import Settings

if TYPE_CHECKING:
    from hopgate.eval.gate.judge import Judgement
    from hopgate.kb import KnowledgeBase


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


def apply_gate(gate: Judgement, kb: KnowledgeBase) -> dict[str, Any]:
    """Make the challenger's configuration the store's own, with the gate's fingerprint, and give it.

    Whether the gate opened is for the caller to ask.
    """
    arm = gate.evidence.challenger_arm
    if gate.evidence.given_runs or arm.fuser_value is None:
        raise HopgateError("somebody's own runs have no configuration to apply: gate a data set or a store")
    depth, walk = int(arm.settings["depth"]), arm.settings["walk"]
    kb.store_settings.apply_gate(gate.fingerprint, fuser=arm.fuser, depth=depth, walk=walk)
    if arm.read:
        kb.store_settings.set({"rerank": True}, source=f"gate {gate.fingerprint}")
    return {"fuser": arm.fuser, "depth": depth, "walk": walk, "rerank": bool(arm.read)}
