"""What `kb.graph` shows of itself: pictures of its parts, and its two times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.recall.filters import Filters, Scopes

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.inspect.edges import Edge
    from hopgate.graph.inspect.times import Conflict, EdgeChanges, SupersededMemory, TimeSpan
    from hopgate.graph.inspect.view import Neighbourhood, QueryWalk
    from hopgate.recall.legs.graph import GraphLeg
    from hopgate.store.fill import Embedding
    from hopgate.store.graph.visible import View
    from hopgate.store.store import Store


class GraphViews:
    """The part of `kb.graph` that an explorer draws.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London."))
    ...     _ = kb.build()
    ...     london = kb.graph.concept("London").concept.id
    ...     [concept.name for concept in kb.graph.neighbourhood(london).concepts]
    ['London', 'Ada Lovelace']
    >>> folder.cleanup()
    """

    _store: Store
    _embedding: Embedding
    _leg: GraphLeg

    def neighbourhood(
        self,
        concept_id: int | None = None,
        *,
        among: Sequence[int] | None = None,
        depth: int = 1,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        scope: Scopes = None,
        limit: int = 100,
    ) -> Neighbourhood:
        """Give a part of the graph to draw: around a concept, among some, or the largest of all.

        Parameters
        ----------
        concept_id : int, optional
            Begin here and go `depth` edges far, the heaviest first.
        among : sequence of int, optional
            These concepts alone, the first `limit` of them.
        scope : str or sequence of str, optional
            Only what memories of this scope, or of these, say, and as they call it.
        """
        from hopgate.graph.inspect import view as drawing
        from hopgate.store.graph.arrays import snapshot

        drawing.check_limits(depth, limit)
        with snapshot(self._store) as connection:
            view = self._view(connection, scope, as_of, known_at)
            if concept_id is not None:
                return drawing.around(connection, view, concept_id, depth=depth, limit=limit)
            if among is not None:
                return drawing.among(connection, view, among, limit=limit)
            return drawing.largest(connection, view, limit=limit)

    def walk(
        self,
        query: str,
        *,
        memories: int = 8,
        concepts: int = 12,
        as_of: datetime | None = None,
        scope: Scopes = None,
    ) -> QueryWalk:
        """Walk from a query as the graph leg does, and give the memories and concepts that it visits most.

        Parameters
        ----------
        memories, concepts : int
            How many of each.
        scope : str or sequence of str, optional
            Only memories of this scope, or of these, and the concepts that they talk about, as they call them.
        """
        from hopgate.graph.inspect.view import query_walk
        from hopgate.recall.completion import complete, fused_base, pool_of
        from hopgate.recall.filters import check_query
        from hopgate.recall.legs.dense import dense_leg
        from hopgate.recall.legs.lexical import lexical_leg
        from hopgate.store import vectors

        text, filters = check_query(query), Filters(scope, as_of=as_of)
        with self._store.transaction() as connection:
            space = vectors.space(connection)
        vector = self._embedding.query(text, space) if space else None
        with self._store.transaction() as connection:
            lists = {"lexical": lexical_leg(connection, text, filters)}
            if vector is not None:
                lists["dense"] = dense_leg(connection, vector, filters, exact=True)
            scores = complete(connection, text, vector, lists, pool_of(lists), filters=filters)
        base = [(hit.id, hit.score) for hit in fused_base(scores)]
        trace = self._leg.rank(text, vector, base, filters, depth=50, legs=scores, exact=True).trace
        if trace is None or not trace.start:
            raise HopgateError(f"nothing in the graph answers to {query!r}: build it, or ask for something it names")
        with self._store.transaction() as connection:
            return query_walk(
                connection,
                text,
                trace.matrix,
                trace.start,
                damping=trace.walk.damping,
                memories=memories,
                concepts=concepts,
            )

    def joined_pairs(self, *, scope: Scopes = None) -> list[tuple[int, int, float]]:
        """Which concepts are joined by what is known now, by their ids, with the edges' weights."""
        from hopgate.store.graph import edge_rows

        return self._store.run(lambda connection: edge_rows.all_pairs(connection, self._view(connection, scope)))

    def span(self, *, scope: Scopes = None) -> TimeSpan:
        """How far valid time and known time reach."""
        from hopgate.graph.inspect import times

        return self._store.run(lambda connection: times.span(connection, self._view(connection, scope)))

    def history(self, name: str, *, scope: Scopes = None, limit: int = 500) -> list[Edge]:
        """Give every version of a concept's edges; those with `retired_at` are believed no more."""
        from hopgate.graph.inspect import times

        with self._store.transaction() as connection:
            return times.history(connection, self._view(connection, scope), name, limit=limit)

    def changes(
        self, since: datetime, until: datetime, *, axis: str = "valid", scope: Scopes = None, limit: int = 200
    ) -> EdgeChanges:
        """Give what began and what ended after `since` and up to `until`.

        Parameters
        ----------
        axis : str
            "valid": when it was true; "known": when it was known.
        scope : str or sequence of str, optional
            Only what memories of this scope, or of these, say.
        """
        from hopgate.graph.inspect import times

        with self._store.transaction() as connection:
            view = self._view(connection, scope)
            return times.changes(connection, view, since, until, axis=axis, limit=limit)

    def conflicts(self, name: str | None = None, *, scope: Scopes = None, limit: int = 100) -> list[Conflict]:
        """Give pairs of edges that cannot both hold, and whether the newer one ended the older."""
        from hopgate.graph.inspect import times

        with self._store.transaction() as connection:
            return times.conflicts(connection, self._view(connection, scope), name, limit=limit)

    def superseded(self, *, scope: Scopes = None, limit: int = 100) -> list[SupersededMemory]:
        """Give the memories that gave way to others, the last one first."""
        from hopgate.graph.inspect import times

        with self._store.transaction() as connection:
            return times.superseded(connection, self._view(connection, scope), limit=limit)

    def _view(
        self,
        connection: Connection[Any],
        scope: Scopes,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> View:
        from hopgate.store import setting_rows
        from hopgate.store.graph.visible import View

        shared = setting_rows.scopes(connection) == setting_rows.SHARED
        scopes = Filters(scope).scopes
        return View(None if scopes is None else tuple(scopes), as_of, known_at, shared)
