"""What to do now, in a line, with the command to run; and what earlier looks leave of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopgate.eval.gate.chosen import chosen_configuration
from hopgate.eval.gate.verdict import Verdict

if TYPE_CHECKING:
    from hopgate.eval.gate.judge import Judgement


def next_step(gate: Judgement) -> str:
    """Say what to do after this gate."""
    decision = gate.decision
    if decision.verdict is Verdict.INVALID:
        return f"correct what fails ({', '.join(decision.failed)}) and run the gate again; the figures mean nothing yet"
    if decision.verdict is Verdict.INCONCLUSIVE:
        missing = max(1, (decision.queries_needed or 1) - len(gate.evidence.qrels))
        return f"judge about {missing:,} more queries (hopgate questions questions.md), then run the gate again"
    settings = chosen_configuration(gate)
    if not settings:
        return "use the challenger" if decision.verdict is Verdict.OPEN else "stay with the base"
    if decision.verdict is Verdict.OPEN:
        return 'recall with the graph: run the gate with --apply, and try it with hopgate recall "…" --explain'
    use = f'hopgate settings set fuser "{settings["fuser"]}"' + (" and rerank on" if settings["rerank"] else "")
    return f'recall without the graph: {use}, and try it with hopgate recall "…" --explain'


def chosen_in_words(gate: Judgement) -> str:
    """Say what the configuration is that a gate names: recommended only by a verdict that recommends something."""
    undecided = gate.decision.verdict in (Verdict.INVALID, Verdict.INCONCLUSIVE)
    return "nothing is recommended yet; the graph was compared with" if undecided else "recommended"


def looks_in_words(gate: Judgement) -> str:
    """Say how often these queries were looked at before, and whether the verdict holds at the level that is left."""
    looks, alpha = gate.evidence.looks, gate.evidence.policy.alpha
    if gate.after_looks is None:
        return "These queries have not been looked at before."
    same = gate.after_looks.verdict is gate.decision.verdict
    holds = "the verdict is the same" if same else f"the verdict would be {gate.after_looks.verdict.value}"
    return (
        f"This is look {looks} at these queries: each spends some of their level. At {alpha:g} shared out over "
        f"{looks} looks ({alpha / looks:.4f}) {holds}."
    )
