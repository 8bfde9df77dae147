"""Clusters of concepts that share memories and edges: found by Leiden, under ids that stay, named by their words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from hopgate.errors import HopgateError
from hopgate.graph.names import normalise
from hopgate.memory import cleared
from hopgate.store import memories
from hopgate.store.graph import arrays, concept_rows, version
from hopgate.store.graph.concept_rows import ClusterRow, Concept
from hopgate.store.graph.visible import view_of

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

Ids = NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)

RESOLUTIONS = (0.01, 100.0)
# Leiden begins again from what it found: four times are worth .003 of modularity on musique, ten .0005 more.
ITERATIONS = 4
# No more sweeps over a graph's nodes than these: rounding must not move two nodes back and forth for ever.
MOST_SWEEPS = 1000
# Of what two clusters have together they must share this much to be the same one. A cluster that is cut in two keeps
# its id in one half; one that grows to three times its size keeps it, too.
LEAST_OVERLAP = 0.3
# So many texts of a cluster, the first characters of each, are read for its words.
READ_TEXTS, READ_CHARACTERS = 30, 2000
# A label has so many central concepts and so many words; a printed table so many clusters.
CENTRAL, WORDS, SHOWN = 2, 3, 20


@dataclass(frozen=True, slots=True)
class ConceptCluster:
    """Concepts that belong together, the most central first, and how many memories mention at least one of them.

    The id stays the same for as long as most of the cluster does; the label is its most central concepts, and the words
    that tell its memories from the others'.
    """

    id: int
    label: str
    words: tuple[str, ...]
    members: tuple[Concept, ...]
    memories: int

    def __len__(self) -> int:
        return len(self.members)

    def to_dict(self, members: int | None = None) -> dict[str, Any]:
        """The cluster as JSON values, with so many of its members."""
        shown = [
            {"id": concept.id, "name": concept.name, "kind": concept.kind, "memories": concept.memory_count}
            for concept in self.members[:members]
        ]
        row = {"id": self.id, "label": self.label, "words": list(self.words), "size": len(self)}
        return row | {"memories": self.memories, "members": shown}


@dataclass(frozen=True)
class ConceptClusters:
    """Every concept in one cluster, found in the graph's structure, the largest first; prints as a table.

    A concept that nothing joins to another is a cluster of its own. `version` is the graph's, `modularity` how much
    more of the weight is inside clusters than chance would put there, and `scopes` is empty for the whole store.
    """

    clusters: tuple[ConceptCluster, ...]
    resolution: float
    version: int
    modularity: float
    scopes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ConceptCluster]:
        return iter(self.clusters)

    def __getitem__(self, cluster: int) -> ConceptCluster:
        for known in self.clusters:
            if known.id == cluster:
                return known
        raise HopgateError(f"there is no cluster {cluster} here: hopgate concepts clusters shows them")

    def members(self, cluster: int) -> tuple[Concept, ...]:
        """The concepts of a cluster, the most central first; an unknown id is refused."""
        return self[cluster].members

    def of(self, concept: str | int) -> ConceptCluster:
        """The cluster of a concept, by any of its names or by its id; an unknown one is refused."""
        key = concept if isinstance(concept, int) else self._ids.get(normalise(concept))
        cluster = None if key is None else self.assignment.get(key)
        if cluster is None:
            raise HopgateError(f"there is no concept {concept!r} here: hopgate concepts list shows them")
        return self[cluster]

    @cached_property
    def assignment(self) -> dict[int, int]:
        """The cluster's id by the concept's id, for every concept."""
        return {concept.id: cluster.id for cluster in self.clusters for concept in cluster.members}

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Concepts by their names; a canonical name stands above another concept's alias."""
        concepts = [concept for cluster in self.clusters for concept in cluster.members]
        aliases = {normalise(alias): concept.id for concept in concepts for alias in concept.aliases}
        return aliases | {normalise(concept.name): concept.id for concept in concepts}

    def to_dict(self, members: int | None = 10) -> dict[str, Any]:
        """The clusters as JSON values, each with so many of its members."""
        return {
            "resolution": self.resolution,
            "version": self.version,
            "modularity": round(self.modularity, 4),
            "scopes": list(self.scopes),
            "clusters": [cluster.to_dict(members) for cluster in self.clusters],
        }

    def __str__(self) -> str:
        shared = [cluster for cluster in self.clusters if len(cluster) > 1]
        lines = [
            f"{len(shared):,} clusters of {len(self.assignment):,} concepts, "
            f"resolution {self.resolution:g}, modularity {self.modularity:.2f}",
            f"{'id':>5}  {'concepts':>8}  {'memories':>8}  label",
        ]
        lines += [f"{row.id:>5}  {len(row):>8,}  {row.memories:>8,}  {row.label}" for row in shared[:SHOWN]]
        if len(shared) > SHOWN:
            lines.append(f"{len(shared) - SHOWN:,} smaller ones")
        if alone := len(self.clusters) - len(shared):
            lines.append(f"{alone:,} concepts alone: nothing joins them to another")
        return "\n".join(lines)


