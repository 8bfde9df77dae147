"""Every leg asked once for each question, fused many times: the lists, the weights that are tried, and the arms."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.late import LateInteraction, Tokens, late_scores
from hopgate.eval.checks import barred
from hopgate.eval.controls import parts_of
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels, Run, relevant
from hopgate.eval.evidence import PARTS, Arm
from hopgate.eval.inference import choose
from hopgate.recall.fusers import MAX_WEIGHT, RRF, TM2C2, Fuser, MinMax
from hopgate.recall.fusion import Pool, fused
from hopgate.recall.graph_leg import GraphLeg, GraphRanking, LookedUp
from hopgate.recall.legs import complete
from hopgate.recall.settings import Settings

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.kb import KnowledgeBase
    from hopgate.memory import Cleared
    from hopgate.recall.filters import Query as RecallQuery

Change = Callable[["GraphMatrix"], "GraphMatrix"]
Floats = NDArray[np.float64]

KS = (5, 10, 20, 40, 60, 100)
RATIOS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Dense to lexical: from one leg nearly alone to the other."""
GRAPH_RATIOS = (0.02, 0.1, 0.35, 0.7, 1.0, 1.5, 2.0, 4.0, 8.0, 10.0, 30.0, 100.0)
"""The graph to the larger of the two."""
OFF = 0.01
KEPT = 100
"""How much of a fused list is kept."""
BASE = {"lexical": 0.1, "dense": 0.2}
"""The weights of words and vectors beside late interaction, which has the rest; found on other sets."""
READ = 30
"""How much of it a cross-encoder reads, as recall does."""


@dataclass(frozen=True)
class Lists:
    """What the legs gave for each query, by external ids: what each listed, and its real scores of that and more."""

    found: Mapping[str, Run]
    scores: Mapping[str, Run]
    importance: Mapping[str, float] = field(default_factory=dict)
    _pools: dict[tuple[str, tuple[str, ...]], Pool[str]] = field(default_factory=dict, repr=False)

    def pool(self, query: str, legs: tuple[str, ...]) -> Pool[str]:
        """Give a query's pool of these legs."""
        if (query, legs) not in self._pools:
            found = {leg: self.found[leg].get(query, ()) for leg in legs if leg in self.found}
            scores = {leg: self.scores[leg].get(query, ()) for leg in found if leg in self.scores}
            self._pools[query, legs] = Pool.of(found, scores)
        return self._pools[query, legs]

    def with_graph(self, found: Run, scores: Run, completed: Mapping[str, Run]) -> Lists:
        """Give the same with another graph leg, and the base's scores of what it found too."""
        return Lists({**self.found, "graph": found}, {**self.scores, **completed, "graph": scores})

    def run(self, fuser: Fuser, queries: Iterable[str]) -> dict[str, list[str]]:
        """Fuse the lists as recall does."""
        return {query: fused(self.pool(query, fuser.active), fuser).ids[:KEPT] for query in queries}

    def arm(self, name: str, fuser: Fuser, queries: Sequence[str], k: int) -> Arm:
        """Make the arm of a fuser."""
        entering = dict.fromkeys(fuser.active, (0, 0))
        for query in queries:
            pool = self.pool(query, fuser.active)
            for leg, enters in _entering(pool, fuser, _rows([fuser], pool.legs), k).items():
                entered, listed = entering[leg]
                entering[leg] = entered + int(enters[0]), listed + 1
        return Arm(name, self.run(fuser, queries), repr(fuser), entering)


