"""Evidence in, judgement out: audit, comparisons, what the graph contributes, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from hopgate.eval.audit import Case, Check, audit
from hopgate.eval.audit.control import control
from hopgate.eval.audit.power import power
from hopgate.eval.gate.chosen import chosen_configuration
from hopgate.eval.gate.compare import SHUFFLED, Comparison
from hopgate.eval.gate.evidence import GRAPH, Arm, Evidence
from hopgate.eval.gate.graph_contribution import GraphContribution, graph_contribution
from hopgate.eval.gate.verdict import GateDecision, decide
from hopgate.eval.measures import MAP, MRR, NDCG, Measure, Recall, Success, score_all
from hopgate.eval.statistics import Among
from hopgate.scale.engine import Engine

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

    `to_dict` gives the object that `hopgate gate --json` prints. `after_looks` is the decision at the level that is
    left when the reported queries have been looked at before; None at the first look. `fingerprint` names the saved
    gate, where it was saved.
    """

    evidence: Evidence
    checks: tuple[Check, ...]
    comparisons: tuple[Comparison, ...]
    contribution: GraphContribution | None
    decision: GateDecision
    among: Among | None = None
    after_looks: GateDecision | None = None
    fingerprint: str = ""

    def arms(self) -> dict[str, dict[str, float]]:
        """Give arm → measure → mean over the reported queries."""
        measures = dict.fromkeys((*REPORTED, self.evidence.primary, *self.evidence.measures))
        found = {name: self._means(arm, measures) for name, arm in self.evidence.arms.items()}
        shuffled = [self._means(arm, measures) for arm in self.evidence.shuffles]
        if shuffled:
            found[SHUFFLED] = {name: sum(means[name] for means in shuffled) / len(shuffled) for name in shuffled[0]}
        return found

    def _means(self, arm: Arm, measures: Iterable[Measure]) -> dict[str, float]:
        scored = {measure: score_all(measure, arm.run, self.evidence.qrels) for measure in measures}
        return {str(measure): sum(each.values()) / max(1, len(each)) for measure, each in scored.items()}

    def to_dict(self) -> dict[str, Any]:
        """Give the judgement for a program."""
        return {
            "verdict": self.decision.verdict.value,
            "because": self.decision.because,
            "reason": self.decision.reason,
            "chosen": self.decision.chosen,
            "configuration": chosen_configuration(self),
            "failed": list(self.decision.failed),
            "queries_needed": self.decision.queries_needed,
            "looks": self.evidence.looks,
            "verdict_after_looks": self.after_looks.verdict.value if self.after_looks else None,
            "policy": self.evidence.policy.to_dict(),
            "control": self.among.to_dict() if self.among else None,
            "audit": {check.name: check.to_dict() for check in self.checks},
            "arms": self.arms(),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "graph_contribution": self.contribution.to_dict() if self.contribution else None,
        }


def judge(evidence: Evidence, engine: Engine | None = None) -> Judgement:
    """Audit the evidence, compare the arms, and decide.

    Nothing is read or written; the same evidence gives the same judgement.

    Parameters
    ----------
    engine : Engine, optional
        Who draws the randomisations, where it is not this process.
    """
    case = Case(evidence, engine)
    checks = audit(case)
    arm = evidence.challenger_arm
    contribution = graph_contribution(arm, evidence.qrels, evidence.k) if GRAPH in arm.legs else None
    after = None
    if evidence.looks > 1:
        stricter = Case(replace(evidence, policy=evidence.policy.after(evidence.looks)), engine)
        # What was made again and compared once need not be again: only what depends on the level is asked anew.
        again = [control(stricter) if check.name == control.__name__ else check for check in checks]
        after = decide(stricter, [power(stricter) if check.name == power.__name__ else check for check in again])
    decision = decide(case, checks)
    return Judgement(evidence, checks, tuple(case.comparisons), contribution, decision, case.among, after)
