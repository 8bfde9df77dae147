"""Find clusters, or read those that were found at this version of the graph; name them, and keep their ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.communities.concept_clusters import ConceptCluster, ConceptClusters
from hopgate.graph.communities.levels import Level, agreement_of, find_levels
from hopgate.graph.communities.name_groups import ClusterAgreement, compare
from hopgate.graph.communities.part_read import GraphPart, read_part
from hopgate.graph.communities.stable_ids import matched
from hopgate.graph.communities.telling_words import telling_words, words
from hopgate.memory import cleared
from hopgate.store import memories
from hopgate.store.graph import cluster_rows, version
from hopgate.store.graph.arrays import snapshot
from hopgate.store.graph.cluster_rows import ClusterRow, PartitionRow
from hopgate.store.graph.concept_rows import Concept

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Found = tuple[list[PartitionRow], list[ClusterRow]]

# So many texts of a cluster, the first characters of each, tell its words from the others'.
READ_TEXTS, READ_CHARACTERS = 30, 2000
# Further concepts are mentioned by so few memories that their names tell more than the graph.
COMPARED = 1000
CENTRAL, TELLING = 2, 3
RESOLUTIONS = (0.01, 100.0)


def find_clusters(
    store: Store, *, resolution: float, level: int, scopes: Sequence[str] | None, embed: Embed
) -> ConceptClusters:
    """Give the clusters of a store, or of what some scopes may see; see `ConceptGraph.clusters`."""
    if not RESOLUTIONS[0] <= resolution <= RESOLUTIONS[1]:
        raise HopgateError(f"resolution is between {RESOLUTIONS[0]:g} and {RESOLUTIONS[1]:g}, not {resolution:g}")
    key = tuple(sorted(set(scopes or ())))
    with snapshot(store) as connection:
        now = version.current(connection)
        found = cluster_rows.read(connection, key, resolution)
        part = read_part(connection, key)
    if not _fresh(found, now, part):
        levels = find_levels(part.weights, resolution=resolution)
        found = store.run(partial(_keep, part=part, levels=levels, scopes=key, resolution=resolution, now=now))
    if not 0 <= level < len(found[0]):
        raise HopgateError(f"there is no level {level}: these clusters have the levels 0 to {len(found[0]) - 1}")
    with snapshot(store) as connection:
        clusters = _named(connection, part, found[1], level)
    figures = found[0][level]
    return ConceptClusters(
        tuple(clusters),
        resolution,
        level,
        len(found[0]),
        figures.version,
        figures.modularity,
        figures.stability,
        figures.kept,
        key,
        partial(_compared, clusters, embed),
    )


def _fresh(found: Found, now: int, part: GraphPart) -> bool:
    """Whether they are those of this version, by ids that its concepts have: other ones, once scopes are shared."""
    placed = {concept for row in found[1] if row.level == 0 for concept in row.concept_ids}
    return bool(found[0]) and found[0][0].version == now and placed == {concept.id for concept in part.concepts}


def _keep(
    connection: Connection[Any],
    *,
    part: GraphPart,
    levels: Sequence[Level],
    scopes: Sequence[str],
    resolution: float,
    now: int,
) -> Found:
    """Give newly found clusters the ids of those before that they are, and keep them where the store may be written."""
    keeping = cluster_rows.fits(scopes) and cluster_rows.may_write(connection)
    if keeping:
        cluster_rows.lock(connection)
    before = cluster_rows.read(connection, scopes, resolution)
    # Of scopes that nobody has nothing is kept: anybody can think of more of them.
    keeping = keeping and bool(part.concepts or before[0] or not scopes)
    if _fresh(before, now, part):  # another process found them meanwhile
        return before
    following = cluster_rows.last_id(connection, scopes) + 1
    partitions: list[PartitionRow] = []
    rows: list[ClusterRow] = []
    above: dict[int, int] = {}
    for number, level in enumerate(levels):
        known = {row.id: frozenset(row.concept_ids) for row in before[1] if row.level == number}
        groups = _groups(part, level)
        ids = matched(known, [frozenset(group) for group in groups])
        home: dict[int, int] = {}
        for group, old in zip(groups, ids, strict=True):
            given = old
            if given is None:
                given, following = following, following + 1
            rows.append(ClusterRow(given, number, above.get(group[0]), tuple(group)))
            home |= dict.fromkeys(group, given)
        partitions.append(PartitionRow(number, now, level.modularity, level.stability, _alike(known, home)))
        above = home
    if keeping:
        cluster_rows.replace(connection, scopes, resolution, partitions, rows)
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


def _alike(before: dict[int, frozenset[int]], home: dict[int, int]) -> float | None:
    """The agreement with the partition before, on the concepts that both have."""
    known = {concept: cluster for cluster, concepts in before.items() for concept in concepts}
    both = sorted(known.keys() & home.keys())
    if not both:
        return None
    return agreement_of(np.array([known[one] for one in both]), np.array([home[one] for one in both]))


def _named(
    connection: Connection[Any], part: GraphPart, rows: Sequence[ClusterRow], level: int
) -> list[ConceptCluster]:
    """The clusters of a level with their members and labels."""
    known = {concept.id: concept for concept in part.concepts}
    own = [row for row in rows if row.level == level]
    number = {concept: at for at, row in enumerate(own) for concept in row.concept_ids}
    labels = np.array([number.get(concept.id, -1) for concept in part.concepts], np.int64)
    mentioned = labels[part.concept] if len(part.concept) else labels[:0]
    pairs, counts = np.unique(np.stack([mentioned, part.memory]), axis=1, return_counts=True)
    memory_counts = np.bincount(pairs[0][pairs[0] >= 0], minlength=len(own))
    texts = _texts(connection, pairs, counts, {at for at, row in enumerate(own) if len(row.concept_ids) > 1})
    parts: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row.level == level + 1 and row.parent is not None:
            parts[row.parent].append(row.id)
    names = {
        at: [alias for one in row.concept_ids if one in known for alias in (known[one].name, *known[one].aliases)]
        for at, row in enumerate(own)
    }
    telling = telling_words({at: [*names[at], *texts[at]] for at in texts}, most=4 * TELLING)
    clusters = []
    for at, row in enumerate(own):
        members = tuple(known[one] for one in row.concept_ids if one in known)
        if members:
            label, told = _label(members, telling.get(at, ()))
            whole = tuple(parts.get(row.id, ()))
            clusters.append(ConceptCluster(row.id, label, told, members, int(memory_counts[at]), row.parent, whole))
    return clusters


def _texts(
    connection: Connection[Any], pairs: NDArray[np.int64], counts: NDArray[np.int64], shown: set[int]
) -> dict[int, list[str]]:
    """For each cluster, texts of the memories that mention most of it; sensitive ones are in no cluster, nor here."""
    wanted: dict[int, list[int]] = {at: [] for at in sorted(shown)}
    for place in np.lexsort((pairs[1], -counts, pairs[0])).tolist():
        own = wanted.get(int(pairs[0, place]))
        if own is not None and len(own) < READ_TEXTS:
            own.append(int(pairs[1, place]))
    read = memories.fetch_by_id(connection, sorted({one for own in wanted.values() for one in own}))
    text = dict(cleared(read.items()))
    return {at: [text[one][:READ_CHARACTERS] for one in own if one in text] for at, own in wanted.items()}


def _label(members: Sequence[Concept], telling: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The most central names, and telling words that these do not hold already."""
    central = [member.name for member in members[:CENTRAL]]
    said = {word for name in central for word in words(name)}
    told = tuple(word for word in telling if word not in said)[:TELLING]
    return " · ".join(filter(None, (", ".join(central), ", ".join(told)))), told


def _compared(clusters: Sequence[ConceptCluster], embed: Embed) -> ClusterAgreement:
    every = [(concept, cluster.id) for cluster in clusters for concept in cluster.members]
    # Stable: ids are numbers of the whole store, and would let others decide.
    every = sorted(every, key=lambda pair: -pair[0].memory_count)[:COMPARED]
    if not every:
        raise HopgateError("there are no concepts to compare: run hopgate build first")
    names = [concept.name for concept, _ in every]
    return compare(names, [cluster for _, cluster in every], embed(names))
