"""A backfill: all names and all relations of a store clustered anew; what follows is derived once, after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hopgate.graph.build import manual
from hopgate.graph.build.resolve import MERGE
from hopgate.graph.canonicalise import FLOOR, Canonicaliser, Relations, Units, canonicalise_relations
from hopgate.store.graph import fact_rows, merge_rows, name_rows, relation_rows, version
from hopgate.store.graph.merge_rows import BulkMerge

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
# More relations than this are compared by their words alone: a text takes about 7 ms of a core with bge-small.
MAX_EMBEDDED = 4096


@dataclass(frozen=True, eq=False)
class Material:
    """All that clusters are made of, as it was in one version of the graph."""

    version: int
    names: Sequence[name_rows.NameRow]
    contexts: Mapping[int, Mapping[tuple[str, str], int]]
    relations: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which names are one concept and which relations one relation; `version` is the graph's that they were made of."""

    version: int
    names: Sequence[Sequence[name_rows.NameRow]]
    threshold: float
    relations: Mapping[str, Relations]


def material(connection: Connection[Any]) -> Material:
    """Read what clusters are made of."""
    return Material(
        version.current(connection),
        name_rows.all_names(connection),
        fact_rows.contexts(connection),
        relation_rows.raw_relations(connection),
    )


def clustered(read: Material, canonicaliser: Canonicaliser | None = None, embed: Embed | None = None) -> Clusters:
    """Cluster each scope's names and relations: the long part, for which nobody needs to wait."""
    canonicaliser = canonicaliser or Canonicaliser(threshold=MERGE)
    by_scope: dict[str, list[name_rows.NameRow]] = defaultdict(list)
    for row in read.names:
        by_scope[row.scope].append(row)
    clusters: dict[tuple[str, int], list[name_rows.NameRow]] = defaultdict(list)
    for scope, rows in by_scope.items():
        units = _units(rows, read.contexts)
        result = canonicaliser.fit_units(units, embed, max(canonicaliser.threshold, FLOOR))
        for row, label in zip(rows, result.labels_.tolist(), strict=True):
            clusters[scope, label].append(row)
    relations = {}
    for scope, counts in read.relations.items():
        repeated = [raw for raw, count in counts.items() for _ in range(count)]
        relations[scope] = canonicalise_relations(repeated, embed=embed if len(counts) <= MAX_EMBEDDED else None)
    return Clusters(read.version, list(clusters.values()), canonicaliser.threshold, relations)


def _units(rows: Sequence[name_rows.NameRow], contexts: Mapping[int, Mapping[tuple[str, str], int]]) -> Units:
    """A scope's names as the canonicaliser takes them: each is one unit, and its mentions are counted already."""
    return Units(
        names=tuple(row.normal for row in rows),
        kinds=tuple(row.kind for row in rows),
        counts=np.array([max(1, row.uses) for row in rows], dtype=np.float64),
        spellings=tuple(row.name for row in rows),
        contexts=tuple(contexts.get(row.id, {}) for row in rows),
        of_mention=np.arange(len(rows), dtype=np.int64),
    )


def canonicalise(connection: Connection[Any], clusters: Clusters) -> bool:
    """Merge the concepts of each cluster; every merge is a row. Say whether: a graph that changed since is left alone.

    What people merged and split stays so. Memories' concepts and edges are not touched: `follow_all` comes after.
    """
    name_rows.lock(connection)
    if version.current(connection) != clusters.version:
        return False
    decided = manual.take_apart(connection)
    several = [members for members in clusters.names if len(members) > 1]
    known = name_rows.by_id(connection, [row.id for members in several for row in members])
    concept = {row.id: row.concept_id for row in known}
    merges = []
    for members in several:
        kept, *others = sorted(members, key=lambda row: (-row.uses, -len(row.name), row.name))
        merges += [BulkMerge(concept[kept.id], concept[other.id], (other.id,)) for other in others]
    merge_rows.merge_many(connection, merges, method=f"global, threshold {clusters.threshold}")
    manual.apply_rulings(connection, decided)
    for scope, relations in clusters.relations.items():
        relation_rows.set_canonical(connection, scope, relations.canonical, relations.scores)
    return True
