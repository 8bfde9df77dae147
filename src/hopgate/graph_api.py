"""`kb.graph`: everything to ask of the concept graph and to change in it, in values and never in rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.graph_views import GraphViews
from hopgate.memory import Cleared
from hopgate.recall.filters import Filters, Scopes
from hopgate.sending import guarded

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.exports.memories import ConceptPage
    from hopgate.extract.model.judge import Judge
    from hopgate.graph.build.curate import Decide, Proposal
    from hopgate.graph.build.merge import Change
    from hopgate.graph.clusters import ConceptClusters
    from hopgate.graph.inspect.edges import ConceptDetail, Edge, MemoryDetail
    from hopgate.graph.inspect.stats import GraphStats
    from hopgate.recall.legs.graph import GraphLeg
    from hopgate.store.fill import Embedding
    from hopgate.store.graph.concept_rows import Ambiguous, Concept
    from hopgate.store.store import Store


class ConceptGraph(GraphViews):
    """The graph of a knowledge base: concepts, edges, figures, merges, curation.

    Made by `KnowledgeBase.graph`. A concept may be given by any of its names; an unknown name is refused.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London."))
    ...     _ = kb.build()
    ...     [(edge.source, edge.relation, edge.target) for edge in kb.graph.edges("London")]
    [('Ada Lovelace', 'lives in', 'London')]
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, embedding: Embedding, leg: GraphLeg) -> None:
        self._store = store
        self._embedding = embedding
        self._leg = leg

    def concepts(
        self,
        *,
        kind: str | None = None,
        search: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        scope: Scopes = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Concept]:
        """Give the concepts that most memories talk about, those first.

        Parameters
        ----------
        kind : str, optional
            Only concepts of this kind.
        search : str, optional
            Only concepts with a name that holds this text, in any case.
        as_of : datetime, optional
            Only concepts with an edge that was true then.
        known_at : datetime, optional
            Only what was known then: memories made later do not count.
        scope : str or sequence of str, optional
            Only what memories of this scope, or of these, say, and as they call it.
        offset : int
            Leave out so many of the first.
        """
        from hopgate.store.graph import concept_rows

        with self._store.transaction() as connection:
            view = self._view(connection, scope, as_of, known_at)
            return concept_rows.listed(connection, view, kind=kind, search=search, limit=limit, offset=offset)

    def concept(
        self,
        name: str | int,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        scope: Scopes = None,
        limit: int = 20,
    ) -> ConceptDetail:
        """Give one concept, by a name or its id: its names, the merges into it, at most `limit` memories and edges.

        Parameters
        ----------
        scope : str or sequence of str, optional
            Only what memories of this scope, or of these, say, and as they call it.
        """
        from hopgate.graph.inspect.edges import concept_detail

        with self._store.transaction() as connection:
            return concept_detail(connection, self._view(connection, scope, as_of, known_at), name, limit=limit)

    def memory(self, external_id: str, *, limit: int = 10) -> MemoryDetail:
        """Give one memory: what was extracted from it, its edges, its neighbours, and what it superseded."""
        from hopgate.graph.inspect.edges import memory_detail

        with self._store.transaction() as connection:
            return memory_detail(connection, external_id, limit=limit)

    def concept_vectors(self, concepts: Sequence[Concept]) -> NDArray[np.float32]:
        """Embed concepts' names with the store's embedder: one unit vector each, to draw or to cluster."""
        from hopgate.store.graph import graph_vectors

        # Names were read from cleared texts, and go when their memories turn sensitive.
        names = [(concept.id, concept.name) for concept in concepts]
        with guarded(graph_vectors.guard(self._store, {"concepts": names})):
            return self._embedding.embedder().documents([Cleared(name) for _, name in names])

    def clusters(self, *, resolution: float = 1.0, level: int = 0, scope: Scopes = None) -> ConceptClusters:
        """Give the clusters that the graph's structure makes of its concepts (Leiden): prints as a table.

        Every concept is in one of them. They are found anew when the graph has changed, and keep their ids for as long
        as most of their concepts stay; `recall(cluster=ID)` finds what is linked to one alone.

        Parameters
        ----------
        resolution : float
            Above 1 there are more and smaller clusters, below 1 fewer and larger ones.
        level : int
            0 is the coarsest; each further level splits the clusters of the one before.
        scope : str or sequence of str, optional
            Only what memories of this scope, or of these, say: nothing of another scope moves or names them.
        """
        from hopgate.graph.clusters import find_clusters

        return find_clusters(self._store, resolution=resolution, level=level, scopes=Filters(scope).scopes)

    def ambiguous(self, *, limit: int = 50) -> list[Ambiguous]:
        """Give the names that may be the same as another concept's and were left apart, the most alike first."""
        from hopgate.store.graph import concept_rows

        with self._store.transaction() as connection:
            return concept_rows.ambiguous(connection, limit=limit)

    def edges(
        self,
        of: str | int | None = None,
        *,
        relation: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        scope: Scopes = None,
        limit: int | None = None,
    ) -> list[Edge]:
        """Give the edges, all or one concept's: those true as of a time, as known at a time.

        Parameters
        ----------
        scope : str or sequence of str, optional
            Only the edges that memories of this scope, or of these, support, with their evidence alone.
        """
        from hopgate.graph.inspect.edges import edges

        with self._store.transaction() as connection:
            view = self._view(connection, scope, as_of, known_at)
            return edges(connection, view, of=of, relation=relation, limit=limit)

    def counts(self) -> dict[str, Any]:
        """Count concepts, names, mentions, edges, merges and relations."""
        from hopgate.store.graph import overview

        with self._store.transaction() as connection:
            return overview.counts(connection)

    def stats(self, *, damping: float = 0.5) -> GraphStats:
        """Measure the graph: hubs, components, kinds, relations, and how much PageRank resembles degree here."""
        from hopgate.graph.inspect.stats import stats

        with self._store.snapshot() as connection:
            return stats(connection, damping=damping)

    def to_networkx(
        self, *, as_of: datetime | None = None, known_at: datetime | None = None, memories: bool = False
    ) -> nx.MultiDiGraph[str]:
        """Give the graph for networkx: concepts and edges, and with `memories` what talks about them."""
        from hopgate.exports.graph import network
        from hopgate.store.graph import overview

        with self._store.snapshot() as connection:
            edges = overview.edges(connection, as_of=as_of, known_at=known_at)
            mentions = overview.mentions(connection, known_at=known_at) if memories else ()
            return network(overview.concepts(connection), edges, mentions)

    def triples(self) -> list[dict[str, Any]]:
        """Give every fact and mention as a row of triples.jsonl, which `replay` makes the same graph of."""
        from hopgate.exports.graph import triple_rows
        from hopgate.store.graph import overview

        with self._store.snapshot() as connection:
            return triple_rows(overview.spellings(connection), overview.facts(connection))

    def statements(self) -> list[dict[str, Any]]:
        """Give every statement as a row of statements.jsonl, which `hopgate build --statements` reads."""
        from hopgate.exports import graph
        from hopgate.store.graph import graph_vectors

        with self._store.snapshot() as connection:
            return graph.statement_rows(graph_vectors.all_statements(connection))

    def pages(self) -> list[ConceptPage]:
        """Give every concept with its edges, for a page of its own."""
        from hopgate.exports.graph import concept_pages
        from hopgate.store.graph import overview
        from hopgate.store.graph.edge_rows import NAME_INSIDE

        with self._store.snapshot() as connection:
            edges = [row for row in overview.edges(connection, as_of=None, known_at=None) if row[2] != NAME_INSIDE]
            return concept_pages(overview.concepts(connection), edges)

    def mentions(self) -> dict[str, list[str]]:
        """Give the names of the concepts that each memory talks about, by its external id; no sensitive one has any."""
        from hopgate.store.graph import overview

        with self._store.transaction() as connection:
            names = {row[0]: row[1] for row in overview.concepts(connection)}
            found: dict[str, list[str]] = {}
            for memory, concept, *_ in overview.mentions(connection, known_at=None):
                found.setdefault(memory, []).append(names[concept])
        return found

    def merge(self, kept: str, merged: str, *, scope: str | None = None, dry_run: bool = False) -> Change:
        """Make two concepts one; `split` takes it back. With `dry_run` only say what would change.

        Parameters
        ----------
        scope : str, optional
            Whose concepts; by default those of each scope that has both.
        """
        from hopgate.graph.build import merge

        def work(connection: Connection[Any]) -> Change:
            change = merge.merge_named(connection, kept, merged, scope)
            if dry_run:
                connection.rollback()
            return change

        return self._store.run(work)

    def tie_break(self, opinion: Judge, *, limit: int = 1000) -> tuple[int, int]:
        """Ask a model about the names that were left undecided; give how many were merged and how many kept apart."""
        from hopgate.graph.build import merge
        from hopgate.store.graph import name_rows

        merged = apart = 0
        for pair in self.ambiguous(limit=limit):
            names = [pair.near, pair.name]
            try:
                with guarded(name_rows.guard(self._store, names)):
                    same = opinion.same(pair.name, None, (pair.near,))
            except WithdrawnError:
                continue
            if same is None:
                continue
            decided = self._store.run(partial(merge.decide, pair, same))
            merged, apart = merged + (decided is True), apart + (decided is False)
        return merged, apart

    def split(self, name: str, *, scope: str | None = None, dry_run: bool = False) -> list[Change]:
        """Undo every merge into a concept, the last one first. With `dry_run` only say what would change.

        Parameters
        ----------
        scope : str, optional
            Whose concept; by default that of each scope that has it.
        """
        from hopgate.graph.build import merge

        def work(connection: Connection[Any]) -> list[Change]:
            changes = merge.split_named(connection, name, scope)
            if dry_run:
                connection.rollback()
            return changes

        return self._store.run(work)

    def curate(
        self, *, since: datetime | None = None, apply: bool = False, decide: Decide | None = None
    ) -> list[Proposal]:
        """Propose what new memories mean for older ones (ADD, UPDATE, DELETE, NOOP); carry it out only with `apply`."""
        from hopgate.graph.build import curate
        from hopgate.store.clearance import memory_guard

        with self._store.transaction() as connection:
            guard = partial(memory_guard, self._store)
            compared: dict[str, str] = {}
            proposals = list(curate.proposals(connection, since=since, decide=decide, guard=guard, compared=compared))
            if apply:
                done = curate.apply(connection, proposals, compared)
                # What changed, moved or gave way on the way stays as it is, and is not reported as done.
                proposals = [one for one in proposals if one.gives_way is None or one.gives_way in done]
        return proposals

    def restore(self, external_ids: Sequence[str]) -> int:
        """Take back that memories were superseded, so that recall finds them again; give how many."""
        from hopgate.graph.build import curate

        return self._store.run(lambda connection: curate.restore(connection, external_ids))
