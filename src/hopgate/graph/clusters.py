"""Clusters of concepts that share memories and edges: found by Leiden, under ids that stay, named by their words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from hopgate.errors import HopgateError
from hopgate.graph.names import normalise
from hopgate.memory import cleared
from hopgate.store import memories, setting_rows
from hopgate.store.graph import arrays, cluster_rows, concept_rows, version
from hopgate.store.graph.cluster_rows import ClusterRow, PartitionRow
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.visible import View

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
# Smaller communities are not split: a person reads so many names at a glance.
SMALLEST_SPLIT = 12
# On 17,263 concepts: 119, 987 and 2,680 communities. A fourth level would have 2,892, and tell nothing new.
MOST_LEVELS = 3
# Of what two clusters have together they must share this much to be the same one. A cluster that is cut in two keeps
# its id in one half; one that grows to three times its size keeps it, too.
LEAST_OVERLAP = 0.3
# So many texts of a cluster, the first characters of each, are read for its words.
READ_TEXTS, READ_CHARACTERS = 30, 2000
# A label has so many central concepts and so many words; a printed table so many clusters.
CENTRAL, WORDS, SHOWN = 2, 3, 20


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
                {"id": concept.id, "name": concept.name, "kind": concept.kind, "memories": concept.memory_count}
                for concept in self.members[:members]
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
    scopes : tuple of str
        The scopes that were looked at; empty for the whole store.
    """

    clusters: tuple[ConceptCluster, ...]
    resolution: float
    level: int
    levels: int
    version: int
    modularity: float
    scopes: tuple[str, ...] = ()

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
        cluster = None if key is None else self.assignment.get(key)
        if cluster is None:
            raise HopgateError(f"there is no concept {concept!r} here: hopgate concepts list shows them")
        return self[cluster]

    @cached_property
    def assignment(self) -> dict[int, int]:
        """The cluster's id by the concept's id, for every concept."""
        return {concept.id: cluster.id for cluster in self.clusters for concept in cluster.members}

    def to_dict(self, members: int | None = 10) -> dict[str, Any]:
        """The clusters as JSON values, each with so many of its members."""
        return {
            "resolution": self.resolution,
            "level": self.level,
            "levels": self.levels,
            "version": self.version,
            "modularity": round(self.modularity, 4),
            "scopes": list(self.scopes),
            "clusters": [cluster.to_dict(members) for cluster in self.clusters],
        }

    def __str__(self) -> str:
        shared = [cluster for cluster in self.clusters if len(cluster) > 1]
        alone = len(self.clusters) - len(shared)
        lines = [
            f"{len(shared):,} clusters of {len(self.assignment):,} concepts, level {self.level} of {self.levels}, "
            f"resolution {self.resolution:g}, modularity {self.modularity:.2f}",
            f"{'id':>5}  {'concepts':>8}  {'memories':>8}  label",
        ]
        lines += [f"{row.id:>5}  {len(row):>8,}  {row.memories:>8,}  {row.label}" for row in shared[:SHOWN]]
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
        concepts = [concept for cluster in self.clusters for concept in cluster.members]
        aliases = {normalise(alias): concept.id for concept in concepts for alias in concept.aliases}
        return aliases | {normalise(concept.name): concept.id for concept in concepts}


def find_clusters(store: Store, *, resolution: float, level: int, scopes: Sequence[str] | None) -> ConceptClusters:
    """Give the clusters of a store, or of what some scopes may see; see `ConceptGraph.clusters`."""
    if not RESOLUTIONS[0] <= resolution <= RESOLUTIONS[1]:
        raise HopgateError(f"resolution is between {RESOLUTIONS[0]:g} and {RESOLUTIONS[1]:g}, not {resolution:g}")
    key = _StoredKey(tuple(sorted(set(scopes or ()))), resolution)
    with store.snapshot() as connection:
        now = version.current(connection)
        stored = cluster_rows.read(connection, *key)
        part = _read_part(connection, key.scopes)
    if not _is_current(stored, now, part):
        levels = find_levels(part.weights, resolution=resolution)
        stored = store.run(partial(_store_levels, part=part, levels=levels, key=key, now=now))
    partitions, rows = stored
    if not 0 <= level < len(partitions):
        raise HopgateError(f"there is no level {level}: these clusters have the levels 0 to {len(partitions) - 1}")
    with store.snapshot() as connection:
        clusters = _named(connection, part, rows, level)
    figures = partitions[level]
    return ConceptClusters(
        tuple(clusters), resolution, level, len(partitions), figures.version, figures.modularity, key.scopes
    )


