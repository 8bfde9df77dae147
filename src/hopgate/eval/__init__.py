"""The gate: data in, a verdict for each part of the graph out.

`judge(evidence)` is the pure middle; `read_dataset`, `run_gate`, `save` and `load` are its edges.
"""

from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.evidence import Evidence, Rung
from hopgate.eval.gate import gate_runs, gate_store, run_gate
from hopgate.eval.plan import Plan
from hopgate.eval.record import load, save, verify
from hopgate.eval.verdict import Judgement, Verdict, judge

__all__ = [
    "Dataset",
    "Evidence",
    "Judgement",
    "Plan",
    "Rung",
    "Verdict",
    "gate_runs",
    "gate_store",
    "judge",
    "load",
    "read_dataset",
    "run_gate",
    "save",
    "verify",
]