class Reader:
    """Orders the first of a ranking as the bundled cross-encoder does, which reads each pair once.

    Parameters
    ----------
    queries : iterable of Query
    texts : mapping of id to text
        What may be read: sensitive memories are not among them, and keep their places.
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
        best = iter(sorted(there, key=lambda id: -self._scores[query, id]))
        return [next(best) if id in self._texts else id for id in ids[:READ]] + list(ids[READ:])


class LateReader:
    """Orders what the words and the vectors found by late interaction; each text is read once.

    Parameters
    ----------
    queries, texts
        As for `Reader`; what may not be read comes after what may.
    """

    def __init__(self, queries: Iterable[Query], texts: Mapping[str, Cleared]) -> None:
        self._model, self._texts = LateInteraction(), texts
        asked = {query.id: query.text for query in queries}
        self._queries = dict(zip(asked, self._model.queries(list(asked.values())), strict=True))
        self._tokens: dict[str, Tokens] = {}

    def scores(self, lists: Lists, query: str) -> dict[str, float]:
        """Score the pool of a query."""
        found = [id for leg in BASE for id, _ in lists.found[leg].get(query, ())]
        pool = [id for id in dict.fromkeys(found) if id in self._texts]
        new = [id for id in pool if id not in self._tokens]
        self._tokens |= dict(zip(new, self._model.texts([self._texts[id] for id in new]), strict=True))
        scored = late_scores(self._queries[query], [self._tokens[id] for id in pool])
        return dict(zip(pool, scored.tolist(), strict=True))

    def arms(self, lists: Lists, queries: Sequence[str]) -> dict[str, Arm]:
        """Give late interaction alone, and with words and vectors at .1, .2 and .7, over the pools of the queries."""
        alone: dict[str, list[str]] = {}
        mixed: dict[str, list[str]] = {}
        for query in queries:
            late = self.scores(lists, query)
            parts = [(0.7, late), *((weight, dict(lists.scores[leg].get(query, ()))) for leg, weight in BASE.items())]
            total = dict.fromkeys(late, 0.0)
            for weight, scores in parts:
                own = [scores[id] for id in late if id in scores] or [0.0]
                width = (max(own) - min(own)) or 1.0
                for id in late:
                    total[id] += weight * (scores.get(id, min(own)) - min(own)) / width
            alone[query] = sorted(late, key=lambda id: (-late[id], id))[:KEPT]
            mixed[query] = sorted(total, key=lambda id: (-total[id], id))[:KEPT]
        return {
            "late": Arm("late", alone, "late interaction"),
            "late + words + vectors": Arm("late + words + vectors", mixed, "late .7, dense .2, lexical .1"),
        }


def tuned(
    fusers: Sequence[Fuser], lists: Lists, qrels: Qrels, reported: Iterable[str], k: int, least: int = 1
) -> Fuser:
    """Choose a configuration on queries with judgements: of those as good as the best to one standard error the first.

    Fusers are given from the plainest on. One that bars a leg from the top k of the reported queries, by their lists
    alone, is no choice: it would choose not to be tested. What counts is the mean of recall@k/2 and recall@k.

    Examples
    --------
    >>> dense = {f"q{i}": [("x", 0.9), ("a", 0.8)] for i in range(20)}
    >>> lists = Lists({"dense": dense, "graph": {q: [("b", 0.5)] for q in dense}}, {})
    >>> tuned([RRF(lexical=0, graph=0.1), RRF(lexical=0, graph=2)], lists, {q: {"b": 1} for q in dense}, [], k=1)
    RRF(k=60, lexical=0, dense=1, graph=2)
    """
    free = _unbarred(fusers, lists, list(reported), k)
    if not qrels:
        return free[0]
    return choose(free, [_scored(free, lists, query, relevant(gold, least), k) for query, gold in qrels.items()])


def base_grid(kind: Fuser) -> list[Fuser]:
    """Give one kind of fuser of the lexical and the dense leg alone, every proportion, the given one first.

    Examples
    --------
    >>> base_grid(MinMax(lexical=0.3, dense=0.7))[0]
    MinMax(lexical=0.3, dense=0.7, graph=0)
    """
    kinds = [kind, *(RRF(k=k) for k in KS if isinstance(kind, RRF))]
    fusers = [each.reweighed(**_scaled(lexical=1.0, dense=ratio), graph=0) for each in kinds for ratio in RATIOS]
    return _nearest_first(fusers, kind.reweighed(graph=0))


def graph_grid(default: Fuser, base: Fuser) -> list[Fuser]:
    """Give fusers of all three legs, the default first: from a graph with hardly any weight to one that leads.

    They keep the proportions of the default or of the tuned base: where those are best without the graph, a little of
    the graph added to them must be among the choices.
    """
    pairs = dict.fromkeys((_pair(default), _pair(base)))
    kinds: list[Fuser] = [default, MinMax(), RRF(), TM2C2(), base]
    fusers = [
        kind.reweighed(**_scaled(lexical=lexical, dense=dense, graph=ratio))
        for kind in kinds
        for lexical, dense in pairs
        for ratio in GRAPH_RATIOS
    ]
    return _nearest_first(fusers, default)


@dataclass(frozen=True)
class Asking:
    """A store asked by every leg for some queries, so that the graph leg can walk again on a changed graph."""

    kb: KnowledgeBase
    queries: Sequence[Query]
    lists: Lists
    recorded: Mapping[str, _Recorded]
    names: Mapping[int, str]
    settings: Settings

    @property
    def matrix(self) -> GraphMatrix | None:
        """The largest graph that was walked, none where there is no graph."""
        walked = [one.found.matrix for one in self.recorded.values() if one.found is not None]
        return max(walked, key=lambda matrix: matrix.graph.arcs, default=None)

    def parts(self) -> tuple[str, ...]:
        """The parts that the graph has."""
        counts: dict[str, int] = dict.fromkeys(PARTS, 0)
        for matrix in {id(one.found.matrix): one.found.matrix for one in self.recorded.values()}.values():
            for part, count in parts_of(matrix).items():
                counts[part] += count
        counts["statements"] = sum(bool(one.found.statements) for one in self.recorded.values())
        return tuple(part for part in PARTS if counts[part])

    def walk(self, change: Change, *, statements: bool = True) -> tuple[Lists, float]:
        """Walk every query again on a changed graph, from the same seeds; give lists, and seconds a query."""
        leg = self.kb.graph_leg
        made: dict[int, GraphMatrix] = {}
        found: dict[str, list[tuple[str, float]]] = {}
        scores: dict[str, list[tuple[str, float]]] = {}
        completed: dict[str, dict[str, list[tuple[str, float]]]] = {"lexical": {}, "dense": {}}
        spent = 0.0
        for query in self.queries:
            asked = self.recorded.get(query.id)
            if asked is None:
                continue
            matrix = asked.found.matrix
            if id(matrix) not in made:
                made[id(matrix)] = change(matrix)
            looked_up = asked.found._replace(matrix=made[id(matrix)])
            if not statements:
                looked_up = looked_up._replace(statements=())
            began = time.perf_counter()
            ranking = leg.rank(asked.query, asked.base, self.settings.depth, legs=asked.legs, found=looked_up)
            spent += time.perf_counter() - began
            found[query.id] = self._named(ranking.hits)
            scores[query.id] = self._named({**ranking.scores, **dict(ranking.hits)}.items())
            for name, further in self._completed(asked, ranking).items():
                completed[name][query.id] = self._named(further)
        lists = self.lists.with_graph(
            found, scores, {leg: {**self.lists.scores[leg], **own} for leg, own in completed.items()}
        )
        return lists, spent / max(1, len(self.queries))

    def _completed(self, asked: _Recorded, ranking: GraphRanking) -> dict[str, list[tuple[int, float]]]:
        """The base legs' scores of what this walk found beside them."""
        pool = {key for listed in asked.legs.values() for key, _ in listed} | {key for key, _ in ranking.hits}
        with self.kb.store.transaction() as connection:
            ranker = self.settings.lexical_ranker
            return complete(connection, asked.query, asked.listed, pool, asked.legs, ranker=ranker)

    def _named(self, scored: Iterable[tuple[int, float]]) -> list[tuple[str, float]]:
        return [(self.names[key], score) for key, score in scored if key in self.names]


