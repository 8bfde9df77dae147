"""What `kb.graph.clusters()` gives: clusters of concepts to look at and to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate.errors import HopgateError
from hopgate.graph.communities.name_groups import ClusterAgreement
from hopgate.graph.names.normal import normalise
from hopgate.store.graph.concept_rows import Concept

# How many clusters a printed table has.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ConceptCluster:
    """Concepts that belong together.

    Parameters
    ----------
    id : int
        Stays the same for as long as most of the cluster does.
    label : str
        Its most central concepts, and the words that tell its memories from the others'.
    members : tuple of Concept
        The most central first.
    memories : int
        How many memories mention at least one of them.
    parent, parts : int and tuple of int
        The cluster of the level above that this is a part of, and the clusters of the level below inside it.
    """

    id: int
    label: str
    words: tuple[str, ...]
    members: tuple[Concept, ...]
    memories: int
    parent: int | None = None
    parts: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.members)

    def to_dict(self, members: int | None = None) -> dict[str, Any]:
        """The cluster as JSON values, with so many of its members."""
        return {
            "id": self.id,
            "label": self.label,
            "words": list(self.words),
            "size": len(self.members),
            "memories": self.memories,
            "parent": self.parent,
            "parts": list(self.parts),
            "members": [
                {"id": one.id, "name": one.name, "kind": one.kind, "memories": one.memory_count}
                for one in self.members[:members]
            ],
        }


@dataclass(frozen=True)
class ConceptClusters:
    """Every concept in one cluster, found in the graph's structure; prints as a table.

    Parameters
    ----------
    clusters : tuple of ConceptCluster
        The largest first; a concept that nothing joins to another is a cluster of its own.
    level, levels : int
        Which level this is, 0 the coarsest, and how many there are.
    version : int
        The graph's version that they were found in.
    modularity : float
        How much more of the weight is inside clusters than chance would put there.
    stability : float
        The agreement (adjusted Rand index) with what other seeds find: 1 where all find the same.
    kept : float, optional
        The agreement with the clusters of the version before, on the concepts that both have.
    scopes : tuple of str
        The scopes that were looked at; empty for the whole store.
    """

    clusters: tuple[ConceptCluster, ...]
    resolution: float
    level: int
    levels: int
    version: int
    modularity: float
    stability: float
    kept: float | None = None
    scopes: tuple[str, ...] = ()
    _compare: Callable[[], ClusterAgreement] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ConceptCluster]:
        return iter(self.clusters)

    def __getitem__(self, cluster: int) -> ConceptCluster:
        try:
            return self._by_id[cluster]
        except KeyError:
            raise HopgateError(f"there is no cluster {cluster} here: hopgate concepts clusters shows them") from None

    def members(self, cluster: int) -> tuple[Concept, ...]:
        """The concepts of a cluster, the most central first; an unknown id is refused."""
        return self[cluster].members

    def of(self, concept: str | int) -> ConceptCluster:
        """The cluster of a concept, by any of its names or by its id; an unknown one is refused."""
        key = concept if isinstance(concept, int) else self._by_name.get(normalise(concept))
        found = None if key is None else self.assignment.get(key)
        if found is None:
            raise HopgateError(f"there is no concept {concept!r} here: hopgate concepts list shows them")
        return self[found]

    @cached_property
    def assignment(self) -> dict[int, int]:
        """The cluster's id by the concept's id, for every concept."""
        return {concept.id: cluster.id for cluster in self.clusters for concept in cluster.members}

    @cached_property
    def agreement(self) -> ClusterAgreement:
        """How they agree with groups of like names (k-means), computed when it is first asked for."""
        if self._compare is None:
            raise HopgateError("these clusters were read without a store to compare names in")
        return self._compare()

    def to_dict(self, members: int | None = 10) -> dict[str, Any]:
        """The clusters as JSON values, each with so many of its members."""
        return {
            "resolution": self.resolution,
            "level": self.level,
            "levels": self.levels,
            "version": self.version,
            "modularity": round(self.modularity, 4),
            "stability": round(self.stability, 4),
            "kept": None if self.kept is None else round(self.kept, 4),
            "scopes": list(self.scopes),
            "clusters": [cluster.to_dict(members) for cluster in self.clusters],
        }

    def __str__(self) -> str:
        shared = [cluster for cluster in self.clusters if len(cluster) > 1]
        alone = len(self.clusters) - len(shared)
        concepts = sum(map(len, self.clusters))
        before = "" if self.kept is None else f", {self.kept:.2f} with the version before"
        lines = [
            f"{len(shared):,} clusters of {concepts:,} concepts, level {self.level} of {self.levels}, "
            f"resolution {self.resolution:g}",
            f"modularity {self.modularity:.2f}, stability {self.stability:.2f}{before}",
            f"{'id':>5}  {'concepts':>8}  {'memories':>8}  label",
        ]
        lines += [f"{one.id:>5}  {len(one):>8,}  {one.memories:>8,}  {one.label}" for one in shared[:SHOWN]]
        if len(shared) > SHOWN:
            lines.append(f"{len(shared) - SHOWN:,} smaller ones")
        if alone:
            lines.append(f"{alone:,} concepts alone: nothing joins them to another")
        return "\n".join(lines)

    @cached_property
    def _by_id(self) -> dict[int, ConceptCluster]:
        return {cluster.id: cluster for cluster in self.clusters}

    @cached_property
    def _by_name(self) -> dict[str, int]:
        every = [concept for cluster in self.clusters for concept in cluster.members]
        aliases = {normalise(alias): concept.id for concept in every for alias in concept.aliases}
        return aliases | {normalise(concept.name): concept.id for concept in every}
