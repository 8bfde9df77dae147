"""The evidence with everything computed from it that more than one check looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.gate.compare import Comparison, Values, compare_all, per_query, per_shuffle
from hopgate.eval.gate.evidence import GRAPH, Evidence
from hopgate.eval.statistics import Among, among_shuffles
from hopgate.scale.engine import Engine


@dataclass(frozen=True)
class Case:
    """Evidence, per-query values and comparisons, each computed once."""

    evidence: Evidence
    engine: Engine | None = None

    @cached_property
    def values(self) -> Values:
        """Arm → measure → query → value."""
        return per_query(self.evidence)

    @cached_property
    def shuffles(self) -> NDArray[np.float64]:
        """The primary measure on every shuffle: one row each, one column a query."""
        return per_shuffle(self.evidence, self.evidence.shuffles)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """The declared comparisons."""
        return compare_all(self.evidence, self.values, self.shuffles, self.engine)

    @property
    def primary(self) -> Comparison:
        """The claim: challenger against base."""
        return self.comparisons[0]

    @property
    def harms(self) -> list[Comparison]:
        """The comparisons that ask whether anything is harmed."""
        return [comparison for comparison in self.comparisons if comparison.role == "harm"]

    @cached_property
    def among(self) -> Among | None:
        """Where the graph stands among its shuffles, where there are any."""
        if not len(self.shuffles) or not self.primary.n:
            return None
        evidence, policy = self.evidence, self.evidence.policy
        values = self.values[evidence.challenger][evidence.primary]
        real = [values[query] for query in sorted(evidence.first_slice)]
        return among_shuffles(
            real, self.shuffles, alpha=policy.alpha, rank_alpha=policy.rank_level, worthwhile=policy.worthwhile
        )

    @property
    def gains(self) -> bool:
        """Whether a gain is shown, over the base and every rival: above 0 by its limit, and by randomisation."""
        alpha = self.evidence.policy.alpha
        claims = [comparison for comparison in self.comparisons if comparison.role in ("primary", "rival")]
        return all(claim.interval[0] > 0 and claim.p <= alpha for claim in claims)

    @property
    def worthwhile_excluded(self) -> bool:
        """Whether a gain worth having is excluded."""
        return self.primary.n > 0 and self.primary.interval[1] < self.evidence.policy.worthwhile

    @cached_property
    def graph_only(self) -> dict[str, set[str]]:
        """Query → ids that the challenger's graph leg found and no other leg did."""
        arm = self.evidence.challenger_arm
        return {query: arm.found_ids(GRAPH, query) - arm.found_by_others(GRAPH, query) for query in self.evidence.qrels}

    @property
    def queries_with_graph_hits(self) -> int:
        """On how many queries the graph leg found anything."""
        return sum(bool(self.evidence.challenger_arm.found_ids(GRAPH, query)) for query in self.evidence.qrels)
