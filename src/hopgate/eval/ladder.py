"""The ladder: bases without a graph, then a rung for each part of it, each tuned alike and with its shuffles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hopgate.eval.arms import Asking, Lists, Reader, base_grid, graph_grid, tuned
from hopgate.eval.evidence import CONCEPTS, NO_COST, Arm, Cost, Evidence, Rung
from hopgate.eval.verdict import promising, strongest
from hopgate.graph.walk.parts import with_parts
from hopgate.recall.fusers import RRF, TM2C2, Fuser, MinMax, parse

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
        evidence = self._bases()
        base = parse(evidence.arms[strongest(evidence, tuple(KINDS))].configuration)
        parts, walked = self.asking.parts(), self.asking.lists
        arms, rungs = dict(evidence.arms), list[Rung]()
        for place, part in enumerate(parts, 1):
            self.stage(f"walking on {part}", None)
            walked, seconds = self.asking.walk(parts[:place])
            name = f"base + {' + '.join(parts[:place])}"
            arms[name] = self._tuned(name, walked, base)
            below = (*evidence.bases, *(rung.arm for rung in rungs))
            rungs.append(Rung(part, name, below, cost=self._cost(parts[:place], seconds)))
        threads = tuple(rung.arm for rung in rungs if rung.part == "threads")
        if len(rungs) > 1:
            rungs.append(Rung(CONCEPTS, rungs[-1].arm, (*evidence.bases, *threads), cost=rungs[-1].cost))
        arms["prototype"] = self._prototype(walked)
        evidence = replace(evidence, arms=arms, rungs=tuple(rungs))
        wanted = promising(evidence)
        climbed = [self._with_shuffles(rung, parts, base) if rung.part in wanted else rung for rung in rungs]
        return replace(evidence, rungs=tuple(climbed))

    def _bases(self) -> Evidence:
        """Every arm without a graph: each leg alone, and each kind of fusion, its weights tuned."""
        progress = self.stage("tuning the bases", len(KINDS))
        names, k, lists = self.evidence.reported, self.evidence.plan.k, self.asking.lists
        arms = {name: lists.arm(name, fuser, names, k) for name, fuser in SINGLE.items() if lists.found[name]}
        for name, kind in KINDS.items():
            # A base may bar what it will: each of its legs is a base of its own.
            arms[name] = lists.arm(name, self._choice(base_grid(kind), lists, heard=()), names, k)
            if self.reader is not None:
                arms[f"{name}, read again"] = replace(self._read(arms[name]), name=f"{name}, read again")
            progress(1)
        return replace(self.evidence, arms=arms, bases=tuple(arms))

    def _tuned(self, name: str, lists: Lists, base: Fuser) -> Arm:
        fuser = self._choice(graph_grid(self.default, base), lists, heard=self.evidence.reported)
        return self._read(lists.arm(name, fuser, self.evidence.reported, self.evidence.plan.k))

    def _read(self, arm: Arm) -> Arm:
        """The arm as a cross-encoder orders its first, where one is asked for."""
        if self.reader is None:
            return arm
        run = {query: self.reader.order(query, ids) for query, ids in arm.run.items()}
        return replace(arm, run=run, reread=True)

    def _choice(self, grid: list[Fuser], lists: Lists, heard: Sequence[str]) -> Fuser:
        plan = self.evidence.plan
        return tuned(grid, lists, self.evidence.tuned, heard, plan.k, plan.relevant_from)

    def _with_shuffles(self, rung: Rung, parts: tuple[str, ...], base: Fuser) -> Rung:
        """Shuffle what would open: each shuffle is walked, fused and tuned as the part itself was."""
        plan = self.evidence.plan
        progress = self.stage(f"shuffling {rung.part}", plan.shuffles)
        upto = parts if rung.part == CONCEPTS else parts[: parts.index(rung.part) + 1]
        runs = []
        for seed in range(plan.seed, plan.seed + plan.shuffles):
            walked, _ = self.asking.walk(upto, rung.part, seed)
            runs.append(self._tuned("shuffled", walked, base).run)
            progress(1)
        return replace(rung, shuffled=tuple(runs))

    def _prototype(self, lists: Lists) -> Arm:
        """The first test's configuration, an arm that nothing is claimed of: its graph is barred."""
        barred = {}
        for query, listed in lists.found.get("graph", {}).items():
            base = {name for leg in SINGLE for name, _ in lists.found[leg].get(query, ())}
            barred[query] = [pair for pair in listed if pair[0] not in base]
        lists = Lists({**lists.found, "graph": barred}, {})
        return lists.arm("prototype", PROTOTYPE, self.evidence.reported, self.evidence.plan.k)

    def _cost(self, parts: tuple[str, ...], seconds: float) -> Cost:
        """Threads need no building; everything else is paid for with the whole graph."""
        matrix = self.asking.matrix
        kept = with_parts(matrix, parts).bytes / 1e6 if matrix is not None else None
        built = self.cost if set(parts) - {"threads"} else Cost(build_seconds=0)
        return replace(built, query_ms=1000 * seconds, megabytes=kept)