# Communities of a matrix of weights: symmetric, without loops.


@dataclass(frozen=True, eq=False)
class Level:
    """One partition of all nodes: the number of each node's community, the largest 0, and its modularity."""

    labels: Ids
    modularity: float


def find_levels(weights: csr_array, *, resolution: float = 1.0) -> list[Level]:
    """Find communities and the communities inside them; level 0 is the coarsest, and each level splits the one before.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> [(level.labels.tolist(), level.modularity) for level in find_levels(pairs)]
    [([0, 0, 1, 1], 0.5)]
    """
    labels = leiden(weights, resolution=resolution)
    levels = [Level(labels, modularity(weights, labels, resolution))]
    while len(levels) < MOST_LEVELS:
        inner = _split(weights, labels, resolution)
        if inner.max(initial=-1) == labels.max(initial=-1):
            break
        labels = inner
        levels.append(Level(labels, modularity(weights, labels, resolution)))
    return levels


def leiden(weights: csr_array, *, resolution: float = 1.0, seed: int = 0) -> Ids:
    """Give every node the number of its community, from 0, the largest first; communities are connected.

    Leiden (Traag, Waltman and van Eck: From Louvain to Leiden, Scientific Reports 9, 2019) by `graspologic-native`; why
    by that is in docs/research/clusters.md. The same seed gives the same communities.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> leiden(pairs).tolist()
    [0, 0, 1, 1]
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
    labels = np.array([communities[node] for node in range(count)], np.int64)
    entries = weights.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    kept = coo_array((entries.data[inside], (entries.row[inside], entries.col[inside])), shape=weights.shape)
    return by_size(connected_components(kept.tocsr(), directed=False)[1])


def modularity(weights: csr_array, labels: Ids, resolution: float = 1.0) -> float:
    """How much more of the weight is inside communities than chance would put there; 0 where there is no weight.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
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


def _split(weights: csr_array, labels: Ids, resolution: float) -> Ids:
    """Look for communities inside each community that is large enough, by its own weights alone."""
    split = labels.copy()
    following = int(labels.max(initial=-1)) + 1
    groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    for community, members in enumerate(groups):
        if len(members) < SMALLEST_SPLIT:
            continue
        inner = leiden(csr_array(weights[members][:, members]), resolution=resolution)
        split[members] = np.where(inner == 0, community, following + inner - 1)
        following += int(inner.max())
    return by_size(split)


# What communities are found in: how much concepts belong together.


class Mentions(NamedTuple):
    """Which memory, by its id, mentions which concept, by its place."""

    memory: Ids
    concept: Ids


class Joins(NamedTuple):
    """Edges between concepts, by their places, with their weights."""

    source: Ids
    target: Ids
    weight: NDArray[np.floating[Any]]


