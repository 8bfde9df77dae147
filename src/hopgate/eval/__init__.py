"""The gate: data in, measures, statistics, slices, audit, verdict and report.

`judge(Evidence(...))` is the pure middle; `read_dataset`, `save_gate` and `write_report` are its edges.
"""

from hopgate.eval.data.dataset import Dataset, read_dataset
from hopgate.eval.gate.evidence import Arm, Evidence, GraphSource, Tuning
from hopgate.eval.gate.judge import Judgement, judge
from hopgate.eval.gate.plan import Policy
from hopgate.eval.gate.saved import load_gate, recomputed, save_gate

__all__ = [
    "Arm",
    "Dataset",
    "Evidence",
    "GraphSource",
    "Judgement",
    "Policy",
    "Tuning",
    "judge",
    "load_gate",
    "read_dataset",
    "recomputed",
    "save_gate",
]
