"""The ladder: every leg asked once for each question, bases without a graph, and a rung for each part of it.

What the legs found is fused many times: each arm's weights are tuned alike, and each part's shuffles like the part.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hopgate.eval.checks import barred
from hopgate.eval.controls import shuffled
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import relevant
from hopgate.eval.evidence import CONCEPTS, NO_COST, Arm, Cost, Evidence, Rung
from hopgate.eval.inference import choose
from hopgate.eval.verdict import promising
from hopgate.graph.walk.config import PARTS, Part
from hopgate.graph.walk.parts import parts_of, with_parts
from hopgate.recall.fusers import LEGS, MAX_WEIGHT, RRF, TM2C2, Fuser, MinMax, parse
from hopgate.recall.fusion import Pool, Scored, Units, fused
from hopgate.recall.graph_leg import BASE_FUSER, LookedUp
from hopgate.recall.legs import Legs, with_walk
from hopgate.recall.order import half_and_half
from hopgate.recall.settings import DEFAULT_FUSER, Settings
from hopgate.store.vectors import MemoryTokens

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.kb import KnowledgeBase
    from hopgate.memory import Cleared
    from hopgate.progress import Advance

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Called with the title of each stage and its size; gives a function to call with how much is done."""
Pools: TypeAlias = Mapping[str, Pool[str]]
"""Query → what the legs found for it, by external ids."""

BASE = ("lexical", "dense", "late")
"""The legs of a base."""
KINDS: Mapping[str, Fuser] = {
    "rrf": RRF(graph=0),
    "tm2c2": TM2C2(graph=0),
    "minmax": MinMax(lexical=0.1, dense=0.2, late=0.7, graph=0),
}
PROTOTYPE = RRF(lexical=1, dense=1, late=0, graph=0.35)
"""The first test's weights; its graph could only name what no other leg listed."""