def concept_weights(concepts: int, mentions: Mentions, joins: Joins) -> csr_array:
    """Give the symmetric matrix of weights between so many concepts, without loops.

    A memory that mentions n concepts adds 1 / (n - 1) to each pair of them, so that each of its concepts gets 1 of it
    however long it is (Newman, 2001); an edge adds its weight, whatever its direction.

    Examples
    --------
    >>> none = np.array([], int)
    >>> three = Mentions(np.array([7, 7, 7]), np.array([0, 1, 2]))
    >>> concept_weights(3, three, Joins(none, none, np.array([]))).toarray().tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    _, row = np.unique(mentions.memory, return_inverse=True)
    rows = int(row.max()) + 1 if len(row) else 0
    mentioned = coo_array((np.ones(len(row)), (row, mentions.concept)), shape=(rows, concepts)).tocsr()
    mentioned.data[:] = 1.0  # a title and a mention of the same concept are one
    named: NDArray[np.float64] = np.asarray(mentioned.sum(axis=1)).ravel()
    shared = mentioned.T @ diags_array(1.0 / np.maximum(named - 1, 1)) @ mentioned
    weight = np.asarray(joins.weight, np.float64)
    stated = coo_array((weight, (joins.source, joins.target)), shape=(concepts, concepts))
    whole = coo_array(shared + stated + stated.T)
    kept = (whole.row != whole.col) & (whole.data > 0)
    return csr_array(coo_array((whole.data[kept], (whole.row[kept], whole.col[kept])), shape=whole.shape))


@dataclass(frozen=True, eq=False)
class GraphPart:
    """Concepts in an order that depends on what may be seen alone, who mentions them, and how they belong together."""

    concepts: list[Concept]
    mentions: Mentions
    weights: csr_array


def _read_part(connection: Connection[Any], scopes: Sequence[str]) -> GraphPart:
    """Read what some scopes may see, or with none of them the whole store; what no memory mentions is left out."""
    shared = setting_rows.scopes(connection) == setting_rows.SHARED
    view = View(tuple(scopes) or None, shared=shared)
    concepts = [concept for concept in concept_rows.listed(connection, view, limit=None) if concept.memory_count]
    edges, links = arrays.edges(connection, view), arrays.mentions(connection, view)
    return _part(
        sorted(concepts, key=lambda concept: concept.id),
        Mentions(links.memory, links.concept),
        Joins(edges.source, edges.target, edges.weight),
    )


def _part(concepts: list[Concept], mentions: Mentions, joins: Joins) -> GraphPart:
    """Number the concepts by their places; in the order of memories, so that equal rows give equal clusters."""
    place = {concept.id: at for at, concept in enumerate(concepts)}

    def places(ids: Ids) -> Ids:
        return np.array([place.get(key, -1) for key in ids.tolist()], np.int64)

    concept, source, target = places(mentions.concept), places(joins.source), places(joins.target)
    order = np.lexsort((concept, mentions.memory))
    order = order[concept[order] >= 0]
    joined = (source >= 0) & (target >= 0)
    placed = Mentions(mentions.memory[order], concept[order])
    between = Joins(source[joined], target[joined], joins.weight[joined])
    return GraphPart(concepts, placed, concept_weights(len(concepts), placed, between))


# Levels as they are kept, under ids that stay.


class _StoredKey(NamedTuple):
    """What was looked at: these scopes, or with none the whole store, at this resolution."""

    scopes: tuple[str, ...]
    resolution: float


Stored = tuple[list[PartitionRow], list[ClusterRow]]


def _is_current(stored: Stored, now: int, part: GraphPart) -> bool:
    """Whether they are those of this version, by ids that its concepts have: other ones, once scopes are shared."""
    placed = {concept for row in stored[1] if row.level == 0 for concept in row.concept_ids}
    return bool(stored[0]) and stored[0][0].version == now and placed == {concept.id for concept in part.concepts}


def _store_levels(
    connection: Connection[Any], *, part: GraphPart, levels: Sequence[Level], key: _StoredKey, now: int
) -> Stored:
    """Give newly found clusters the ids of those before that they are, and keep them where the store may be written."""
    keeping = cluster_rows.fits(key.scopes) and cluster_rows.may_write(connection)
    if keeping:
        cluster_rows.lock(connection)
    before = cluster_rows.read(connection, *key)
    # Of scopes that nobody has nothing is kept: anybody can think of more of them.
    keeping = keeping and bool(part.concepts or before[0] or not key.scopes)
    if _is_current(before, now, part):  # another process found them meanwhile
        return before
    following = cluster_rows.last_id(connection, key.scopes) + 1
    rows: list[ClusterRow] = []
    above: dict[int, int] = {}
    for number, level in enumerate(levels):
        known = {row.id: frozenset(row.concept_ids) for row in before[1] if row.level == number}
        groups = _groups(part, level)
        home: dict[int, int] = {}
        for group, kept in zip(groups, keep_ids(known, [frozenset(group) for group in groups]), strict=True):
            cluster = following if kept is None else kept
            following += kept is None
            rows.append(ClusterRow(cluster, number, above.get(group[0]), tuple(group)))
            home |= dict.fromkeys(group, cluster)
        above = home
    partitions = [PartitionRow(number, now, level.modularity) for number, level in enumerate(levels)]
    if keeping:
        cluster_rows.replace(connection, *key, partitions, rows)
    return partitions, sorted(rows, key=lambda row: (row.level, -len(row.concept_ids), row.id))


def _groups(part: GraphPart, level: Level) -> list[list[int]]:
    """The concepts of each community by their ids, those first that share most weight with the others of it."""
    entries = part.weights.tocoo()
    inside = level.labels[entries.row] == level.labels[entries.col]
    central = np.bincount(entries.row[inside], entries.data[inside], minlength=len(part.concepts))
    groups: list[list[int]] = [[] for _ in range(int(level.labels.max(initial=-1)) + 1)]
    for node in np.lexsort((np.arange(len(central)), -central)).tolist():
        groups[level.labels[node]].append(part.concepts[node].id)
    return groups


def keep_ids(before: Mapping[int, AbstractSet[Key]], now: Sequence[AbstractSet[Key]]) -> list[int | None]:
    """Give each cluster of now the id of the one before that it shares most with, by Jaccard; none to a new one.

    The largest overlaps choose first; no id goes to two.

    Examples
    --------
    >>> keep_ids({4: {"a", "b"}, 7: {"c", "d", "e"}}, [{"c", "d"}, {"a", "b", "x"}, {"y"}])
    [7, 4, None]
    """
    home = {node: key for key, nodes in before.items() for node in nodes}
    pairs = []
    for place, nodes in enumerate(now):
        shared = Counter(home[node] for node in nodes if node in home)
        for key, count in shared.items():
            pairs.append((count / (len(nodes) + len(before[key]) - count), key, place))
    ids: list[int | None] = [None] * len(now)
    taken: set[int] = set()
    for overlap, key, place in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if overlap >= LEAST_OVERLAP and key not in taken and ids[place] is None:
            ids[place] = key
            taken.add(key)
    return ids


# Labels: the most central names, and words that are frequent in a cluster's memories and rare in others'.


def _named(
    connection: Connection[Any], part: GraphPart, rows: Sequence[ClusterRow], level: int
) -> list[ConceptCluster]:
    """The clusters of a level with their members and labels."""
    known = {concept.id: concept for concept in part.concepts}
    own = [row for row in rows if row.level == level]
    number = {concept: at for at, row in enumerate(own) for concept in row.concept_ids}
    labels = np.array([number.get(concept.id, -1) for concept in part.concepts], np.int64)
    mentioned = labels[part.mentions.concept] if len(part.mentions.concept) else labels[:0]
    pairs, counts = np.unique(np.stack([mentioned, part.mentions.memory]), axis=1, return_counts=True)
    memory_counts = np.bincount(pairs[0][pairs[0] >= 0], minlength=len(own))
    texts = _texts(connection, pairs, counts, {at for at, row in enumerate(own) if len(row.concept_ids) > 1})
    parts: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row.level == level + 1 and row.parent is not None:
            parts[row.parent].append(row.id)
    members = [tuple(known[concept] for concept in row.concept_ids if concept in known) for row in own]
    names = [[name for concept in group for name in (concept.name, *concept.aliases)] for group in members]
    words = label_words({at: [*names[at], *texts[at]] for at in texts}, most=4 * WORDS)
    clusters = []
    for at, row in enumerate(own):
        if members[at]:
            label, shown = _label(members[at], words.get(at, ()))
            inside = tuple(parts.get(row.id, ()))
            clusters.append(
                ConceptCluster(row.id, label, shown, members[at], int(memory_counts[at]), row.parent, inside)
            )
    return clusters


def _texts(connection: Connection[Any], pairs: Ids, counts: Ids, shown: set[int]) -> dict[int, list[str]]:
    """For each cluster, texts of the memories that mention most of it; sensitive ones are in no cluster, nor here."""
    wanted: dict[int, list[int]] = {at: [] for at in sorted(shown)}
    for place in np.lexsort((pairs[1], -counts, pairs[0])).tolist():
        own = wanted.get(int(pairs[0, place]))
        if own is not None and len(own) < READ_TEXTS:
            own.append(int(pairs[1, place]))
    ids = sorted({memory for own in wanted.values() for memory in own})
    text = dict(cleared(memories.fetch_by_id(connection, ids).items()))
    return {at: [text[memory][:READ_CHARACTERS] for memory in own if memory in text] for at, own in wanted.items()}


def _label(members: Sequence[Concept], words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The most central names, and words that these do not hold already."""
    central = [member.name for member in members[:CENTRAL]]
    central_words = {word for name in central for word in _words(name)}
    shown = tuple(word for word in words if word not in central_words)[:WORDS]
    return " · ".join(filter(None, (", ".join(central), ", ".join(shown)))), shown


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
    from hopgate.extract.rules.language_tables import LANGUAGES

    return frozenset(
        word
        for language in LANGUAGES.values()
        for word in (*language.function, *language.of_dates, *language.days, *language.openers)
    )
