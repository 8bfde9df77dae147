"""The ladder: bases without a graph, then a rung for each part of it, each tuned alike and with its shuffles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from hopgate.eval.arms import Asking, LateReader, Lists, Reader, base_grid, graph_grid, tuned
from hopgate.eval.controls import shuffled, with_parts
from hopgate.eval.evidence import CONCEPTS, NO_COST, Arm, Cost, Evidence, Rung
from hopgate.eval.verdict import promising, strongest
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.recall.fusers import RRF, TM2C2, Fuser, MinMax, parse

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Called with the title of each stage and its size; gives a function to call with how much is done."""

SINGLE: Mapping[str, Fuser] = {
    "lexical": RRF(lexical=1, dense=0, graph=0),
    "dense": RRF(lexical=0, dense=1, graph=0),
}
KINDS: Mapping[str, Fuser] = {
    "rrf": RRF(graph=0),
    "tm2c2": TM2C2(graph=0),
    "minmax": MinMax(lexical=0.3, dense=0.7, graph=0),
}
PROTOTYPE = RRF(lexical=1, dense=1, graph=0.35)
"""The first test's weights; its graph could only name what no other leg listed."""


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


@dataclass(frozen=True)
class Ladder:
    """Climbs the parts of a graph, from what was collected of it.

    Parameters
    ----------
    asking : Asking
        The legs' lists for the reported queries and those that are tuned on.
    evidence : Evidence
        What is known before: plan, queries and judgements; arms and rungs are added.
    default : Fuser
        The configuration that stands first among those that are tried with the graph.
    cost : Cost
        What the whole graph cost to build.
    late : LateReader, optional
        Gives the bases by late interaction, which recall does not have itself.
    reader : Reader, optional
        Orders the first of every arm but the bases, which stand beside themselves as it orders them.
    """

    asking: Asking
    evidence: Evidence
    default: Fuser
    cost: Cost = NO_COST
    stage: Stage = quiet
    reader: Reader | None = None
    late: LateReader | None = None

    def climb(self) -> Evidence:
        """Give the evidence with every arm, every rung, and shuffles of the parts that would open."""
        evidence = self._bases()
        base = parse(evidence.arms[strongest(evidence, tuple(KINDS))].configuration)
        parts = self.asking.parts()
        threads: tuple[str, ...] = ()
        below = evidence.bases
        lists: dict[str, Lists] = {}
        for place, part in enumerate(parts):
            progress = self.stage(f"walking on {part}", 1)
            upto = parts[: place + 1]
            walked, seconds = self.asking.walk(partial(with_parts, parts=upto), statements="statements" in upto)
            arm = self._tuned(f"base + {' + '.join(upto)}", walked, base)
            lists[part] = walked
            cost = self._cost(upto, seconds)
            controlled = part != "statements"
            evidence = _with(evidence, arm, Rung(part, arm.name, below, controlled=controlled, cost=cost))
            below = (*below, arm.name)
            if part == "threads":
                threads = (arm.name,)
            progress(1)
        if len(parts) > len(threads) and (threads or len(parts) > 1):
            last = evidence.rungs[-1]
            over = (*evidence.bases, *threads)
            evidence = replace(evidence, rungs=(*evidence.rungs, Rung(CONCEPTS, last.arm, over, cost=last.cost)))
        return self._with_shuffles(self._with_prototype(evidence), parts, base)

    def _bases(self) -> Evidence:
        """Every arm without a graph: each leg alone, and each kind of fusion, its weights tuned."""
        progress = self.stage("tuning the bases", len(KINDS))
        names, k, lists = self.evidence.reported, self.evidence.plan.k, self.asking.lists
        arms = {name: lists.arm(name, fuser, names, k) for name, fuser in SINGLE.items()}
        for name, kind in KINDS.items():
            arms[name] = lists.arm(name, self._choice(base_grid(kind), lists), names, k)
            if self.reader is not None:
                arms[f"{name}, read again"] = replace(self._read(arms[name]), name=f"{name}, read again")
            progress(1)
        if self.late is not None:
            arms |= self.late.arms(lists, names)
        return replace(self.evidence, arms=arms, bases=tuple(arms))

    def _tuned(self, name: str, lists: Lists, base: Fuser) -> Arm:
        fuser = self._choice(graph_grid(self.default, base), lists)
        return self._read(lists.arm(name, fuser, self.evidence.reported, self.evidence.plan.k))

    def _read(self, arm: Arm) -> Arm:
        """The arm as a cross-encoder orders its first, where one is asked for."""
        if self.reader is None:
            return arm
        run = {query: self.reader.order(query, ids) for query, ids in arm.run.items()}
        return replace(arm, run=run, reread=True)

    def _choice(self, grid: list[Fuser], lists: Lists) -> Fuser:
        plan = self.evidence.plan
        return tuned(grid, lists, self.evidence.tuned, self.evidence.reported, plan.k, plan.relevant_from)

    def _with_shuffles(self, evidence: Evidence, parts: tuple[str, ...], base: Fuser) -> Evidence:
        """Shuffle what would open: each shuffle is walked, fused and tuned as the part itself was."""
        wanted = set(promising(evidence))
        rungs = []
        for rung in evidence.rungs:
            if rung.part in wanted and rung.controlled:
                progress = self.stage(f"shuffling {rung.part}", evidence.plan.shuffles)
                upto = parts if rung.part == CONCEPTS else parts[: parts.index(rung.part) + 1]
                runs = []
                for seed in range(evidence.plan.seed, evidence.plan.seed + evidence.plan.shuffles):
                    change = partial(_shuffled_parts, parts=upto, part=rung.part, seed=seed)
                    walked, _ = self.asking.walk(change, statements="statements" in upto)
                    runs.append(self._tuned("shuffled", walked, base).run)
                    progress(1)
                rungs.append(replace(rung, shuffled=tuple(runs)))
            else:
                rungs.append(rung)
        return replace(evidence, rungs=tuple(rungs))

    def _with_prototype(self, evidence: Evidence) -> Evidence:
        """Add the first test's configuration as an arm that nothing is claimed of: its graph is barred."""
        found = self.asking.lists.found
        barred_graph = {
            query: [
                pair
                for pair in listed
                if pair[0] not in {name for leg in ("lexical", "dense") for name, _ in found[leg].get(query, ())}
            ]
            for query, listed in found["graph"].items()
        }
        lists = Lists({**found, "graph": barred_graph}, {})
        arm = lists.arm("prototype", PROTOTYPE, evidence.reported, evidence.plan.k)
        return replace(evidence, arms={**evidence.arms, arm.name: arm})

    def _cost(self, parts: tuple[str, ...], seconds: float) -> Cost:
        """Threads need no building; everything else is paid for with the whole graph."""
        matrix = self.asking.matrix
        kept = with_parts(matrix, parts).bytes / 1e6 if matrix is not None else None
        built = self.cost if set(parts) - {"threads"} else Cost(build_seconds=0)
        return replace(built, query_ms=1000 * seconds, megabytes=kept)


def _shuffled_parts(matrix: GraphMatrix, *, parts: tuple[str, ...], part: str, seed: int) -> GraphMatrix:
    return shuffled(with_parts(matrix, parts), part, seed)


def _with(evidence: Evidence, arm: Arm, rung: Rung) -> Evidence:
    return replace(evidence, arms={**evidence.arms, arm.name: arm}, rungs=(*evidence.rungs, rung))