@dataclass(frozen=True)
class _Recorded:
    """What the graph leg was given for a query."""

    query: RecallQuery
    base: Sequence[tuple[int, float]]
    legs: Mapping[str, list[tuple[int, float]]]
    listed: Mapping[str, list[tuple[int, float]]]
    found: LookedUp


class _Recorder(GraphLeg):
    """The store's graph leg, which keeps what it is given."""

    def record_into(self, kept: dict[str, _Recorded]) -> None:
        self.kept, self.name = kept, ""

    def rank(
        self,
        query: RecallQuery,
        base: Sequence[tuple[int, float]],
        depth: int,
        *,
        legs: Mapping[str, Sequence[tuple[int, float]]] | None = None,
        found: LookedUp | None = None,
    ) -> GraphRanking:
        if found is not None and found.matrix.graph.arcs:
            lists = {leg: list(listed) for leg, listed in (legs or {}).items()}
            self.kept[self.name] = _Recorded(query, list(base), lists, {}, found)
        return super().rank(query, base, depth, legs=legs, found=found)


def ask(
    kb: KnowledgeBase, queries: Sequence[Query], settings: Settings, progress: Callable[[int], None] | None = None
) -> Asking:
    """Ask every leg of a store for each query inside its scope; vectors are compared exactly.

    Parameters
    ----------
    settings : Settings
        Depth, k and the lexical ranker: as recall is set.
    """
    kb.keep_queries()
    names = kb.id_map()
    recorder = _Recorder(kb.store, kb.graph_leg.walk)
    kept: dict[str, _Recorded] = {}
    recorder.record_into(kept)
    found: dict[str, dict[str, list[tuple[str, float]]]] = {leg: {} for leg in ("lexical", "dense", "graph")}
    scores: dict[str, dict[str, list[tuple[str, float]]]] = {leg: {} for leg in found}
    for query in queries:
        recorder.name = query.id
        legs, _ = kb.legs(
            query.text, settings=settings, scope=query.scope, exact=True, graphs={"graph": recorder},
            as_of=query.moment("as_of"), known_at=query.moment("known_at"),
        )  # fmt: skip
        if query.id in kept:
            kept[query.id] = replace(kept[query.id], listed={leg: legs.found[leg] for leg in kept[query.id].legs})
        for leg, own in legs.found.items():
            found[leg][query.id] = [(names[key], score) for key, score in own]
        for leg, own in legs.scores.items():
            scores[leg][query.id] = [(names[key], score) for key, score in own]
        if progress:
            progress(1)
    return Asking(kb, queries, Lists(found, scores), kept, names, settings)