KS = (5, 10, 20, 40, 60, 100)
RATIOS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Dense to lexical: from one leg nearly alone to the other."""
LATE_RATIOS = (0.0, 0.5, 1.0, 2.0, 4.0, 7.0)
"""Late interaction to the larger of the two."""
GRAPH_RATIOS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 8.0, 10.0, 30.0, 100.0)
"""The graph to the largest of them."""
OFF = 0.01
KEPT = 100  # of a fused list
READ = 30  # of what is kept, by a cross-encoder, as recall does


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


@dataclass(frozen=True)
class Ladder:
    """Climbs the parts of a graph, from what was collected of it."""

    asking: Asking
    evidence: Evidence  # what is known before: plan, queries and judgements; arms and rungs are added
    cost: Cost = NO_COST  # of building the whole graph
    stage: Stage = quiet
    # Orders the first of every arm but the bases, which stand beside themselves as it orders them.
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
        arms = {leg: self._arm(RRF(**{name: int(name == leg) for name in LEGS}), pools) for leg in BASE if leg in there}
        for name, kind in KINDS.items():
            # A base may bar what it will: each of its legs is a base of its own.
            arms[name] = self._tuned(base_grid(kind), pools, heard=())
            if self.reader is not None:
                arms[f"{name}, read again"] = self._read(arms[name])
            progress(1)
        return arms

    def _with_graph(self, pools: Pools, base: Fuser, parts: Sequence[Part]) -> Arm:
        arm = self._tuned(graph_grid(DEFAULT_FUSER, base), pools, heard=self.evidence.reported)
        return self._read(replace(arm, parts=parts))

    def _shuffles(self, rung: Rung, parts: Sequence[Part], base: Fuser) -> dict[str, Arm]:
        """Shuffle what would open: each shuffle is walked, fused and tuned as the part itself was."""
        plan, arms = self.evidence.plan, {}
        progress = self.stage(f"shuffling {rung.part}", plan.shuffles)
        for seed in range(plan.seed, plan.seed + plan.shuffles):
            pools, _ = self.asking.walk(parts, rung.part, seed)
            arms[f"{rung.arm}, {rung.part} shuffled by {seed}"] = self._with_graph(pools, base, parts)
            progress(1)
        return arms

    def _tuned(self, grid: list[Fuser], pools: Pools, heard: Sequence[str]) -> Arm:
        plan = self.evidence.plan
        gold = {query: relevant(grades, plan.relevant_from) for query, grades in self.evidence.tuned.items()}
        return self._arm(tuned(grid, pools, gold, heard, plan.k), pools)

    def _arm(self, fuser: Fuser, pools: Pools) -> Arm:
        """What the legs found, fused as recall does."""
        queries, k = self.evidence.reported, self.evidence.plan.k
        run = {query: fused(pools[query], fuser).ids[:KEPT] for query in queries}
        return Arm(run, repr(fuser), entering(fuser, [pools[query] for query in queries], k))

    def _read(self, arm: Arm) -> Arm:
        """The arm as a cross-encoder orders its first, where one is asked for."""
        if self.reader is None:
            return arm
        run = {query: self.reader.order(query, ids) for query, ids in arm.run.items()}
        return replace(arm, run=run, reread=True)

    def _cost(self, parts: tuple[Part, ...], seconds: float) -> Cost:
        """Threads need no building; everything else is paid for with the whole graph."""
        largest = max(self.asking.matrices, key=lambda matrix: matrix.graph.arcs)
        built = self.cost if set(parts) - {"threads"} else Cost(build_seconds=0)
        return replace(built, query_ms=1000 * seconds, megabytes=with_parts(largest, parts).bytes / 1e6)


class Asking:
    """A store asked by its legs for some queries, so that the graph leg can walk again on a changed graph.

    Each query is asked inside its scope, without the graph and vectors exactly, and what the graph leg needs is looked
    up. Of the settings depth, k and the lexical ranker count: as recall is set.
    """

    def __init__(
        self, kb: KnowledgeBase, queries: Sequence[Query], settings: Settings, progress: Advance, *, late: bool = True
    ) -> None:
        self.kb, self.queries, self.settings = kb, queries, settings
        self._names, self._tokens = kb.id_map(), dict[int, MemoryTokens]()
        self._found: dict[str, tuple[Legs, LookedUp]] = {}
        kb.keep_queries()
        asked = replace(settings, fuser=BASE_FUSER.reweighed(late=float(late)))
        for query in queries:
            legs, _ = kb.legs(
                query.text, settings=asked, scope=query.scope, exact=True,
                as_of=query.moment("as_of"), known_at=query.moment("known_at"),
            )  # fmt: skip
            started = fused(Pool.of(legs.found, legs.scores), BASE_FUSER).top()
            self._found[query.id] = replace(legs, base=started), kb.graph_leg.look_up(legs.query)
            progress(1)

    @property
    def base(self) -> Pools:
        """What words and vectors found, and late interaction over both."""
        return {query: self._pool(legs) for query, (legs, _) in self._found.items()}

    @property
    def matrices(self) -> list[GraphMatrix]:
        """The graphs that are walked: one, or one for each scope."""
        return [*dict.fromkeys(looked_up.matrix for _, looked_up in self._found.values())]

    def parts(self) -> tuple[Part, ...]:
        """The parts that the graph has."""
        counts = Counter(statements=sum(len(looked_up.statements) for _, looked_up in self._found.values()))
        for matrix in self.matrices:
            counts.update(parts_of(matrix))
        return tuple(part for part in PARTS if counts[part])

    def walk(self, parts: Collection[str], shuffle: str = "", seed: int = 0) -> tuple[Pools, float]:
        """Walk every query on these parts of the graph, one of them shuffled, from the same seeds.

        Gives what all legs found then, and seconds a query.
        """
        matrices = {matrix: with_parts(matrix, parts) for matrix in self.matrices}
        if shuffle not in ("", "statements"):
            matrices = {matrix: shuffled(kept, shuffle, seed) for matrix, kept in matrices.items()}
        stated = [(query.scope, memory) for query in self.queries for memory, _ in self._found[query.id][1].statements]
        moved = dealt(stated, seed) if shuffle in ("statements", CONCEPTS) else {}
        pools, spent = {}, 0.0
        for query in self.queries:
            legs, looked_up = self._found[query.id]
            matrix = matrices[looked_up.matrix]
            statements = looked_up.statements if "statements" in parts else ()
            statements = [(moved.get((query.scope, memory), memory), cosine) for memory, cosine in statements]
            changed = looked_up._replace(matrix=matrix, statements=statements)
            began, dense = time.perf_counter(), legs.scores.get("dense", ())
            walked = self.kb.graph_leg.rank(legs.query, changed, legs.base, self.settings.depth, dense=dense)
            spent += time.perf_counter() - began
            pools[query.id] = self._pool(with_walk(self.kb.store, legs, walked, matrix, self.settings, self._tokens))
        return pools, spent / max(1, len(self.queries))

    def _pool(self, legs: Legs) -> Pool[str]:
        """What a query's legs listed and scored, by external ids."""

        def named(hits: Mapping[str, Scored[int]]) -> dict[str, Scored[str]]:
            names = self._names
            return {leg: [(names[id], score) for id, score in hits.get(leg, ()) if id in names] for leg in legs.found}

        return Pool.of(named(legs.found), named(legs.scores))


