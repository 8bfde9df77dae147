"""A backfill: all names and all relations of a store clustered anew; what follows is derived once, after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.build import manual
from hopgate.graph.build.resolve import MERGE
from hopgate.graph.canonicalise import (
    Canonicalisation,
    Canonicaliser,
    ContextMention,
    Relations,
    canonicalise_relations,
)
from hopgate.store.graph import fact_rows, merge_rows, name_rows, relation_rows
from hopgate.store.graph.merge_rows import BulkMerge

if TYPE_CHECKING:
    import numpy as np
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
    contexts = fact_rows.contexts(connection)
    mentions = [
        ContextMention(row.name, row.kind, context) for row in rows for context in (contexts.get(row.id) or [()])
    ]
    owners = [row for row in rows for _ in (contexts.get(row.id) or [()])]
    result = (canonicaliser or Canonicaliser(threshold=MERGE)).fit(mentions, embed)
    clusters: dict[int, dict[int, name_rows.NameRow]] = defaultdict(dict)
    for row, label in zip(owners, result.labels_.tolist(), strict=True):
        clusters[label][row.id] = row
    merges = []
    for members in clusters.values():
        kept, *others = sorted(members.values(), key=lambda row: (-row.uses, row.name))
        merges += [BulkMerge(kept.concept_id, other.concept_id, (other.id,)) for other in others]
    merge_rows.merge_many(connection, merges, method=f"global, threshold {result.threshold}")
    manual.apply_rulings(connection, decided)
    return result


def canonical_relations(connection: Connection[Any], embed: Embed | None = None) -> Relations:
    """Bring relations of the same meaning together; the raw ones are kept, edges are not touched."""
    counts = relation_rows.raw_relations(connection)
    repeated = [raw for raw, count in counts.items() for _ in range(count)]
    found = canonicalise_relations(repeated, embed=embed if len(counts) <= MAX_EMBEDDED else None)
    relation_rows.set_canonical(connection, found.canonical, found.scores)
    return found
