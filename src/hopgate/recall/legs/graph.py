"""The graph leg: walks from the base's hits, from names and from facts, mixed; memories ranked by where walks are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.graph.walk.config import Walk
from hopgate.recall.filters import Filters
from hopgate.store import setting_rows
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix, MatrixCache
    from hopgate.graph.walk.paths import PathPart
    from hopgate.graph.walk.rank import Mixture, QuerySeeds
    from hopgate.graph.walk.seeds import Starts
    from hopgate.recall.legs.graph_seeds import LookedUp
    from hopgate.store.store import Store

Scored = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class WalkTrace:
    """What it takes to explain or to draw a walk: the graph it saw, where it started, its settings and its mixture.

    `walks` has the walks from memories, names and facts, a column each. `asked` says as of when, where the query itself
    says so.
    """

    matrix: GraphMatrix
    start: Starts
    walk: Walk
    mixture: Mixture
    walks: NDArray[np.float64]
    asked: str = ""


class GraphRanking(NamedTuple):
    """What the graph leg gives.

    Parameters
    ----------
    hits : list of (int, float)
        The memories of the graph that walks visit most, best first.
    trace : WalkTrace, optional
        The walk that ranked them; none where there is no graph.
    scores : dict
        The score of every memory of the base, also of those that the graph does not have: what their mass is worth.
    blind : frozenset of int
        Those of the base that the graph does not have: sensitive, new, or linked to nothing.
    """

    hits: list[tuple[int, float]]
    trace: WalkTrace | None
    scores: dict[int, float]
    blind: frozenset[int] = frozenset()


class GraphLeg:
    """Ranks a store's memories by walks over its graph.

    Nothing is loaded before the first `rank`: a recall whose graph leg is off does without NumPy.

    Parameters
    ----------
    store : Store
        Whose graph.
    walk : Walk, optional
        How to seed and to walk; the defaults are measured. Another may be set, and holds from the next query on.
    over : callable, optional
        Gives the graph to walk over in the place of the store's: a control of an evaluation.
    """

    def __init__(
        self,
        store: Store,
        walk: Walk | None = None,
        *,
        over: Callable[[GraphMatrix], GraphMatrix] | None = None,
    ) -> None:
        self.walk = walk or Walk()
        self._store = store
        self._over = over

    def variant(
        self, *, walk: Walk | None = None, over: Callable[[GraphMatrix], GraphMatrix] | None = None
    ) -> GraphLeg:
        """Give this leg with another walk or over another graph; what it has loaded is shared."""
        # Made before the copy, so that both have the same ones.
        _ = self.matrices
        other = copy(self)
        other.walk, other._over = walk or self.walk, over or self._over
        return other

    def look_up(
        self, query: str, vector: NDArray[np.float32] | None, filters: Filters, *, exact: bool | None = None
    ) -> LookedUp:
        """Ask the store for all that `rank` needs of it: the graph, and what the query names and resembles.

        It does not depend on the base, so that it can run beside the base legs.

        Parameters
        ----------
        vector : array, optional
            The query's vector; without one facts and statements seed nothing.
        exact : bool, optional
            Whether every fact is compared, on the graph as it is now; by default where there is no index.
        """
        from hopgate.recall.legs.graph_seeds import asked_as_of, look_up

        with self._store.transaction() as connection:

            def looked_up(filters: Filters) -> LookedUp:
                matrix = self._matrix(connection, filters, fresh=bool(exact))
                return look_up(connection, matrix, query, vector, filters, exact=bool(exact))

            found = looked_up(filters)
            asking = filters.as_of is None and self.walk.dates
            moment, asked = asked_as_of(connection, found, query) if asking else (None, "")
            if moment is None:
                return found
            return looked_up(replace(filters, as_of=moment))._replace(as_of=moment, asked=asked)

    def rank(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        base: Scored,
        filters: Filters,
        depth: int,
        *,
        legs: Mapping[str, Scored] | None = None,
        exact: bool | None = None,
        found: LookedUp | None = None,
    ) -> GraphRanking:
        """Walk from the base's hits and from what the query names and resembles; empty when nothing seeds.

        Parameters
        ----------
        vector : array, optional
            The query's vector; without one facts and statements seed nothing.
        base : sequence of (int, float)
            The base's ranking, best first: its hits carry the restart of the walk from memories.
        legs : mapping of name to list
            The base legs' own lists: what they show of the query helps to decide how much each walk counts.
        exact : bool, optional
            Whether every fact is compared and the whole graph solved, as an evaluation does; by default indexes are
            asked where there are some, and walks look no further than the first `depth` memories need.
        found : LookedUp, optional
            What `look_up` gave for this query, where it ran already.
        """
        from hopgate.graph.walk.rank import ranked_by_walks, seeded, source_walks

        walk = replace(self.walk, depth=depth)
        found = found or self.look_up(query, vector, filters, exact=exact)
        matrix = found.matrix
        if not matrix.graph.arcs:
            return GraphRanking([], None, {})
        begun = seeded(matrix, self.seeds(found, base, legs or {}))
        allowed = matrix.allowed(filters.scopes, filters.concepts, filters.exclude)
        # What a filter leaves may lie far below the first `depth` of all memories: then every score must be right.
        walks = source_walks(matrix.graph, begun.starts, walk, near=not exact and allowed is None)
        ranked = ranked_by_walks(matrix, begun, walks, walk, base, legs or {}, allowed=allowed)
        start = begun.starts.mixed(ranked.mixture.shares)
        trace = WalkTrace(matrix, start, walk, ranked.mixture, walks, found.asked)
        return GraphRanking(self._still_shown(ranked.hits, filters), trace, ranked.scores, begun.blind)

    def seeds(self, found: LookedUp, base: Scored, legs: Mapping[str, Scored]) -> QuerySeeds:
        """Give where walks start: hits of the base, statements, concepts the query names, and the nearest facts."""
        from hopgate.recall.legs.graph_seeds import query_seeds

        return query_seeds(found, base, legs)

    def rank_from(self, belief: Mapping[int, float], filters: Filters, depth: int) -> GraphRanking:
        """Walk from memories alone, each with the mass that is believed in it: the stage after a cross-encoder.

        A memory that is not in the graph scores what one of its mass got on average, so that it does not lose by that.

        Parameters
        ----------
        belief : mapping of int to float
            Masses of memories by the store's ids; their sum does not matter.
        """
        from hopgate.graph.walk.rank import Mixture, QuerySeeds, pool_scores, seeded, source_walks
        from hopgate.graph.walk.walk_graph import top_k

        with self._store.transaction() as connection:
            matrix = self._matrix(connection, filters)
        walk = replace(self.walk, depth=depth)
        begun = seeded(matrix, QuerySeeds([], [], dict(belief)))
        if not begun.linked:
            return GraphRanking([], None, {})
        walks = source_walks(matrix.graph, begun.starts, walk)
        scores = walks[:, 0]
        allowed = matrix.allowed(filters.scopes, filters.concepts, filters.exclude)
        known = pool_scores(scores, begun.linked, belief)
        known |= {int(matrix.memory_ids[at]): float(scores[at]) for at in top_k(scores, depth, allowed=allowed)}
        hits = self._still_shown(sorted(known.items(), key=lambda hit: (-hit[1], hit[0])), filters)
        mixture = Mixture((1.0, 0.0, 0.0))
        trace = WalkTrace(matrix, begun.starts.mixed(mixture.shares), walk, mixture, walks)
        return GraphRanking(hits, trace, known, begun.blind)

    def explain(self, trace: WalkTrace, memory_id: int) -> tuple[PathPart, ...]:
        """Give the strongest path to a memory: seed concept, relation, concept, … memory, with evidence."""
        from hopgate.graph.walk.paths import path_in_words

        with self._store.transaction() as connection:
            return path_in_words(connection, trace.matrix, trace.start, memory_id, damping=trace.walk.damping)

    @cached_property
    def matrices(self) -> MatrixCache:
        """The matrices that were asked for."""
        from hopgate.graph.walk.matrix import MatrixCache

        return MatrixCache(self._store)

    def close(self) -> None:
        """Wait for a matrix that is being read."""
        if "matrices" in vars(self):
            self.matrices.close()

    def _matrix(self, connection: Connection[Any], filters: Filters, *, fresh: bool = False) -> GraphMatrix:
        """The graph at this time that a query walks; within walls that of its scopes, and no more is read."""
        shared = filters.scopes is None or setting_rows.scopes(connection) == setting_rows.SHARED
        scopes = None if shared or filters.scopes is None else tuple(sorted(filters.scopes))
        view = View(scopes, filters.as_of, filters.known_at)
        matrix = self.matrices.get(connection, view, superseded=filters.superseded, fresh=fresh)
        return matrix if self._over is None else self._over(matrix)

    def _still_shown(self, hits: Scored, filters: Filters) -> list[tuple[int, float]]:
        """Leave out what was deleted, marked, superseded or moved since the matrix was read."""
        condition, parameters = filters.sql()
        with self._store.transaction() as connection:
            rows = connection.execute(
                f"SELECT id FROM memories WHERE id = ANY(%(hits)s) AND NOT is_sensitive AND {condition}",
                {**parameters, "hits": [memory for memory, _ in hits]},
            )
            shown = {row[0] for row in rows}
        return [hit for hit in hits if hit[0] in shown]