def dealt(stated: Iterable[tuple[str | None, int]], seed: int) -> dict[tuple[str | None, int], int]:
    """Deal statements out anew: which memory's statements become which one's, among those asked for in a scope."""
    memories: defaultdict[str | None, set[int]] = defaultdict(set)
    for scope, memory in stated:
        memories[scope].add(memory)
    rng, moved = np.random.default_rng(seed), dict[tuple[str | None, int], int]()
    for scope in sorted(memories, key=str):
        own = sorted(memories[scope])
        moved |= {(scope, memory): other for memory, other in zip(own, rng.permutation(own).tolist(), strict=True)}
    return moved


class Reader:
    """Orders the first of a ranking as recall does with the bundled cross-encoder, which reads each pair once.

    Memories without a text that may be read, as sensitive ones, keep their places.
    """

    def __init__(self, queries: Iterable[Query], texts: Mapping[str, Cleared]) -> None:
        from hopgate.recall.rerank import MiniLM

        self._encoder, self._texts = MiniLM(), texts
        self._asked = {query.id: query.text for query in queries}
        self._scores: dict[tuple[str, str], float] = {}

    def order(self, query: str, ids: Sequence[str]) -> list[str]:
        """Order the first of a query's ranking; the rest follows as it was."""
        there = [id for id in ids[:READ] if id in self._texts]
        new = [id for id in there if (query, id) not in self._scores]
        for place, score in self._encoder.score(self._asked[query], [self._texts[id] for id in new]):
            self._scores[query, new[place]] = score
        return half_and_half(ids, {id: self._scores[query, id] for id in there})


