"""A backfill: all names and all relations of a store clustered anew; what follows is derived once, after it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hopgate.graph.build import manual
from hopgate.graph.build.resolve import MERGE
from hopgate.graph.canonicalise import Canonicalisation, Canonicaliser, Relations, canonicalise_relations
from hopgate.graph.canonicalise.units import Units
from hopgate.store.graph import fact_rows, merge_rows, name_rows, relation_rows
from hopgate.store.graph.merge_rows import BulkMerge

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
# More relations than this are compared by their words alone: a text takes about 7 ms of a core with bge-small.
MAX_EMBEDDED = 4096


def canonicalise(
    connection: Connection[Any], canonicaliser: Canonicaliser | None = None, embed: Embed | None = None
) -> Canonicalisation:
    """Cluster all names of a store globally and merge the concepts of each cluster; every merge is a row.

    What people merged and split stays so. Memories' concepts and edges are not touched: `follow_all` comes after.
    """
    name_rows.lock(connection)
    decided = manual.take_apart(connection)
    rows = name_rows.all_names(connection)
    result = (canonicaliser or Canonicaliser(threshold=MERGE)).fit_units(_units(connection, rows), embed)
    clusters: dict[int, list[name_rows.NameRow]] = defaultdict(list)
    for row, label in zip(rows, result.labels_.tolist(), strict=True):
        clusters[label].append(row)
    merges = []
    for members in clusters.values():
        kept, *others = sorted(members, key=lambda row: (-row.uses, row.name))
        merges += [BulkMerge(kept.concept_id, other.concept_id, (other.id,)) for other in others]
    merge_rows.merge_many(connection, merges, method=f"global, threshold {result.threshold}")
    manual.apply_rulings(connection, decided)
    return result


def _units(connection: Connection[Any], rows: Sequence[name_rows.NameRow]) -> Units:
    """A store's names as the canonicaliser takes them: each is one unit, and its mentions are counted already."""
    contexts = fact_rows.contexts(connection)
    return Units(
        names=tuple(row.normal for row in rows),
        kinds=tuple(row.kind for row in rows),
        counts=np.array([max(1, row.uses) for row in rows], dtype=np.float64),
        spellings=tuple(row.name for row in rows),
        contexts=tuple(Counter(contexts.get(row.id, {})) for row in rows),
        of_mention=np.arange(len(rows), dtype=np.int64),
    )


def canonical_relations(connection: Connection[Any], embed: Embed | None = None) -> Relations:
    """Bring relations of the same meaning together; the raw ones are kept, edges are not touched."""
    counts = relation_rows.raw_relations(connection)
    repeated = [raw for raw, count in counts.items() for _ in range(count)]
    found = canonicalise_relations(repeated, embed=embed if len(counts) <= MAX_EMBEDDED else None)
    relation_rows.set_canonical(connection, found.canonical, found.scores)
    return found
