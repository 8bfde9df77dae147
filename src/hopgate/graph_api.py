"""`kb.graph`: everything to ask of the concept graph and to change in it, in values and never in rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from hopgate.errors import HopgateError, WithdrawnError
from hopgate.exports import graph as exports
from hopgate.graph import inspect
from hopgate.graph.build import merge
from hopgate.graph.build.merge import Change
from hopgate.guard import guarded
from hopgate.memory import Cleared
from hopgate.recall.filters import Filters, Scopes
from hopgate.store import journal, memories, superseded
from hopgate.store.graph import concept_rows, edge_rows, fact_rows, name_rows
from hopgate.store.graph.visible import View, view_of
from hopgate.store.rows import Connection
from hopgate.times import When, utc

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.extract.model.judge import Judge
    from hopgate.graph.build.curate import Proposal
    from hopgate.graph.clusters import ConceptClusters
    from hopgate.graph.stats import GraphStats
    from hopgate.recall.legs import RecallPipeline
    from hopgate.store.fill import Embedding
    from hopgate.store.graph.concept_rows import Ambiguous, Concept
    from hopgate.store.graph.edge_rows import Edge, TimeSpan
    from hopgate.store.store import Store
    from hopgate.store.superseded import SupersededMemory

Result = TypeVar("Result")
# The columns of an edge's beginning and end on each axis.
AXES = {"valid": ("valid_from", "valid_to"), "known": ("recorded_at", "retired_at")}


class Part(TypedDict, total=False):
    """Which part of a graph is looked at."""

    scope: Scopes  # one or several: only what their memories say, as they call it
    as_of: When | None  # when it was true
    known_at: When | None  # when it was known


class ConceptGraph:
    """The graph of a knowledge base: concepts, edges, figures, pictures, its two times; merges and curation.

    Made by `KnowledgeBase.graph`. A concept may be given by any of its names; an unknown name is refused. What is
    looked at may be a part, see `Part`: a scope, a time. What is changed here stands in `kb.upkeep.log()`, and
    `kb.upkeep.undo` takes it back.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London."))
    ...     _ = kb.build()
    ...     london = kb.graph.concept("London").concept.id
    ...     [(edge.source, edge.relation, edge.target) for edge in kb.graph.edges("London")]
    ...     [concept.name for concept in kb.graph.neighbourhood(london).concepts]
    [('Ada Lovelace', 'lives in', 'London')]
    ['London', 'Ada Lovelace']
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, embedding: Embedding, pipeline: RecallPipeline) -> None:
        self._store = store
        self._embedding = embedding
        self._pipeline = pipeline

    @contextmanager
    def _looking(self, **part: Unpack[Part]) -> Iterator[tuple[Connection, View]]:
        """Look at the graph in one state of the database."""
        with self._store.snapshot() as connection:
            scopes = Filters(part.get("scope")).scopes
            yield connection, view_of(connection, scopes, part.get("as_of"), part.get("known_at"))

    def concepts(
        self,
        *,
        kind: str | None = None,
        search: str | None = None,
        limit: int | None = 50,
        offset: int = 0,
        **part: Unpack[Part],
    ) -> list[Concept]:
        """Give the concepts that most memories talk about, those first.

        Parameters
        ----------
        kind : str, optional
            Only concepts of this kind.
        search : str, optional
            Only concepts with a name that holds this text, in any case.
        offset : int
            Leave out so many of the first.
        **part
            With a time only concepts with an edge that was true then; memories made after `known_at` do not count.
        """
        with self._looking(**part) as (connection, view):
            return concept_rows.listed(connection, view, kind=kind, search=search, limit=limit, offset=offset)

    def concept(self, name: str | int, *, limit: int = 20, **part: Unpack[Part]) -> inspect.ConceptDetail:
        """Give one concept, by a name or its id: its names, the merges into it, at most `limit` memories and edges."""
        with self._looking(**part) as (connection, view):
            concept = concept_rows.get(connection, inspect.named(connection, view, name)[0], view)
            return inspect.ConceptDetail(
                concept,
                tuple(journal.merges_into(connection, concept.id)),
                tuple(concept_rows.memories_about(connection, concept.id, view, limit=limit)),
                tuple(edge_rows.visible(connection, view, concept_ids=[concept.id], limit=limit)),
            )

    def memory(self, external_id: str, *, limit: int = 10) -> inspect.MemoryDetail:
        """Give one memory: what was extracted from it, its edges, what is related by them, and what it superseded."""
        with self._store.transaction() as connection:
            ((key, memory),) = memories.require(connection, [external_id]).items()
            return inspect.MemoryDetail(
                memory,
                tuple(fact_rows.mentions(connection, key)),
                tuple(fact_rows.of_memory(connection, key)),
                tuple(edge_rows.visible(connection, View(), memory_ids=[key], limit=limit)),
                tuple((other, tuple(names)) for other, names in concept_rows.related(connection, key, limit=limit)),
                *superseded.of_memory(connection, key),
            )

    def edges(
        self,
        of: str | int | None = None,
        *,
        relation: str | None = None,
        limit: int | None = None,
        **part: Unpack[Part],
    ) -> list[Edge]:
        """Give the edges, all or one concept's: those true as of a time, as known at a time."""
        with self._looking(**part) as (connection, view):
            ids = None if of is None else inspect.named(connection, view, of)
            return edge_rows.visible(connection, view, concept_ids=ids, relation=relation, limit=limit)

    def clusters(self, *, resolution: float = 1.0, scope: Scopes = None) -> ConceptClusters:
        """Give the clusters that the graph's structure makes of its concepts (Leiden): prints as a table.

        Every concept is in one of them. They are found anew when the graph has changed, and keep their ids for as long
        as most of their concepts stay; `recall(cluster=ID)` finds what is linked to one alone. Nothing of another scope
        moves or names those of a scope.

        Parameters
        ----------
        resolution : float
            Above 1 there are more and smaller clusters, below 1 fewer and larger ones.
        """
        from hopgate.graph.clusters import find_clusters

        return find_clusters(self._store, resolution=resolution, scopes=Filters(scope).scopes)

    # Figures and pictures.

    def counts(self) -> dict[str, Any]:
        """Count concepts, names, mentions, edges, merges and relations."""
        return self._store.run(concept_rows.counts)

    def stats(self) -> GraphStats:
        """Measure the graph: hubs, components, kinds, relations, and how much PageRank resembles degree here."""
        from hopgate.graph.stats import stats

        with self._looking() as (connection, _):
            return stats(connection)

    def neighbourhood(
        self,
        concept_id: int | None = None,
        *,
        among: Sequence[int] | None = None,
        depth: int = 1,
        limit: int = 100,
        **part: Unpack[Part],
    ) -> inspect.Neighbourhood:
        """Give a part of the graph to draw: around a concept, among some, or the largest of all.

        Parameters
        ----------
        concept_id : int, optional
            Begin here and go `depth` edges far, the heaviest first.
        among : sequence of int, optional
            These concepts alone, the first `limit` of them.
        """
        with self._looking(**part) as (connection, view):
            return inspect.neighbourhood(connection, view, concept_id, among, depth=depth, limit=limit)

    def concept_vectors(self, concepts: Sequence[Concept]) -> NDArray[np.float32]:
        """Embed concepts' names with the store's embedder: one unit vector each, to draw or to cluster."""
        # Names were read from cleared texts, and go when their memories turn sensitive.
        names = [concept.name for concept in concepts]
        with guarded(name_rows.guard(self._store, partial(name_rows.spelt, names))):
            return self._embedding.embedder().documents([Cleared(name) for name in names])

    # The two times.

    def span(self, *, scope: Scopes = None) -> TimeSpan:
        """How far valid time and known time reach."""
        with self._looking(scope=scope) as (connection, view):
            return edge_rows.span(connection, view)

    def history(self, name: str, *, scope: Scopes = None, limit: int = 500) -> list[Edge]:
        """Give every version of a concept's edges; those with `retired_at` are believed no more."""
        with self._looking(scope=scope) as (connection, view):
            return edge_rows.versions(connection, view, inspect.named(connection, view, name), limit=limit)

    def changes(
        self, since: When, until: When, *, axis: str = "valid", scope: Scopes = None, limit: int = 200
    ) -> inspect.EdgeChanges:
        """Give what began and what ended after `since` and up to `until`.

        Parameters
        ----------
        axis : str
            "valid": when it was true; "known": when it was known.
        """
        if axis not in AXES:
            raise HopgateError(f"there is no time {axis!r}: say valid (when it was true) or known (when it was known)")
        first, last = utc(since), utc(until)
        if first > last:
            raise HopgateError("the first date is after the second one: exchange them")
        with self._looking(scope=scope) as (connection, view):
            began, ended = (edge_rows.begun(connection, view, at, first, last, limit=limit) for at in AXES[axis])
            return inspect.EdgeChanges(tuple(began), tuple(ended))

    def conflicts(self, name: str | None = None, *, scope: Scopes = None, limit: int = 100) -> list[inspect.Conflict]:
        """Give pairs of edges that cannot both hold, and whether the newer one ended the older."""
        with self._looking(scope=scope) as (connection, view):
            concepts = None if name is None else inspect.named(connection, view, name)
            return [inspect.Conflict(*pair) for pair in edge_rows.conflicts(connection, view, concepts, limit=limit)]

    def superseded(self, *, scope: Scopes = None, limit: int = 100) -> list[SupersededMemory]:
        """Give the memories that gave way to others, the last one first."""
        scopes = Filters(scope).scopes
        return self._store.run(lambda connection: superseded.listed(connection, scopes, limit=limit))

    # The whole graph, for other programs.

    def node_link(
        self, *, as_of: When | None = None, known_at: When | None = None, memories: bool = False
    ) -> dict[str, Any]:
        """Give the graph as node-link data: concepts and edges, and with `memories` what talks about them."""
        with self._looking(as_of=as_of, known_at=known_at) as (connection, view):
            links = concept_rows.all_links(connection, view) if memories else []
            return exports.node_link(
                concept_rows.listed(connection, limit=None), edge_rows.visible(connection, view), links
            )

    def to_networkx(
        self, *, as_of: When | None = None, known_at: When | None = None, memories: bool = False
    ) -> nx.MultiDiGraph[str]:
        """Give the graph for networkx, which the extra networkx installs."""
        try:
            import networkx as nx
        except ImportError:
            raise HopgateError("networkx is not installed: run pip install 'hopgate[networkx]'") from None

        data = self.node_link(as_of=as_of, known_at=known_at, memories=memories)
        return nx.node_link_graph(data, edges="links")  # type: ignore[return-value]

    def triples(self) -> list[dict[str, Any]]:
        """Give every fact and mention as a row of triples.jsonl, which `replay` makes the same graph of."""
        return self._store.run(lambda connection: fact_rows.as_rows(connection, "triple"))

    def statements(self) -> list[dict[str, Any]]:
        """Give every statement as a row of statements.jsonl, which `hopgate build --statements` reads."""
        return self._store.run(lambda connection: fact_rows.as_rows(connection, "statement"))

    def mentions(self) -> dict[str, list[str]]:
        """Give the names of the concepts that each memory talks about, by its external id; no sensitive one has any."""
        names: dict[str, list[str]] = {}
        for link in self._store.run(concept_rows.all_links):
            names.setdefault(link.memory, []).append(link.concept)
        return names

    # What people change.

    def merge(self, kept: str, merged: str, *, scope: str | None = None, dry_run: bool = False) -> Change:
        """Make two concepts one, in this scope or in each that has both. With `dry_run` only say what would change."""
        return self._changed(lambda connection: merge.merge_named(connection, kept, merged, scope), dry_run)

    def split(self, name: str, *, scope: str | None = None, dry_run: bool = False) -> list[Change]:
        """Undo every merge into a concept, the last one first, in this scope or in each that has it."""
        return self._changed(lambda connection: merge.split_named(connection, name, scope), dry_run)

    def _changed(self, change: Callable[[Connection], Result], dry_run: bool) -> Result:
        def work(connection: Connection) -> Result:
            made = change(connection)
            if dry_run:
                connection.rollback()
            return made

        return self._store.run(work)

    def ambiguous(self, *, limit: int = 50) -> list[Ambiguous]:
        """Give the names that were left undecided beside another one, the most alike first."""
        return self._store.run(lambda connection: concept_rows.ambiguous(connection, limit=limit))

    def keep_apart(self, name: str) -> None:
        """Decide that a name is not the one it resembles: it is proposed no more."""
        self._store.run(lambda connection: merge.keep_apart(connection, name))

    def tie_break(self, opinion: Judge, *, limit: int = 1000) -> tuple[int, int]:
        """Ask a model about the names that were left undecided; give how many were merged and how many kept apart."""
        merged = apart = 0
        for pair in self._store.run(lambda connection: concept_rows.ambiguous(connection, limit=limit)):
            try:
                with guarded(name_rows.guard(self._store, partial(name_rows.spelt, [pair.near, pair.name]))):
                    same = opinion.same(pair.name, None, (pair.near,))
            except WithdrawnError:
                continue
            if same is None:
                continue
            decided = self._store.run(partial(merge.decide, pair, same))
            merged, apart = merged + (decided is True), apart + (decided is False)
        return merged, apart

    def curate(self, *, since: When | None = None, apply: bool = False) -> list[Proposal]:
        """Propose what new memories mean for older ones (ADD, UPDATE, DELETE, NOOP); carry it out only with `apply`."""
        from hopgate.graph.build import curate

        with self._store.transaction() as connection:
            compared: dict[str, str] = {}
            proposals = list(curate.proposals(connection, since=since, compared=compared))
            if apply:
                done = curate.apply(connection, proposals, compared)
                # What changed, moved or gave way on the way stays as it is, and is not reported as done.
                proposals = [row for row in proposals if row.gives_way is None or row.gives_way in done]
        return proposals

    def supersede(self, chosen: Sequence[Proposal]) -> None:
        """Carry out these proposals, all or none: each memory that gives way is left out of recall, none is deleted."""
        from hopgate.graph.build.curate import apply_all

        self._store.run(lambda connection: apply_all(connection, chosen))
