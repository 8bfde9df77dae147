"""Every configuration on every development query: one table, made quickly, because each shuffle is tuned too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.data.runs import Qrels, Ranking, Run, relevant
from hopgate.eval.measures import Recall, score_all
from hopgate.memory import DEFAULT_IMPORTANCE
from hopgate.recall.final_order import near_of
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, Fused, MinMax, active, lifted
from hopgate.recall.fuse.lift import BASE_PLACE

# Fusers whose contribution of a leg is its weight times something that no weight changes, as long as the same legs have
# one: one fusion at weight 1 gives the scores at all weights by one product of matrices.
LINEAR: tuple[type[AnyFuser], ...] = (RRF, TM2C2, MinMax)
SHALLOW = 5
"""Beside recall@k recall@5 counts: a configuration that wins one place in ten and loses the first five is no gain."""


def score_table(fusers: Sequence[AnyFuser], lists: LegLists, qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score each configuration on each query by the mean of recall@5 and recall@k.

    Returns
    -------
    array of float
        One row a query, in the order of their ids, and one column a configuration.
    """
    queries = sorted(qrels)
    table = np.zeros((len(queries), len(fusers)))
    kinds: dict[tuple[str, ...], dict[AnyFuser, list[int]]] = defaultdict(lambda: defaultdict(list))
    for column, fuser in enumerate(fusers):
        if isinstance(fuser, LINEAR):
            kind = fuser.reweighed(**{leg: float(weight > 0) for leg, weight in fuser.weights.items()})
            kinds[tuple(leg for leg in active(kind) if leg in lists.scores)][kind].append(column)
        else:
            table[:, column] = run_values(fused_run(fuser, lists, queries), qrels, k)
    for names, of_kind in kinds.items():
        for row, query in enumerate(queries):
            legs, unseen = lists.of(query, names)
            if any(unseen.values()):
                # What is granted in the place of a leg that could not see is not linear in the weights.
                for column in (column for columns in of_kind.values() for column in columns):
                    run = fused_run(fusers[column], lists, [query])
                    table[row, column] = run_values(run, {query: qrels[query]}, k)[0]
                continue
            pool = _Pool.of(query, legs, relevant(qrels[query]), lists)
            for kind, columns in of_kind.items():
                weights = np.array([[fusers[column].weights[leg] for leg in legs] for column in columns])
                table[row, columns] = pool.recalls(kind, weights, k)
    return table


def run_values(run: Run, qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score one run by the measure of the choice, query by query in the order of their ids."""
    scored = [score_all(Recall(depth), run, qrels) for depth in {SHALLOW, k}]
    return np.array([sum(values[query] for values in scored) / len(scored) for query in sorted(qrels)])


def development_score(run: Run, qrels: Qrels, k: int = 10) -> float:
    """Score one run by the measure of the choice, in the mean."""
    return float(run_values(run, qrels, k).mean()) if qrels else 0.0


class _Pool(NamedTuple):
    """One query's pool, in the order of ids: what no kind of fusion and no weight changes."""

    place: dict[str, int]
    legs: Mapping[str, Ranking]
    factor: NDArray[np.float64] | None
    good: NDArray[np.float64]
    firsts: list[list[int]]
    near: list[int]
    into: int

    @classmethod
    def of(cls, query: str, legs: Mapping[str, Ranking], gold: set[str], lists: LegLists) -> _Pool:
        ids = sorted({memory for leg in legs.values() for memory, _ in leg})
        place = {memory: at for at, memory in enumerate(ids)}
        factor, known = None, lists.importance
        if lists.prior:
            factor = np.array([lists.prior.factor(known.get(memory, DEFAULT_IMPORTANCE)) for memory in ids])
        # What each is worth: one over the number of relevant memories, found or not.
        good = np.array([memory in gold for memory in ids]) / max(1, len(gold))
        firsts: list[list[int]] = []
        near: list[str] = []
        if lists.into and sum(map(bool, legs.values())) > 1:
            firsts = [[place[key] for key, score in leg if score == leg[0][1]] for leg in legs.values() if leg]
            if "graph" in legs:
                blind = set(lists.blind.get(query, ()))
                near = near_of(lists.base.get(query, ()), blind, place, known, lists.prior)
        return cls(place, legs, factor, good, firsts, [place[key] for key in near], lists.into)

    def recalls(self, kind: AnyFuser, weights: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Give the mean of recall@5 and recall@k at each row of weights, of a kind of fusion at weight 1."""
        if not self.good.any():
            return np.zeros(len(weights))
        given = kind.contributed(self.legs)
        parts = np.zeros((len(self.legs), len(self.place)))
        for row, leg in enumerate(self.legs):
            found = given.get(leg, ())
            parts[row, [self.place[memory] for memory, _ in found]] = [part for _, part in found]
        scores = np.round(weights @ (parts if self.factor is None else parts * self.factor), 12)
        deep = max(k, SHALLOW, self.into)
        order = np.argsort(-scores, axis=1, kind="stable")
        top = order[:, :deep].copy()
        if self.firsts:
            # Of those that tie for a leg's first place the one that fusion ranks best is lifted.
            firsts = np.array([np.array(tied)[scores[:, tied].argmax(axis=1)] for tied in self.firsts]).T
            places = np.empty_like(order)
            np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
            outside = (np.take_along_axis(places, firsts, axis=1) >= self.into).any(axis=1)
            outside |= (places[:, self.near] >= BASE_PLACE).any(axis=1)
            for row in np.flatnonzero(outside).tolist():
                top[row] = self._lifted(order[row], places[row], firsts[row].tolist())[:deep]
        good = self.good[top]
        return np.asarray((good[:, :SHALLOW].sum(axis=1) + good[:, :k].sum(axis=1)) / 2)

    def _lifted(self, order: NDArray[np.int64], places: NDArray[np.int64], firsts: list[int]) -> NDArray[np.int64]:
        """The first of a ranking after lifting; what lies between the top and what is lifted does not matter."""
        wanted = sorted({*firsts, *self.near}, key=lambda at: int(places[at]))
        short = [*order[: self.into].tolist(), *(at for at in wanted if places[at] >= self.into)]
        ranking, _ = lifted([_HIT._replace(id=at) for at in short], firsts, self.into, near=self.near)
        top = [hit.id for hit in ranking[: self.into]]
        inside = set(top)
        return np.array([*top, *(at for at in order.tolist() if at not in inside)])


_HIT: Fused[int] = Fused(0, 0.0, {}, {})
