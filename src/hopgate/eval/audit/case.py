"""The evidence with everything computed from it that more than one check looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hopgate.eval.gate.compare import Comparison, Values, compare_all, per_query
from hopgate.eval.gate.evidence import GRAPH, Evidence


@dataclass(frozen=True)
class Case:
    """Evidence, per-query values and comparisons, each computed once."""

    evidence: Evidence

    @cached_property
    def values(self) -> Values:
        """Arm → measure → query → value."""
        return per_query(self.evidence)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """The declared comparisons."""
        return compare_all(self.evidence, self.values)

    @property
    def primary(self) -> Comparison:
        """The claim: challenger against base."""
        return self.comparisons[0]

    @property
    def control(self) -> Comparison | None:
        """The challenger against its shuffled graph, where there is one."""
        return next((comparison for comparison in self.comparisons if comparison.role == "control"), None)

    @property
    def gains(self) -> bool:
        """Whether the challenger beats the base."""
        return beats(self.primary, self.evidence.policy.alpha)

    @cached_property
    def graph_only(self) -> dict[str, set[str]]:
        """Query → ids that the challenger's graph leg found and no other leg did."""
        arm = self.evidence.challenger_arm
        return {query: arm.found_ids(GRAPH, query) - arm.found_by_others(GRAPH, query) for query in self.evidence.qrels}

    @property
    def queries_with_graph_hits(self) -> int:
        """On how many queries the graph leg found anything."""
        return sum(bool(self.evidence.challenger_arm.found_ids(GRAPH, query)) for query in self.evidence.qrels)


def beats(comparison: Comparison, alpha: float) -> bool:
    """Say whether a comparison shows a gain: corrected p below α and the interval above 0."""
    return comparison.p_holm < alpha and comparison.interval[0] > 0
