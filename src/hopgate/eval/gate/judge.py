"""Evidence in, judgement out: audit, comparisons, what the graph contributes, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopgate.eval.audit import Case, Check, audit
from hopgate.eval.gate.compare import Comparison
from hopgate.eval.gate.evidence import GRAPH, Evidence
from hopgate.eval.gate.graph_contribution import GraphContribution, graph_contribution
from hopgate.eval.gate.verdict import GateDecision, decide
from hopgate.eval.measures import MAP, MRR, NDCG, Measure, Recall, Success, score_all

REPORTED: tuple[Measure, ...] = (
    Recall(2),
    Recall(5),
    Recall(10),
    Recall(20),
    NDCG(10),
    MRR(),
    MAP(),
    Success(10),
)
"""The measures every arm is reported with."""


@dataclass(frozen=True)
class Judgement:
    """Everything that a gate decides and measures.

    `to_dict` gives the object that `hopgate gate --json` prints.
    """

    evidence: Evidence
    checks: tuple[Check, ...]
    comparisons: tuple[Comparison, ...]
    contribution: GraphContribution | None
    decision: GateDecision

    def arms(self) -> dict[str, dict[str, float]]:
        """Give arm → measure → mean over the reported queries."""
        measures = dict.fromkeys((*REPORTED, self.evidence.primary, *self.evidence.measures))
        scored = {name: score_all(arm.run, self.evidence.qrels, measures) for name, arm in self.evidence.arms.items()}
        return {
            name: {str(measure): sum(each.values()) / max(1, len(each)) for measure, each in values.items()}
            for name, values in scored.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Give the judgement for a program."""
        return {
            "verdict": self.decision.verdict.value,
            "reason": self.decision.reason,
            "chosen": self.decision.chosen,
            "failed": list(self.decision.failed),
            "queries_needed": self.decision.queries_needed,
            "audit": {check.name: check.to_dict() for check in self.checks},
            "arms": self.arms(),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "graph_contribution": self.contribution.to_dict() if self.contribution else None,
        }


def judge(evidence: Evidence) -> Judgement:
    """Audit the evidence, compare the arms, and decide.

    Nothing is read or written; the same evidence gives the same judgement.
    """
    case = Case(evidence)
    checks = audit(case)
    arm = evidence.challenger_arm
    contribution = graph_contribution(arm, evidence.qrels, evidence.k) if GRAPH in arm.legs else None
    return Judgement(evidence, checks, tuple(case.comparisons), contribution, decide(case, checks))
