"""One fusion for recall and for the gate: a query's pool as a small matrix of legs by memories, weighed and ranked.

A fuser turns each leg's ranks or scores into units, from 0 to what the leg's first gets. A memory's score is the sum of
units times weights. Units do not depend on the weights, so that one pool is weighed many times at little cost.

A leg may have been unable to see a memory: it has no vector yet, is sensitive, or is not linked in the graph. That is
not a low score. Such a memory gets from that leg what the leg gave to others of which the seeing legs say as much: the
value of a line through the memories that all these legs saw (`_expected`), never more than the best that the leg
really gave, and no rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.recall.fusers import LEGS, MINIMA, RRF, TM2C2, Fuser
from hopgate.recall.hit import LegPart

Id = TypeVar("Id", int, str)
Scored: TypeAlias = Sequence[tuple[Id, float]]
"""(id, score), best first, no id twice."""
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pool(Generic[Id]):
    """All that legs found for one query; make it with `Pool.of`."""

    ids: tuple[Id, ...]  # the memories, in the order that breaks the last ties
    legs: tuple[str, ...]  # the legs that found something
    scores: Floats  # each leg's real scores; NaN where it gave none
    ranks: Floats  # each memory's rank in the leg's own list, see `shared_ranks`; infinite where it is not listed
    unseen: NDArray[np.bool_]  # what a leg could not see

    @classmethod
    def of(
        cls,
        found: Mapping[str, Scored[Id]],
        scores: Mapping[str, Scored[Id] | Mapping[Id, float]] | None = None,
        *,
        key: Callable[[Id], Any] | None = None,
    ) -> Pool[Id]:
        """Make the pool of the legs' lists; a leg that found nothing has nothing to say, and is left out.

        Parameters
        ----------
        found : mapping of leg name to list of (id, score)
            What each leg lists.
        scores : mapping of leg name to (id, score), optional
            A leg's real scores of the pool, more than it lists: what is missing there the leg could not see. Of a leg
            that is not named only its list is known, and what it does not list counts as its least.
        key : callable, optional
            Orders ids where all else ties; by themselves where not given.

        Examples
        --------
        >>> pool = Pool.of({"lexical": [("b", 9.0)], "dense": [("a", 0.8), ("b", 0.7)]}, {"lexical": {"b": 9.0}})
        >>> pool.ids, pool.ranks.tolist(), pool.unseen.tolist()
        (('a', 'b'), [[inf, 1.0], [1.0, 2.0]], [[True, False], [False, False]])
        """
        lists = {leg: listed for leg, listed in found.items() if listed}
        ids = tuple(sorted({id for listed in lists.values() for id, _ in listed}, key=key))
        column = {id: place for place, id in enumerate(ids)}
        shape = len(lists), len(ids)
        real, ranks, unseen = np.full(shape, np.nan), np.full(shape, np.inf), np.zeros(shape, dtype=bool)
        for row, (leg, listed) in enumerate(lists.items()):
            if len(dict(listed)) < len(listed):
                raise HopgateError(f"the {leg} leg lists a memory twice: a leg holds an id once")
            known: dict[Id, float] = {**dict((scores or {}).get(leg, ())), **dict(listed)}
            for id in known.keys() & column.keys():
                if not math.isfinite(known[id]):
                    raise HopgateError(f"the {leg} leg scores {id!r} with {known[id]}: a score must be a finite number")
                real[row, column[id]] = known[id]
            ranks[row, [column[id] for id, _ in listed]] = shared_ranks([score for _, score in listed])
            if leg in (scores or {}):
                unseen[row] = np.isnan(real[row])
        return cls(ids, tuple(lists), real, ranks, unseen)


@dataclass(frozen=True, eq=False)
class Units:
    """What the legs of a pool give to each memory at weight 1, to be weighed many times."""

    legs: tuple[str, ...]  # those that the fuser gives a weight; others are as if they had found nothing
    values: Floats
    listed: NDArray[np.bool_]  # which memories these legs list
    # All memories in the order that breaks ties: what more of these legs could see, then the better single rank.
    tie_order: NDArray[np.intp]

    @classmethod
    def of(cls, pool: Pool[Any], fuser: Fuser) -> Units:
        """Give what this fuser weighs of a pool."""
        if unknown := [leg for leg in pool.legs if leg not in fuser.weights]:
            raise HopgateError(f"no weight for the leg {unknown[0]!r}: there are weights for {', '.join(LEGS)}")
        rows = [row for row, leg in enumerate(pool.legs) if leg in fuser.active]
        legs = tuple(pool.legs[row] for row in rows)
        scores, ranks, unseen = pool.scores[rows], pool.ranks[rows], pool.unseen[rows]
        in_list = np.isfinite(ranks)
        listed: NDArray[np.bool_] = np.logical_or.reduce(in_list, axis=0)
        values = np.zeros(ranks.shape)
        for row, leg in enumerate(legs):
            values[row, listed] = _unit(fuser, leg, scores[row, listed], ranks[row, listed])
        _expect(values, unseen, in_list, listed)
        best = ranks.min(axis=0, initial=np.inf)
        return cls(legs, values, listed, np.lexsort((best, unseen.sum(axis=0))))

    def weighed(self, weights: Floats) -> Floats:
        """Weigh the pool: rows of weights, one a leg, to rows of scores, one a memory.

        What none of these legs lists has the score minus infinity.
        """
        sums = np.zeros((len(weights), len(self.listed)))
        # One leg after the other: a product of matrices would round differently from one row to many.
        for column, values in zip(weights.T, self.values, strict=True):
            sums += column[:, None] * values
        return np.where(self.listed, sums, -np.inf)

    def ordered(self, scores: Floats, k: int | None = None) -> NDArray[np.intp]:
        """Give the places of the first k, or of all that is listed, by each row of scores."""
        order = self.tie_order[np.argsort(-tie_key(scores[:, self.tie_order]), axis=1, kind="stable")]
        return order[:, : self.listed.sum()][:, :k]


@dataclass(frozen=True, eq=False)
class Ranking(Generic[Id]):
    """A pool in the order of its fused scores."""

    pool: Pool[Id]
    fuser: Fuser
    units: Units
    scores: Floats  # one a memory, in the order of `pool.ids`; minus infinity for what no leg with a weight lists
    order: NDArray[np.intp]  # the places in `pool.ids` of what such a leg lists, best first

    @property
    def ids(self) -> list[Id]:
        """The memories, best first."""
        return [self.pool.ids[place] for place in self.order]

    def top(self) -> list[tuple[Id, float]]:
        """Give the memories with their scores, best first."""
        return [(self.pool.ids[place], float(self.scores[place])) for place in self.order]

    def shares(self, id: Id) -> dict[str, LegPart]:
        """Give each weighted leg's part in a memory's score; a leg that saw it and gave it nothing is left out.

        What could not see it gave it neither rank nor score, and is expected to give the contribution.

        Examples
        --------
        >>> found = {"lexical": [("secret", 9.0), ("a", 3.0)], "dense": [("a", 0.9)]}
        >>> ranking = fused(Pool.of(found, {"dense": {"a": 0.9}}), RRF())
        >>> ranking.shares("secret")["dense"]
        LegPart(rank=None, score=None, contribution=0.01639344262295082)
        """
        place = self.pool.ids.index(id)
        shares = {}
        for leg, unit in zip(self.units.legs, self.units.values[:, place], strict=True):
            row = self.pool.legs.index(leg)
            rank, score = self.pool.ranks[row, place], self.pool.scores[row, place]
            contribution = float(self.fuser.weights[leg] * unit)
            if self.pool.unseen[row, place]:
                shares[leg] = LegPart(None, None, contribution)
            elif math.isfinite(rank) or contribution:
                shares[leg] = LegPart(int(rank) if math.isfinite(rank) else None, float(score), contribution)
        return shares


def fused(pool: Pool[Id], fuser: Fuser) -> Ranking[Id]:
    """Rank a pool, best first.

    Ties go to what more legs could see, then to the better single rank, then by the order of the pool's ids. A leg of
    weight 0 is as if it had found nothing.

    Examples
    --------
    >>> pool = Pool.of({"lexical": [("a", 0.9), ("b", 0.2)], "graph": [("b", 0.01)]})
    >>> [(id, round(score, 4)) for id, score in fused(pool, RRF(graph=1.2)).top()]
    [('b', 0.0358), ('a', 0.0164)]
    """
    units = Units.of(pool, fuser)
    scores = units.weighed(np.array([[fuser.weights[leg] for leg in units.legs]]))
    return Ranking(pool, fuser, units, scores[0], units.ordered(scores)[0])


def shared_ranks(scores: Sequence[float]) -> list[int]:
    """Give the ranks of scores in falling order, from 1; equal scores share the better rank, so that no age decides."""
    ranks: list[int] = []
    for place, score in enumerate(scores):
        ranks.append(ranks[-1] if place and score == scores[place - 1] else place + 1)
    return ranks


def tie_key(scores: Floats | Sequence[float]) -> Floats:
    """Round scores so that sums which differ by the order of adding alone are equal."""
    mantissa, exponent = np.frexp(scores)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**40), exponent - 40))


def _unit(fuser: Fuser, leg: str, scores: Floats, ranks: Floats) -> Floats:
    """What a leg gives to the memories at weight 1; 0 to those it did not score."""
    if isinstance(fuser, RRF):
        return 1.0 / (fuser.k + ranks)
    seen = ~np.isnan(scores)
    if not seen.any():
        return np.zeros(len(scores))
    least, most = float(np.nanmin(scores)), float(np.nanmax(scores))
    if isinstance(fuser, TM2C2):
        least = MINIMA.get(leg, 0.0)
        stretched = np.maximum(scores - least, 0.0) / (most - least) if most > least else np.zeros(len(scores))
    else:
        stretched = (scores - least) / (most - least) if most > least else np.ones(len(scores))
    return np.where(seen, stretched, 0.0)


def _expect(values: Floats, unseen: NDArray[np.bool_], in_list: NDArray[np.bool_], listed: NDArray[np.bool_]) -> None:
    """Fill in, for memories that some legs could not see, what these legs are expected to give."""
    unseen = unseen & listed
    for column in sorted({tuple(legs) for legs in unseen.T[unseen.any(axis=0)].tolist()}):
        without = np.array(column, dtype=bool)
        alike = (unseen == without[:, None]).all(axis=0)
        others = values[~without].mean(axis=0)
        for leg in np.flatnonzero(without):
            # Only what the seeing legs list: the pool also holds what this leg alone listed, for what it says itself.
            known = in_list[~without].any(axis=0) & ~unseen[~without].any(axis=0) & ~unseen[leg]
            real = values[leg, listed & ~unseen[leg]]
            values[leg, alike] = _expected(others[alike], others[known], values[leg, known], real)


def _expected(others: Floats, others_to_known: Floats, own_to_known: Floats, real: Floats) -> Floats:
    """What a leg is expected to give to memories that it could not see, by what the others give on average.

    A least-squares line, never falling, through the memories that all of them saw and two more points: what gets
    nothing elsewhere gets nothing here, what gets the most the leg's best. So a leg that agrees with the others is
    taken to go on agreeing, one that does not gives its mean, and without a memory to go by the others are believed.
    """
    best = float(real.max(initial=0.0))
    x, y = np.append(others_to_known, [0.0, best]), np.append(own_to_known, [0.0, best])
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    line = y.mean() + max(0.0, slope) * (others - x.mean())
    return np.asarray(np.clip(line, float(real.min(initial=best)), best))
