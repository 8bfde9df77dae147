"""The graph leg: walks from the base's hits, from names and from facts, mixed; memories ranked by where walks are.

Nothing of the walk is imported before the first query that walks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from hopgate.graph.walk.config import PARTS, Part, Walk
from hopgate.recall.filters import Filters, Query
from hopgate.recall.fusers import MinMax
from hopgate.store.graph import edge_rows, graph_vectors, name_rows
from hopgate.store.graph.graph_vectors import Nearest
from hopgate.store.graph.visible import View, view_of
from hopgate.store.rows import Connection, values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.graph.walk.matrix import GraphMatrix, MatrixCache
    from hopgate.graph.walk.paths import PathPart
    from hopgate.store.store import Store

Scored = Sequence[tuple[int, float]]

# How the lexical and the dense leg are fused into the base that walks start from: the best family without a graph, on a
# plateau, lexical .25 to .35 are alike.
BASE_FUSER = MinMax(lexical=0.3, dense=0.7, late=0, graph=0)
# Of a scope with no more edges than this each fact is compared: 10 ms.
COMPARED_FACTS = 20_000
# The turns beside so many of the base's first, and of the walk's, are candidates as well.
BEST = 10
# Most queries hold none of these, and reading times takes the months of every language, which a recall does without.
_MAY_SAY_WHEN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\bbefore\b", re.IGNORECASE)


class LookedUp(NamedTuple):
    """What the graph leg asks the store for a query; it does not depend on the base, and so runs beside it."""

    matrix: GraphMatrix  # the graph that is walked: at this time, and of these scopes
    concepts: Sequence[int] = ()  # what the query names
    facts: Scored = ()  # the nearest facts with their cosines, best first
    statements: Scored = ()  # the memories of the nearest statements, likewise
    asked: str = ""  # as of when, and why, where the query itself says so


@dataclass(frozen=True, slots=True)
class WalkTrace:
    """What it takes to explain or to draw a walk: the graph it saw, where it started, and its settings."""

    matrix: GraphMatrix
    start: Mapping[int, float]
    walk: Walk
    asked: str = ""  # as of when, and why, where the query itself says so


class GraphRanking(NamedTuple):
    """What the graph leg gives."""

    hits: list[tuple[int, float]]  # the memories of the graph that walks visit most, best first
    trace: WalkTrace | None  # the walk that ranked them; none where there is no graph
    scores: dict[int, float]  # of every memory of the base that the graph has
    unseen: frozenset[int] = frozenset()  # those of the base that it does not have: sensitive, new, linked to nothing
    beside: frozenset[int] = frozenset()  # the turns up to two away from the first of the base and of the walk


NO_WALK = GraphRanking([], None, {})
"""What the graph leg gives where there is nothing to walk."""


class GraphLeg:
    """Ranks a store's memories by walks over its graph.

    Parameters
    ----------
    store : Store
        Whose graph.
    walk : Walk, optional
        How to walk; the defaults are measured. Another may be set, and holds from the next query on.
    parts : sequence of str
        The parts of the graph that it uses.
    """

    def __init__(self, store: Store, walk: Walk | None = None, parts: Sequence[Part] = PARTS) -> None:
        self.walk = walk or Walk()
        self.parts = parts
        self._store = store

    def variant(self, walk: Walk | None, parts: Sequence[Part]) -> GraphLeg:
        """Give this leg with another walk or with other parts; what it has loaded is shared."""
        # Made before the copy, so that both have the same ones.
        _ = self.matrices
        other = copy(self)
        other.walk, other.parts = walk or self.walk, parts
        return other

    def look_up(self, query: Query) -> LookedUp:
        """Ask the store for all that `rank` needs of it: the graph, and what the query names and resembles.

        Without a vector facts and statements seed nothing.
        """
        with self._store.transaction() as connection:
            found = self._looked_up(connection, query)
            if query.filters.as_of is not None or not self.walk.dates or not _MAY_SAY_WHEN.search(query.text):
                return found
            from hopgate.recall.query_time import as_of, asked_time

            asked = asked_time(query.text)
            held = edge_rows.intervals(connection, found.concepts) if asked else []
            moment = as_of(asked, held) if asked else None
            if asked is None or moment is None:
                return found
            then = replace(query, filters=replace(query.filters, as_of=moment))
            why = f"{moment:%Y-%m-%d}, because the query says “{asked.words}”"
            return self._looked_up(connection, then)._replace(asked=why)

    def rank(
        self,
        query: Query,
        found: LookedUp,
        base: Scored,
        depth: int,
        *,
        dense: Scored = (),
    ) -> GraphRanking:
        """Walk from the base's hits and from what the query names and resembles; empty when nothing seeds.

        `base` is the base's ranking, whose hits carry the restart of the walk from memories; a fact that lies too far
        below the first of the `dense` leg's list is no place to start from.
        """
        from hopgate.graph.walk.rank import ranked, seeded
        from hopgate.graph.walk.seeds import FACT_FLOOR, by_cosine, memory_mass, part_alone

        walk, filters, matrix = replace(self.walk, depth=depth), query.filters, found.matrix
        if not matrix.graph.arcs:
            return NO_WALK
        floor = dense[0][1] - FACT_FLOOR if dense else -1.0
        facts = [(edge, cosine) for edge, cosine in found.facts if cosine >= floor]
        alone = part_alone(matrix, memory_mass(base))
        hits = by_cosine(base, dict(dense), alone, dense=BASE_FUSER.dense)
        mass = memory_mass(hits, found.statements)
        begun = seeded(matrix, mass, found.concepts, facts, walk.shares)
        allowed = matrix.allowed(filters.scopes, filters.concepts, filters.exclude, self._among(filters))
        # What a filter leaves may lie far below the first `depth` of all memories: then every score must be right.
        best, scores = ranked(matrix, begun, walk, allowed=allowed, near=not query.exact and allowed is None)
        trace = WalkTrace(matrix, begun.starts, walk, found.asked)
        unseen = frozenset(mass.keys() - begun.linked.keys())
        first = [memory for listed in (base, best) for memory, _ in listed[:BEST]]
        beside = turns_beside(matrix, first, allowed)
        shown = self._still_shown({*beside, *dict(best)}, filters)
        hits = [hit for hit in best if hit[0] in shown]
        return GraphRanking(hits, trace, scores, unseen, frozenset(shown.intersection(beside)))

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

    def _looked_up(self, connection: Connection, query: Query) -> LookedUp:
        """The concepts that a query names, the nearest facts and the nearest statements."""
        from hopgate.graph.names import concepts_in, name_runs
        from hopgate.graph.walk.parts import cut_to
        from hopgate.graph.walk.seeds import NEAR_FACTS, NEAR_STATEMENTS

        filters, exact = query.filters, bool(query.exact)
        scopes = None if filters.scopes is None else sorted(filters.scopes)
        view = view_of(connection, scopes, filters.as_of, filters.known_at)
        # Within walls the graph of these scopes is walked, and no more is read.
        walked = View(view.graph_scopes, view.as_of, view.known_at)
        matrix = self.matrices.get(connection, walked, superseded=filters.superseded, fresh=exact)
        matrix = cut_to(matrix, self.parts)
        if not matrix.graph.arcs:
            return LookedUp(matrix)
        rows = name_rows.read(connection, normals=name_runs(query.text), scopes=view.graph_scopes)
        concepts = concepts_in(query.text, ((row.normal, row.concept_id) for row in rows))
        if query.vector is None:
            return LookedUp(matrix, concepts)
        # Where there are few facts, comparing all is as quick as the index, which does not know whose they are.
        few = scopes is not None and len(matrix.edges.id) <= COMPARED_FACTS
        facts = graph_vectors.near_facts(connection, view, Nearest(query.vector, NEAR_FACTS, exact or few))
        if "statements" not in self.parts:
            return LookedUp(matrix, concepts, facts)
        nearest = Nearest(query.vector, NEAR_STATEMENTS, exact)
        return LookedUp(
            matrix, concepts, facts, graph_vectors.near_statements(connection, view, *filters.sql(), nearest)
        )

    def _among(self, filters: Filters) -> Sequence[int] | None:
        """The memories that meet conditions on their fields; None where there are none."""
        if filters.where is None or filters.among is not None:
            return filters.among
        statement, parameters = f"SELECT id FROM memories WHERE {filters.where.sql}", filters.where.parameters
        with self._store.transaction() as connection:
            return [row[0] for row in connection.execute(statement, parameters)]

    def _still_shown(self, memories: Collection[int], filters: Filters) -> set[int]:
        """Leave out what was deleted, marked, superseded or moved since the matrix was read."""
        condition, parameters = filters.sql()
        statement = f"SELECT id FROM memories WHERE id = ANY(%(found)s) AND NOT is_sensitive AND {condition}"
        with self._store.transaction() as connection:
            return set(values(connection, statement, {**parameters, "found": list(memories)}))


def turns_beside(matrix: GraphMatrix, memories: Sequence[int], allowed: NDArray[np.bool_] | None = None) -> list[int]:
    """Give what an arc of a thread joins to these memories, by the store's ids."""
    graph, places = matrix.graph, matrix.memories(memories)
    ends = [graph.indices[graph.indptr[at] : graph.indptr[at + 1]] for at in places.tolist() if at >= 0]
    near = sorted({at for row in ends for at in row[row < graph.memories].tolist()})
    return [int(matrix.memory_ids[at]) for at in near if allowed is None or allowed[at]]
