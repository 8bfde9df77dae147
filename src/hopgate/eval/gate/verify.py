"""Whether a saved gate is what it was when it was saved, and its verdict follows from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.audit import Status
from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.saved import altered, load_gate, saved_fingerprint

REPORT = "report.json"


@dataclass(frozen=True)
class Verified:
    """What differs, in words, and the fingerprint that the gate was saved with."""

    fingerprint: str
    differs: tuple[str, ...]


def verify_gate(folder: str | Path, fingerprint: str | None = None) -> Verified:
    """Compare every piece of a saved gate with its digest, make every run again, and judge it again.

    Parameters
    ----------
    folder : path
        What `save_gate` wrote.
    fingerprint : str, optional
        The fingerprint from elsewhere: who can change a gate on disk can change the one that lies beside it.
    """
    folder = Path(folder)
    saved = saved_fingerprint(folder)
    differs = altered(folder)
    if fingerprint is not None and fingerprint != saved:
        differs.append(f"the gate's fingerprint is {saved}, not {fingerprint}")
    try:
        evidence, _ = load_gate(folder)
    except (HopgateError, KeyError) as error:
        return Verified(saved, tuple(differs or [f"the gate cannot be read: {error}"]))
    judgement = judge(evidence)
    for check in judgement.checks:
        if check.name in ("integrity", "persistence") and check.status is Status.FAIL:
            differs += [what for what in check.detail.split("; ") if what not in differs]
    if not differs and (folder / REPORT).is_file():
        told = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        now = json.loads(json.dumps(judgement.to_dict()))
        differs += [f"{name} in {REPORT} was changed" for name in ("verdict", "arms") if told.get(name) != now[name]]
    return Verified(saved, tuple(differs))
