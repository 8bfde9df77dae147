"""Clusters of concepts that share memories and edges: found by Leiden, under ids that stay, named by their words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from hopgate.errors import HopgateError, UnknownError
from hopgate.graph.names import normalise
from hopgate.graph.walk.matrix import positions
from hopgate.memory import cleared
from hopgate.store import memories
from hopgate.store.graph import arrays, concept_rows, version
from hopgate.store.graph.concept_rows import ClusterRow, Concept
from hopgate.store.graph.visible import view_of
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.store import Store

Ids = NDArray[np.int64]

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
        row = {"id": self.id, "label": self.label, "words": list(self.words), "size": len(self)}
        return row | {
            "memories": self.memories,
            "members": [
                {"id": concept.id, "name": concept.name, "kind": concept.kind, "memories": concept.memory_count}
                for concept in self.members[:members]
            ],
        }


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
        raise UnknownError(f"there is no cluster {cluster} here: hopgate concepts clusters shows them")

    def of(self, concept: str | int) -> ConceptCluster:
        """The cluster of a concept, by any of its names or by its id; an unknown one is refused."""
        wanted = concept if isinstance(concept, int) else normalise(concept)
        every = [(cluster, known) for cluster in self.clusters for known in cluster.members]
        by_name = (cluster for cluster, known in every if wanted in (known.id, normalise(known.name)))
        by_alias = (cluster for cluster, known in every if any(wanted == normalise(alias) for alias in known.aliases))
        for cluster in chain(by_name, by_alias):
            return cluster
        raise HopgateError(f"there is no concept {concept!r} here: hopgate concepts list shows them")

    def to_dict(self, members: int | None = 10) -> dict[str, Any]:
        """The clusters as JSON values, each with so many of its members."""
        figures = {"resolution": self.resolution, "version": self.version, "modularity": round(self.modularity, 4)}
        return figures | {
            "scopes": list(self.scopes),
            "clusters": [cluster.to_dict(members) for cluster in self.clusters],
        }

    def __str__(self) -> str:
        shared = [cluster for cluster in self.clusters if len(cluster) > 1]
        lines = [
            f"{len(shared):,} clusters of {sum(map(len, self.clusters)):,} concepts, "
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
    scope_names = tuple(sorted(set(scopes or ())))
    with store.snapshot() as connection:
        now = version.current(connection)
        rows = concept_rows.read_clusters(connection, scope_names, resolution)
        graph = _read(connection, scope_names)
    if not rows or rows[0].graph_version != now:
        labels, modularity = leiden(graph.weights, resolution=resolution)
        new_rows = [ClusterRow(0, tuple(ids), now, modularity) for ids in _groups(graph, labels)]
        rows = store.run(lambda connection: _keep(connection, scope_names, resolution, new_rows))
    with store.snapshot() as connection:
        clusters = _named(connection, graph, rows)
    return ConceptClusters(tuple(clusters), resolution, now, rows[0].modularity if rows else 0.0, scope_names)


# What clusters are found in: how much concepts belong together.


@dataclass(frozen=True, eq=False)
class _Graph:
    """Concepts in the order of their ids, which memory mentions which of them, and how they are joined."""

    concepts: list[Concept]
    memory_ids: Ids
    mentioned: csr_array  # memories by concepts
    weights: csr_array  # concepts by concepts


def _read(connection: Connection, scopes: Sequence[str]) -> _Graph:
    """Read what some scopes may see, or with none of them the whole store; what no memory mentions is left out."""
    view = view_of(connection, scopes or None)
    listed = [concept for concept in concept_rows.listed(connection, view, limit=None) if concept.memory_count]
    concepts = sorted(listed, key=lambda concept: concept.id)
    ids = np.array([concept.id for concept in concepts], np.int64)
    edges, mentions = arrays.edges(connection, view), arrays.mentions(connection, view)
    concept, source, target = (positions(ids, ends) for ends in (mentions.target, edges.source, edges.target))
    shown, joined = concept >= 0, (source >= 0) & (target >= 0)
    memory_ids, memory = np.unique(mentions.source[shown], return_inverse=True)
    shape = (len(memory_ids), len(concepts))
    mentioned = coo_array((np.ones(len(memory)), (memory, concept[shown])), shape=shape).tocsr()
    mentioned.data[:] = 1.0  # a title and a mention of the same concept are one
    stated = coo_array((edges.weight[joined], (source[joined], target[joined])), shape=(len(concepts),) * 2)
    return _Graph(concepts, memory_ids, mentioned, concept_weights(mentioned, stated))


def concept_weights(mentioned: csr_array, stated: coo_array) -> csr_array:
    """Give the symmetric matrix of weights between concepts, without loops.

    A memory that mentions n concepts adds 1 / (n - 1) to each pair of them, so that each of its concepts gets 1 of it
    however long it is (Newman, 2001); an edge adds its weight, whatever its direction.
    """
    named = np.diff(mentioned.indptr)
    shared = mentioned.T @ diags_array(1.0 / np.maximum(named - 1, 1)) @ mentioned
    whole = coo_array(shared + stated + stated.T)
    kept = (whole.row != whole.col) & (whole.data > 0)
    return csr_array(coo_array((whole.data[kept], (whole.row[kept], whole.col[kept])), shape=whole.shape))


def leiden(weights: csr_array, *, resolution: float = 1.0) -> tuple[Ids, float]:
    """Give every node the number of its community, from 0, the largest first, and the modularity.

    Communities are connected, and the same at each call. Leiden (Traag, Waltman and van Eck: From Louvain to Leiden,
    Scientific Reports 9, 2019) by `graspologic-native`; why by that is in docs/measurements.md.
    """
    from graspologic_native import leiden_csr

    nodes = weights.shape[0]
    if not weights.nnz:  # the library panics where there is nothing to share out
        return np.arange(nodes, dtype=np.int64), 0.0
    modularity, communities = leiden_csr(
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int32),
        weights.data.astype(np.float64),
        nodes,
        resolution=resolution,
        iterations=ITERATIONS,
        seed=0,
        max_local_moving_iterations=MOST_SWEEPS,
    )
    entries, community = weights.tocoo(), np.array([communities[node] for node in range(nodes)])
    inside = np.where(community[entries.row] == community[entries.col], entries.data, 0)
    kept = csr_array(coo_array((inside, (entries.row, entries.col)), shape=weights.shape))
    kept.eliminate_zeros()
    labels = connected_components(kept, directed=False)[1]
    # The largest first; of equally large ones the one whose first member comes first.
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    return np.argsort(np.lexsort((first, -sizes)))[labels].astype(np.int64), modularity


# Clusters as they are kept, under ids that stay.


def _keep(
    connection: Connection, scopes: Sequence[str], resolution: float, new_rows: Sequence[ClusterRow]
) -> list[ClusterRow]:
    """Give newly found clusters the ids of those before that they are, and keep them where that is allowed."""
    may_write = concept_rows.lock_clusters(connection)
    before = concept_rows.read_clusters(connection, scopes, resolution)
    if before and new_rows and before[0].graph_version == new_rows[0].graph_version:  # another process was quicker
        return before
    new_ids = count(concept_rows.last_cluster_id(connection, scopes) + 1)
    kept_ids = keep_ids({row.id: {*row.concept_ids} for row in before}, [{*row.concept_ids} for row in new_rows])
    rows = [
        replace(row, id=next(new_ids) if kept_id is None else kept_id)
        for row, kept_id in zip(new_rows, kept_ids, strict=True)
    ]
    # Of scopes that nobody has nothing is kept: anybody can think of more of them.
    if may_write and (rows or before):
        concept_rows.replace_clusters(connection, scopes, resolution, rows)
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


def keep_ids(before: Mapping[int, AbstractSet[int]], now: Sequence[AbstractSet[int]]) -> list[int | None]:
    """Give each cluster of now the id of the one before that it shares most with, by Jaccard; none to a new one.

    The largest overlaps choose first; no id goes to two.
    """
    id_before = {concept: key for key, concepts in before.items() for concept in concepts}
    overlaps = []
    for place, concepts in enumerate(now):
        shared = Counter(id_before[concept] for concept in concepts if concept in id_before)
        overlaps += [(both / (len(concepts) + len(before[key]) - both), key, place) for key, both in shared.items()]
    kept_ids: list[int | None] = [None] * len(now)
    taken: set[int] = set()
    for overlap, key, place in sorted(overlaps, key=lambda row: (-row[0], *row[1:])):
        if overlap >= LEAST_OVERLAP and key not in taken and kept_ids[place] is None:
            kept_ids[place] = key
            taken.add(key)
    return kept_ids


# Labels: the most central names, and words that are frequent in a cluster's memories and rare in others'.


def _named(connection: Connection, graph: _Graph, rows: Sequence[ClusterRow]) -> list[ConceptCluster]:
    """The clusters with their members and labels."""
    place = {concept.id: at for at, concept in enumerate(graph.concepts)}
    nodes_of = {row.id: nodes for row in rows if (nodes := [place[key] for key in row.concept_ids if key in place])}
    members = {key: tuple(graph.concepts[node] for node in nodes) for key, nodes in nodes_of.items()}
    columns = graph.mentioned.tocsc()
    mentioning = np.split(columns.indices, columns.indptr[1:-1])
    memory_counts, texts = dict[int, int](), dict[int, list[str]]()
    for key, nodes in nodes_of.items():
        memories_of, often = np.unique(np.concatenate([mentioning[node] for node in nodes]), return_counts=True)
        memory_counts[key] = len(memories_of)
        if len(nodes) > 1:
            # Those that mention most of the cluster's concepts.
            read = memories_of[np.lexsort((memories_of, -often))[:READ_TEXTS]]
            names = [name for member in members[key] for name in (member.name, *member.aliases)]
            texts[key] = [*names, *_texts(connection, graph.memory_ids[read].tolist())]
    words = label_words(texts, most=4 * WORDS)
    clusters = []
    for key in nodes_of:
        central = [member.name for member in members[key][:CENTRAL]]
        in_names = {word for name in central for word in _words(name)}
        shown = tuple(word for word in words.get(key, ()) if word not in in_names)[:WORDS]
        label = " · ".join(filter(None, (", ".join(central), ", ".join(shown))))
        clusters.append(ConceptCluster(key, label, shown, members[key], memory_counts[key]))
    return clusters


def _texts(connection: Connection, memory_ids: Sequence[int]) -> list[str]:
    """The beginnings of memories' texts, in this order; sensitive ones are in no cluster, nor here."""
    text = dict(cleared(memories.fetch_by_id(connection, memory_ids).items()))
    return [text[key][:READ_CHARACTERS] for key in memory_ids if key in text]


def label_words(texts: Mapping[int, Iterable[str]], *, most: int = 5) -> dict[int, tuple[str, ...]]:
    """Give each group the words that are more frequent in its texts than in the others' (class-based TF-IDF).

    A word counts once a text, and a group's by its share of them, times ``log(1 + mean / everywhere)`` (Grootendorst,
    2022). Small words of every language that hopgate reads are left out.
    """
    counts = {key: Counter(word for text in group for word in set(_words(text))) for key, group in texts.items()}
    everywhere = Counter(word for of_group in counts.values() for word in of_group.elements())
    mean = everywhere.total() / max(len(counts), 1)
    chosen = {}
    for key, of_group in counts.items():
        # Each score is divided by the group's total, which changes no order.
        score = {word: often * math.log(1 + mean / everywhere[word]) for word, often in of_group.items()}
        chosen[key] = tuple(sorted(score, key=lambda word: (-score[word], word))[:most])
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