def _unbarred(fusers: Sequence[Fuser], lists: Lists, queries: Sequence[str], k: int) -> list[Fuser]:
    """The fusers that bar none of their legs; the first of all where each does."""
    free = []
    for legs, group in _by_legs(fusers):
        entered = {leg: np.zeros(len(group)) for leg in legs}
        listed = {leg: np.zeros(len(group)) for leg in legs}
        for query in queries:
            pool = lists.pool(query, legs)
            for fuser_kind, places in _by_kind(group):
                rows = _rows([group[place] for place in places], pool.legs)
                for leg, enters in _entering(pool, fuser_kind, rows, k).items():
                    entered[leg][places] += enters
                    listed[leg][places] += 1
        free += [
            fuser
            for place, fuser in enumerate(group)
            if not any(barred(int(entered[leg][place]), int(listed[leg][place])) for leg in legs)
        ]
    order = {fuser: place for place, fuser in enumerate(fusers)}
    return sorted(free, key=order.__getitem__) or [fusers[0]]


def _entering(pool: Pool[str], fuser: Fuser, rows: Floats, k: int) -> dict[str, NDArray[np.bool_]]:
    """By leg and row of weights: whether the best memory that only this leg lists would be in the top k as its first.

    A leg that lists nothing alone says nothing, and is left out.
    """
    totals = pool.totals(fuser, rows)
    kth = -np.sort(-totals, axis=1)[:, k - 1] if totals.shape[1] >= k else np.full(len(rows), -np.inf)
    units, listed = pool.units(fuser, pool.legs), np.isfinite(pool.ranks)
    entering = {}
    for place, leg in enumerate(pool.legs):
        alone = listed[place] & (listed.sum(axis=0) == 1)
        if alone.any():
            first = int(np.where(alone, pool.ranks[place], np.inf).argmin())
            lifted = totals[:, first] + rows[:, place] * (units[place].max() - units[place, first])
            entering[leg] = lifted >= kth
    return entering