def tuned(
    fusers: Sequence[Fuser], pools: Pools, gold: Mapping[str, Collection[str]], reported: Iterable[str], k: int
) -> Fuser:
    """Choose a configuration on queries with answers: of those as good as the best to one standard error the first.

    Fusers are given from the plainest on. One that bars a leg from the top k of the reported queries, by what the legs
    found alone, is no choice: it would choose not to be tested. What counts is the mean of recall@k/2 and recall@k.
    """
    heard = [pools[query] for query in reported]

    @cache
    def is_free(fuser: Fuser) -> bool:
        return not any(barred(*counts) for counts in entering(fuser, heard, k).values())

    alike: dict[object, list[int]] = {}
    for place, fuser in enumerate(fusers):
        alike.setdefault((type(fuser), getattr(fuser, "k", None), fuser.active), []).append(place)
    weights = np.array([[fuser.weights[leg] for leg in LEGS] for fuser in fusers])
    values = np.zeros((len(gold), len(fusers)))
    for row, (query, answers) in enumerate(gold.items()):
        pool = pools[query]
        is_answer = np.array([name in answers for name in pool.ids], bool)
        for places in alike.values() if answers else ():
            units = Units.of(pool, fusers[places[0]])
            rows = weights[np.ix_(places, [LEGS.index(leg) for leg in units.legs])]
            hits = is_answer[units.ordered(units.weighed(rows), k)]
            values[row, places] = (hits[:, : (k + 1) // 2].sum(axis=1) + hits.sum(axis=1)) / (2 * len(answers))
    return choose(fusers, values, is_free)


def base_grid(kind: Fuser) -> list[Fuser]:
    """Give one kind of fuser of the legs without the graph, every proportion, the given one first."""
    kinds = [kind, *(RRF(k=k) for k in KS if isinstance(kind, RRF))]
    weights = [(1.0, ratio, late * max(1.0, ratio), 0.0) for ratio in RATIOS for late in LATE_RATIOS]
    return _grid(kinds, weights, kind.reweighed(graph=0))


def graph_grid(default: Fuser, base: Fuser) -> list[Fuser]:
    """Give fusers of all legs, the default first: from a graph with hardly any weight to one that leads.

    They keep the proportions of the default or of the tuned base: where those are best without the graph, a little of
    the graph added to them must be among the choices.
    """
    without = [[fuser.weights[leg] for leg in BASE] for fuser in (default, base)]
    largest_one = dict.fromkeys(tuple(round(own / (max(row) or 1.0), 4) for own in row) for row in without)
    weights = [(*row, ratio) for row in largest_one for ratio in GRAPH_RATIOS]
    return _grid([default, MinMax(), RRF(), TM2C2(), base], weights, default)


def _grid(kinds: Iterable[Fuser], weights: Sequence[tuple[float, ...]], default: Fuser) -> list[Fuser]:
    """Each kind with each weights, within 0..5: the default first, then the nearest by the ratios of the weights.

    Another kind is 1 further away.
    """
    scaled = [[round(own * min(1.0, MAX_WEIGHT / max(row)), 4) for own in row] for row in weights]
    fusers = [kind.reweighed(**dict(zip(LEGS, row, strict=True))) for kind in kinds for row in scaled]

    def logs(fuser: Fuser) -> list[float]:
        """Of the weights of the others to that of lexical."""
        lexical, *others = (max(OFF, fuser.weights[leg]) for leg in LEGS)
        return [math.log(weight / lexical) for weight in others]

    def distance(fuser: Fuser) -> float:
        away = sum(abs(own - usual) for own, usual in zip(logs(fuser), logs(default), strict=True))
        k, usual = (max(getattr(each, "k", 60.0), OFF) for each in (fuser, default))
        return away + (type(fuser) is not type(default)) + 0.2 * abs(math.log(k / usual))

    return sorted(dict.fromkeys([default, *fusers]), key=distance)


def entering(fuser: Fuser, pools: Iterable[Pool[str]], k: int) -> dict[str, tuple[int, int]]:
    """By leg: on how many pools the best memory that only it lists would be in the top k if the leg listed it first.

    And on how many it lists one alone: elsewhere nothing can be said of it.
    """
    counts = dict.fromkeys(fuser.active, (0, 0))
    for pool in pools:
        ranking = fused(pool, fuser)
        totals, units = ranking.scores, ranking.units
        kth = np.sort(totals)[-k] if len(totals) >= k else -np.inf
        ranks = pool.ranks[[pool.legs.index(leg) for leg in units.legs]]
        only = np.isfinite(ranks) & (np.isfinite(ranks).sum(axis=0) == 1)
        for leg, values, own, alone in zip(units.legs, units.values, ranks, only, strict=True):
            if alone.any():
                first = int(np.where(alone, own, np.inf).argmin())
                lifted = totals[first] + fuser.weights[leg] * (values.max() - values[first])
                entered, listed = counts[leg]
                counts[leg] = entered + int(lifted >= kth), listed + 1
    return counts


def _exclusive(pool: Pool[str]) -> Pool[str]:
    """The pool of the first test: its graph lists only what no other leg does."""
    listed = {
        leg: [
            (pool.ids[place], -ranks[place]) for place in np.argsort(ranks, kind="stable") if np.isfinite(ranks[place])
        ]
        for leg, ranks in zip(pool.legs, pool.ranks, strict=True)
    }
    others = {id for leg in BASE for id, _ in listed.get(leg, ())}
    listed["graph"] = [hit for hit in listed.get("graph", ()) if hit[0] not in others]
    return Pool.of(listed)
