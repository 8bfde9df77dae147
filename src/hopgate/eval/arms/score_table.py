"""Every configuration on every development query: one table, made quickly, because each shuffle is tuned too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.data.runs import Qrels, Run, relevant
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
    kinds: dict[AnyFuser, list[int]] = defaultdict(list)
    for column, fuser in enumerate(fusers):
        if isinstance(fuser, LINEAR):
            kinds[fuser.reweighed(**{leg: float(weight > 0) for leg, weight in fuser.weights.items()})].append(column)
        else:
            table[:, column] = run_values(fused_run(fuser, lists, queries), qrels, k)
    for kind, columns in kinds.items():
        names = [leg for leg in active(kind) if leg in lists.scores]
        weights = np.array([[fusers[column].weights[leg] for leg in names] for column in columns])
        for row, query in enumerate(queries):
            legs, unseen = lists.of(query, names)
            if any(unseen.values()):
                # What is granted in the place of a leg that could not see is not linear in the weights.
                for column in columns:
                    run = fused_run(fusers[column], lists, [query])
                    table[row, column] = run_values(run, {query: qrels[query]}, k)[0]
                continue
            gold = relevant(qrels[query])
            if gold and names:
                table[row, columns] = _Pool.fused(kind, names, query, legs, lists).recalls(weights, gold, k, lists.into)
    return table


def run_values(run: Run, qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score one run by the measure of the choice, query by query in the order of their ids."""
    scored = score_all(run, qrels, (Recall(SHALLOW), Recall(k)))
    return np.array([sum(values[query] for values in scored.values()) / len(scored) for query in sorted(qrels)])


def development_score(run: Run, qrels: Qrels, k: int = 10) -> float:
    """Score one run by the measure of the choice, in the mean."""
    return float(run_values(run, qrels, k).mean()) if qrels else 0.0


class _Pool(NamedTuple):
    """One query's pool: ids ascending, what each leg gives them at weight 1, and what is lifted."""

    ids: list[str]
    parts: NDArray[np.float64]
    firsts: list[list[int]]
    near: list[int]

    @classmethod
    def fused(
        cls,
        kind: AnyFuser,
        names: Sequence[str],
        query: str,
        legs: Mapping[str, list[tuple[str, float]]],
        lists: LegLists,
    ) -> _Pool:
        hits = sorted(kind.fuse(legs), key=lambda hit: hit.id)
        ids = [hit.id for hit in hits]
        parts = np.array([[hit.contributions.get(leg, 0.0) for hit in hits] for leg in names])
        if lists.prior:
            known = lists.importance
            parts = parts * [lists.prior.factor(known.get(memory, DEFAULT_IMPORTANCE)) for memory in ids]
        if not lists.into or len([leg for leg in legs if legs[leg]]) < 2:
            return cls(ids, parts, [], [])
        place = {memory: at for at, memory in enumerate(ids)}
        firsts = [[place[key] for key, score in leg if score == leg[0][1]] for leg in legs.values() if leg]
        near: list[str] = []
        if "graph" in legs:
            blind = set(lists.blind.get(query, ()))
            near = near_of(lists.base.get(query, ()), blind, place, lists.importance, lists.prior)
        return cls(ids, parts, firsts, [place[key] for key in near])

    def recalls(self, weights: NDArray[np.float64], gold: set[str], k: int, into: int) -> NDArray[np.float64]:
        """Give the mean of recall@5 and recall@k at each row of weights."""
        if not self.ids:
            return np.zeros(len(weights))
        scores = np.round(weights @ self.parts, 12)
        deep = max(k, SHALLOW, into)
        order = np.argsort(-scores, axis=1, kind="stable")
        # Of those that tie for a leg's first place the one that fusion ranks best is lifted.
        firsts = np.array([np.array(tied)[scores[:, tied].argmax(axis=1)] for tied in self.firsts]).T
        top = order[:, :deep].copy()
        if self.firsts:
            places = np.empty_like(order)
            np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
            outside = (np.take_along_axis(places, firsts, axis=1) >= into).any(axis=1)
            outside |= (places[:, self.near] >= BASE_PLACE).any(axis=1)
            for row in np.flatnonzero(outside):
                top[row] = self._lifted(order[row], places[row], firsts[row].tolist(), into)[:deep]
        good = np.array([memory in gold for memory in self.ids])[top]
        return np.asarray((good[:, :SHALLOW].sum(axis=1) + good[:, :k].sum(axis=1)) / (2 * len(gold)))

    def _lifted(
        self, order: NDArray[np.int64], places: NDArray[np.int64], firsts: list[int], into: int
    ) -> NDArray[np.int64]:
        """The first of a ranking after lifting; what lies between the top and what is lifted does not matter."""
        wanted = sorted({*firsts, *self.near}, key=lambda at: int(places[at]))
        short = [*order[:into].tolist(), *(at for at in wanted if places[at] >= into)]
        ranking, _ = lifted([_HIT._replace(id=at) for at in short], firsts, into, near=self.near)
        top = [hit.id for hit in ranking[:into]]
        inside = set(top)
        return np.array([*top, *(at for at in order.tolist() if at not in inside)])


_HIT: Fused[int] = Fused(0, 0.0, {}, {})