def _scored(fusers: Sequence[Fuser], lists: Lists, query: str, gold: Collection[str], k: int) -> list[float]:
    """Each fuser's mean of recall@k/2 and recall@k for a query."""
    values = [0.0] * len(fusers)
    if not gold:
        return values
    order = {fuser: place for place, fuser in enumerate(fusers)}
    for legs, group in _by_legs(fusers):
        pool = lists.pool(query, legs)
        held = np.array([*(name in gold for name in pool.ids), False])
        for kind, places in _by_kind(group):
            tops = pool.tops(kind, _rows([group[place] for place in places], pool.legs), k)
            hits = held[tops]
            shares = (hits[:, : (k + 1) // 2].sum(axis=1) + hits.sum(axis=1)) / (2 * len(gold))
            for place, share in zip(places, shares.tolist(), strict=True):
                values[order[group[place]]] = share
    return values


def _by_legs(fusers: Sequence[Fuser]) -> list[tuple[tuple[str, ...], list[Fuser]]]:
    groups: dict[tuple[str, ...], list[Fuser]] = {}
    for fuser in fusers:
        groups.setdefault(fuser.active, []).append(fuser)
    return list(groups.items())


def _by_kind(fusers: Sequence[Fuser]) -> list[tuple[Fuser, list[int]]]:
    """Fusers that differ in nothing but weights, to be weighed at once."""
    groups: dict[object, tuple[Fuser, list[int]]] = {}
    for place, fuser in enumerate(fusers):
        groups.setdefault((type(fuser), getattr(fuser, "k", None)), (fuser, []))[1].append(place)
    return list(groups.values())


def _rows(fusers: Sequence[Fuser], legs: Sequence[str]) -> Floats:
    return np.array([[fuser.weights[leg] for leg in legs] for fuser in fusers], float).reshape(len(fusers), len(legs))


def _nearest_first(fusers: Iterable[Fuser], default: Fuser) -> list[Fuser]:
    """The default, then the others from the nearest by the ratios of their weights; another kind is 1 further away."""

    def distance(fuser: Fuser) -> float:
        (own, heard), (theirs, plain) = _ratios(fuser), _ratios(default)
        away = abs(own - theirs) + (abs(heard - plain) if fuser.graph or default.graph else 0.0)
        k, usual = getattr(fuser, "k", 60.0), getattr(default, "k", 60.0)
        return away + (type(fuser) is not type(default)) + 0.2 * abs(math.log(max(k, OFF) / max(usual, OFF)))

    return sorted(dict.fromkeys([default, *fusers]), key=distance)


def _ratios(fuser: Fuser) -> tuple[float, float]:
    """The logarithms of dense to lexical, and of the graph to both."""
    lexical, dense, graph = (max(OFF, weight) for weight in (fuser.lexical, fuser.dense, fuser.graph))
    return math.log(dense / lexical), math.log(graph / math.sqrt(lexical * dense))


def _pair(fuser: Fuser) -> tuple[float, float]:
    """The weights of the lexical and the dense leg, the larger of them 1."""
    top = max(fuser.lexical, fuser.dense) or 1.0
    return round(fuser.lexical / top, 4), round(fuser.dense / top, 4)


def _scaled(**weights: float) -> dict[str, float]:
    """Weights in these proportions within 0..5, so that 1 stays 1 where it can."""
    factor = min(1.0, MAX_WEIGHT / max(weights.values()))
    return {name: round(weight * factor, 4) for name, weight in weights.items()}