def find_clusters(store: Store, *, resolution: float, scopes: Sequence[str] | None) -> ConceptClusters:
    """Give the clusters of a store, or of what some scopes may see; see `ConceptGraph.clusters`."""
    if not RESOLUTIONS[0] <= resolution <= RESOLUTIONS[1]:
        raise HopgateError(f"resolution is between {RESOLUTIONS[0]:g} and {RESOLUTIONS[1]:g}, not {resolution:g}")
    of = tuple(sorted(set(scopes or ())))
    with store.snapshot() as connection:
        now = version.current(connection)
        rows = concept_rows.read_clusters(connection, of, resolution)
        graph = _read(connection, of)
    if not rows or rows[0].graph_version != now:
        labels = leiden(graph.weights, resolution=resolution)
        rows = store.run(lambda connection: _keep(connection, graph, labels, (of, resolution), now))
    with store.snapshot() as connection:
        clusters = _named(connection, graph, rows)
    return ConceptClusters(tuple(clusters), resolution, now, rows[0].modularity if rows else 0.0, of)


# Communities of a matrix of weights: symmetric, without loops.


def leiden(weights: csr_array, *, resolution: float = 1.0, seed: int = 0) -> Ids:
    """Give every node the number of its community, from 0, the largest first; communities are connected.

    Leiden (Traag, Waltman and van Eck: From Louvain to Leiden, Scientific Reports 9, 2019) by `graspologic-native`; why
    by that is in docs/measurements.md. The same seed gives the same communities.
    """
    from graspologic_native import leiden_csr

    count = weights.shape[0]
    if not weights.nnz:  # the library panics where there is nothing to share out
        return np.arange(count, dtype=np.int64)
    _, communities = leiden_csr(
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int32),
        weights.data.astype(np.float64),
        count,
        resolution=resolution,
        iterations=ITERATIONS,
        seed=seed,
        max_local_moving_iterations=MOST_SWEEPS,
    )
    entries, labels = weights.tocoo(), np.array([communities[node] for node in range(count)])
    inside = np.where(labels[entries.row] == labels[entries.col], entries.data, 0)
    kept = csr_array(coo_array((inside, (entries.row, entries.col)), shape=weights.shape))
    kept.eliminate_zeros()
    return by_size(connected_components(kept, directed=False)[1])


def modularity(weights: csr_array, labels: Ids, resolution: float = 1.0) -> float:
    """How much more of the weight is inside communities than chance would put there; 0 where there is no weight."""
    whole = float(weights.sum())
    if not whole:
        return 0.0
    entries = weights.tocoo()
    inside = float(entries.data[labels[entries.row] == labels[entries.col]].sum())
    strength = np.bincount(labels, np.asarray(weights.sum(axis=1)).ravel())
    return inside / whole - resolution * float((strength**2).sum()) / whole**2


