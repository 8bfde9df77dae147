"""The ladder: bases without a graph, then a rung for each part of it, each tuned alike and with its shuffles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hopgate.eval.arms import BASE, Asking, Pools, Reader, arm_of, base_grid, graph_grid, tuned
from hopgate.eval.data.runs import relevant
from hopgate.eval.evidence import CONCEPTS, NO_COST, Arm, Cost, Evidence, Rung
from hopgate.eval.verdict import promising
from hopgate.graph.walk.config import Part
from hopgate.graph.walk.parts import with_parts
from hopgate.recall.fusers import RRF, TM2C2, Fuser, MinMax, parse
from hopgate.recall.fusion import Pool

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Called with the title of each stage and its size; gives a function to call with how much is done."""

SINGLE: Mapping[str, Fuser] = {
    "lexical": RRF(lexical=1, dense=0, late=0, graph=0),
    "dense": RRF(lexical=0, dense=1, late=0, graph=0),
    "late": RRF(lexical=0, dense=0, late=1, graph=0),
}
KINDS: Mapping[str, Fuser] = {
    "rrf": RRF(graph=0),
    "tm2c2": TM2C2(graph=0),
    "minmax": MinMax(lexical=0.1, dense=0.2, late=0.7, graph=0),
}
PROTOTYPE = RRF(lexical=1, dense=1, late=0, graph=0.35)
"""The first test's weights; its graph could only name what no other leg listed."""


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


@dataclass(frozen=True)
class Ladder:
    """Climbs the parts of a graph, from what was collected of it.

    Parameters
    ----------
    evidence : Evidence
        What is known before: plan, queries and judgements; arms and rungs are added.
    default : Fuser
        The configuration that stands first among those that are tried with the graph.
    cost : Cost
        What the whole graph cost to build.
    reader : Reader, optional
        Orders the first of every arm but the bases, which stand beside themselves as it orders them.
    """

    asking: Asking
    evidence: Evidence
    default: Fuser
    cost: Cost = NO_COST
    stage: Stage = quiet
    reader: Reader | None = None

    def climb(self) -> Evidence:
        """Give the evidence with every arm, every rung, and shuffles of the parts that would open."""
        pools = self.asking.base
        arms = self._bases(pools)
        bases, rungs = tuple(arms), list[Rung]()
        strongest = replace(self.evidence, arms=arms).strongest(KINDS)
        base, parts = parse(arms[strongest].configuration), self.asking.parts()
        for place, part in enumerate(parts, 1):
            self.stage(f"walking on {part}", None)
            pools, seconds = self.asking.walk(parts[:place])
            name = f"base + {' + '.join(parts[:place])}"
            arms[name] = self._with_graph(pools, base, parts[:place])
            below = (*bases, *(rung.arm for rung in rungs))
            rungs.append(Rung(part, name, below, cost=self._cost(parts[:place], seconds)))
        if len(rungs) > 1:
            threads = tuple(rung.arm for rung in rungs if rung.part == "threads")
            rungs.append(Rung(CONCEPTS, rungs[-1].arm, (*bases, *threads), cost=rungs[-1].cost))
        arms["prototype"] = self._arm(PROTOTYPE, {query: _exclusive(pool) for query, pool in pools.items()})
        evidence = replace(self.evidence, arms=arms, bases=bases, rungs=tuple(rungs))
        wanted = promising(evidence)
        for place, rung in enumerate(rungs):
            if rung.part in wanted:
                shuffles = self._shuffles(rung, arms[rung.arm].parts, base)
                arms |= shuffles
                rungs[place] = replace(rung, shuffled=tuple(shuffles))
        return replace(evidence, rungs=tuple(rungs))

    def _bases(self, pools: Pools) -> dict[str, Arm]:
        """Every arm without a graph: each leg alone, and each kind of fusion, its weights tuned."""
        progress = self.stage("tuning the bases", len(KINDS))
        there = {leg for pool in pools.values() for leg in pool.legs}
        arms = {leg: self._arm(fuser, pools) for leg, fuser in SINGLE.items() if leg in there}
        for name, kind in KINDS.items():
            # A base may bar what it will: each of its legs is a base of its own.
            arms[name] = self._arm(self._choice(base_grid(kind), pools, heard=()), pools)
            if self.reader is not None:
                arms[f"{name}, read again"] = self._read(arms[name])
            progress(1)
        return arms

    def _with_graph(self, pools: Pools, base: Fuser, parts: tuple[Part, ...]) -> Arm:
        fuser = self._choice(graph_grid(self.default, base), pools, heard=self.evidence.reported)
        return self._read(replace(self._arm(fuser, pools), parts=parts))

    def _arm(self, fuser: Fuser, pools: Pools) -> Arm:
        return arm_of(fuser, pools, self.evidence.reported, self.evidence.plan.k)

    def _read(self, arm: Arm) -> Arm:
        """The arm as a cross-encoder orders its first, where one is asked for."""
        if self.reader is None:
            return arm
        run = {query: self.reader.order(query, ids) for query, ids in arm.run.items()}
        return replace(arm, run=run, reread=True)

    def _choice(self, grid: list[Fuser], pools: Pools, heard: Sequence[str]) -> Fuser:
        plan = self.evidence.plan
        gold = {query: relevant(grades, plan.relevant_from) for query, grades in self.evidence.tuned.items()}
        return tuned(grid, pools, gold, heard, plan.k)

    def _shuffles(self, rung: Rung, parts: tuple[Part, ...], base: Fuser) -> dict[str, Arm]:
        """Shuffle what would open: each shuffle is walked, fused and tuned as the part itself was."""
        plan, arms = self.evidence.plan, {}
        progress = self.stage(f"shuffling {rung.part}", plan.shuffles)
        for seed in range(plan.seed, plan.seed + plan.shuffles):
            pools, _ = self.asking.walk(parts, rung.part, seed)
            arms[f"{rung.arm}, {rung.part} shuffled by {seed}"] = self._with_graph(pools, base, parts)
            progress(1)
        return arms

    def _cost(self, parts: tuple[Part, ...], seconds: float) -> Cost:
        """Threads need no building; everything else is paid for with the whole graph."""
        largest = max(self.asking.matrices, key=lambda matrix: matrix.graph.arcs)
        built = self.cost if set(parts) - {"threads"} else Cost(build_seconds=0)
        return replace(built, query_ms=1000 * seconds, megabytes=with_parts(largest, parts).bytes / 1e6)


def _exclusive(pool: Pool[str]) -> Pool[str]:
    """The pool of the first test: its graph lists only what no other leg does."""
    ranked = {
        leg: {id: rank for id, rank in zip(pool.ids, ranks.tolist(), strict=True) if math.isfinite(rank)}
        for leg, ranks in zip(pool.legs, pool.ranks, strict=True)
    }
    others = {id for leg in BASE for id in ranked.get(leg, ())}
    ranked["graph"] = {id: rank for id, rank in ranked.get("graph", {}).items() if id not in others}
    by_rank = {leg: sorted(ranks.items(), key=lambda pair: pair[1]) for leg, ranks in ranked.items()}
    return Pool.of({leg: [(id, -rank) for id, rank in listed] for leg, listed in by_rank.items()})