def by_size(labels: NDArray[np.integer[Any]]) -> Ids:
    """Number groups from 0, the largest first; of equally large ones the one whose first member comes first."""
    _, first, own, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    place = np.empty(len(sizes), np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(place[own], np.int64)


# What communities are found in: how much concepts belong together.


@dataclass(frozen=True, eq=False)
class _Graph:
    """Concepts in the order of their ids, which memory mentions which of them by its place, and how they are joined."""

    concepts: list[Concept]
    memory: Ids
    mentioned: Ids
    weights: csr_array


def _read(connection: Connection[Any], scopes: Sequence[str]) -> _Graph:
    """Read what some scopes may see, or with none of them the whole store; what no memory mentions is left out."""
    view = view_of(connection, scopes or None)
    listed = [concept for concept in concept_rows.listed(connection, view, limit=None) if concept.memory_count]
    concepts = sorted(listed, key=lambda concept: concept.id)
    edges, mentions = arrays.edges(connection, view), arrays.mentions(connection, view)
    place = {concept.id: at for at, concept in enumerate(concepts)}

    def places(ids: Ids) -> Ids:
        return np.array([place.get(key, -1) for key in ids.tolist()], np.int64)

    concept, source, target = places(mentions.target), places(edges.source), places(edges.target)
    there, joined = concept >= 0, (source >= 0) & (target >= 0)
    memory, concept = mentions.source[there], concept[there]
    stated = coo_array((edges.weight[joined], (source[joined], target[joined])), shape=(len(concepts),) * 2)
    return _Graph(concepts, memory, concept, concept_weights(memory, concept, stated))


def concept_weights(memory: Ids, concept: Ids, stated: coo_array) -> csr_array:
    """Give the symmetric matrix of weights between concepts, without loops.

    A memory that mentions n concepts adds 1 / (n - 1) to each pair of them, so that each of its concepts gets 1 of it
    however long it is (Newman, 2001); an edge adds its weight, whatever its direction.

    Examples
    --------
    >>> concept_weights(np.array([7, 7, 7]), np.array([0, 1, 2]), coo_array((3, 3))).toarray().tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    known, row = np.unique(memory, return_inverse=True)
    mentioned = coo_array((np.ones(len(row)), (row, concept)), shape=(len(known), stated.shape[0])).tocsr()
    mentioned.data[:] = 1.0  # a title and a mention of the same concept are one
    named = np.diff(mentioned.indptr)
    shared = mentioned.T @ diags_array(1.0 / np.maximum(named - 1, 1)) @ mentioned
    whole = coo_array(shared + stated + stated.T)
    kept = (whole.row != whole.col) & (whole.data > 0)
    return csr_array(coo_array((whole.data[kept], (whole.row[kept], whole.col[kept])), shape=whole.shape))


# Clusters as they are kept, under ids that stay.


def _keep(
    connection: Connection[Any], graph: _Graph, labels: Ids, of: tuple[Sequence[str], float], now: int
) -> list[ClusterRow]:
    """Give newly found communities the ids of the clusters before that they are, and keep them where that is allowed.

    `of` is the scopes and the resolution.
    """
    may_write = concept_rows.lock_clusters(connection)
    before = concept_rows.read_clusters(connection, *of)
    if before and before[0].graph_version == now:  # another process found them meanwhile
        return before
    following = concept_rows.last_cluster_id(connection, of[0]) + 1
    groups, figure = _groups(graph, labels), modularity(graph.weights, labels, of[1])
    known = {row.id: frozenset(row.concept_ids) for row in before}
    rows: list[ClusterRow] = []
    for group, same in zip(groups, keep_ids(known, [frozenset(group) for group in groups]), strict=True):
        rows.append(ClusterRow(following if same is None else same, tuple(group), now, figure))
        following += same is None
    # Of scopes that nobody has nothing is kept: anybody can think of more of them.
    if may_write and (rows or before):
        concept_rows.replace_clusters(connection, *of, rows)
    return sorted(rows, key=lambda row: (-len(row.concept_ids), row.id))


def _groups(graph: _Graph, labels: Ids) -> list[list[int]]:
    """The concepts of each community by their ids, those first that share most weight with the others of it."""
    entries = graph.weights.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    central = np.bincount(entries.row[inside], entries.data[inside], minlength=len(graph.concepts))
    groups: list[list[int]] = [[] for _ in range(int(labels.max(initial=-1)) + 1)]
    for node in np.argsort(-central, kind="stable").tolist():
        groups[labels[node]].append(graph.concepts[node].id)
    return groups


def keep_ids(before: Mapping[int, AbstractSet[Key]], now: Sequence[AbstractSet[Key]]) -> list[int | None]:
    """Give each cluster of now the id of the one before that it shares most with, by Jaccard; none to a new one.

    The largest overlaps choose first; no id goes to two.
    """
    home = {node: key for key, nodes in before.items() for node in nodes}
    pairs = []
    for place, nodes in enumerate(now):
        shared = Counter(home[node] for node in nodes if node in home)
        pairs += [(-count / (len(nodes) + len(before[key]) - count), key, place) for key, count in shared.items()]
    place_of: dict[int, int] = {}
    key_of: dict[int, int] = {}
    for overlap, key, place in sorted(pairs):
        if -overlap >= LEAST_OVERLAP and key not in place_of and place not in key_of:
            place_of[key], key_of[place] = place, key
    return [key_of.get(place) for place in range(len(now))]


# Labels: the most central names, and words that are frequent in a cluster's memories and rare in others'.


def _named(connection: Connection[Any], graph: _Graph, rows: Sequence[ClusterRow]) -> list[ConceptCluster]:
    """The clusters with their members and labels."""
    known = {concept.id: concept for concept in graph.concepts}
    number = {concept: at for at, row in enumerate(rows) for concept in row.concept_ids}
    labels = np.array([number.get(concept.id, -1) for concept in graph.concepts], np.int64)
    # Which cluster, which memory, and how many of the cluster's concepts it mentions; the most first.
    pairs, counts = np.unique(np.stack([labels[graph.mentioned], graph.memory]), axis=1, return_counts=True)
    memories_of: dict[int, list[int]] = defaultdict(list)
    for at, memory in pairs[:, np.lexsort((pairs[1], -counts, pairs[0]))].T.tolist():
        memories_of[at].append(memory)
    texts = _texts(connection, {at: memories_of[at] for at, row in enumerate(rows) if len(row.concept_ids) > 1})
    members = [tuple(known[concept] for concept in row.concept_ids if concept in known) for row in rows]
    names = [[name for concept in group for name in (concept.name, *concept.aliases)] for group in members]
    words = label_words({at: [*names[at], *texts[at]] for at in texts}, most=4 * WORDS)
    clusters = []
    for at, row in enumerate(rows):
        if members[at]:
            central = [member.name for member in members[at][:CENTRAL]]
            in_names = {word for name in central for word in _words(name)}
            shown = tuple(word for word in words.get(at, ()) if word not in in_names)[:WORDS]
            label = " · ".join(filter(None, (", ".join(central), ", ".join(shown))))
            clusters.append(ConceptCluster(row.id, label, shown, members[at], len(memories_of[at])))
    return clusters


def _texts(connection: Connection[Any], memories_of: Mapping[int, Sequence[int]]) -> dict[int, list[str]]:
    """Of each cluster the texts of the first memories; sensitive ones are in no cluster, nor here."""
    wanted = {at: keys[:READ_TEXTS] for at, keys in memories_of.items()}
    ids = sorted({memory for keys in wanted.values() for memory in keys})
    text = dict(cleared(memories.fetch_by_id(connection, ids).items()))
    return {at: [text[memory][:READ_CHARACTERS] for memory in keys if memory in text] for at, keys in wanted.items()}


def label_words(texts: Mapping[Key, Iterable[str]], *, most: int = 5) -> dict[Key, tuple[str, ...]]:
    """Give each group the words that are more frequent in its texts than in the others' (class-based TF-IDF).

    A word counts once a text, and a group's by its share of them, times ``log(1 + mean / everywhere)`` (Grootendorst,
    2022). Small words of every language that hopgate reads are left out.

    Examples
    --------
    >>> label_words({1: ["the backup", "backup of a disk"], 2: ["the garden", "a disk in the garden"]}, most=1)
    {1: ('backup',), 2: ('garden',)}
    """
    counts = {group: Counter(word for text in own for word in set(_words(text))) for group, own in texts.items()}
    everywhere: Counter[str] = Counter()
    for own in counts.values():
        everywhere.update(own)
    mean = everywhere.total() / max(len(counts), 1)
    chosen = {}
    for group, own in counts.items():
        total = max(own.total(), 1)
        score = {word: count / total * math.log(1 + mean / everywhere[word]) for word, count in own.items()}
        chosen[group] = tuple(sorted(score, key=lambda word: (-score[word], word))[:most])
    return chosen


_WORD = re.compile(r"[^\W\d_][\w'’-]{1,28}\w")


def _words(text: str) -> list[str]:
    """Split a text into words in lower case, without the small ones."""
    return [word for word in _WORD.findall(text.lower()) if word not in _small_words()]


@cache
def _small_words() -> frozenset[str]:
    from hopgate.extract.rules.words import LANGUAGES

    return frozenset(
        word
        for language in LANGUAGES.values()
        for word in (*language.function, *language.of_dates, *language.days, *language.openers)
    )
