"""A backfill: names of one concept are brought together, and everything that follows is derived once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.build import manual
from hopgate.graph.build.derive import derive
from hopgate.graph.build.naming import rename
from hopgate.graph.build.resolve import MERGE
from hopgate.graph.canonicalise import (
    Canonicalisation,
    Canonicaliser,
    ContextMention,
    Relations,
    canonicalise_relations,
)
from hopgate.graph.names.links import link, link_names, whole_index
from hopgate.store import memories
from hopgate.store.graph import edge_rows, fact_rows, merge_rows, name_rows, relation_rows, version
from hopgate.store.graph.merge_rows import BulkMerge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
GROUPS = 5000
# More relations than this are compared by their words alone: a text takes about 7 ms of a core with bge-small.
MAX_EMBEDDED = 4096


def canonicalise(
    connection: Connection[Any], canonicaliser: Canonicaliser | None = None, embed: Embed | None = None
) -> Canonicalisation:
    """Cluster all names of a store globally and merge the concepts of each cluster; every merge is a row.

    What people merged and split stays so. Memories' concepts and edges are not touched: `derive_all` follows.
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
    manual.apply(connection, decided)
    return result


def canonical_relations(connection: Connection[Any], embed: Embed | None = None) -> Relations:
    """Bring relations together that were said in different words; the raw ones are kept, edges are not touched."""
    counts = relation_rows.raw_relations(connection)
    told = [raw for raw, count in counts.items() for _ in range(count)]
    found = canonicalise_relations(told, embed=embed if len(counts) <= MAX_EMBEDDED else None)
    relation_rows.set_canonical(connection, found.canonical, found.scores)
    return found


def derive_all(connection: Connection[Any]) -> None:
    """Derive every name, every memory's concepts and every edge anew from what was said."""
    name_rows.lock(connection)
    # Everything above came in since the planner last looked, and its plans for an empty table are quadratic.
    fact_rows.analyse(connection)
    known = name_rows.all_names(connection)
    owners = sorted({row.concept_id for row in known})
    name_rows.refresh(connection, [row.id for row in known])
    rename(connection, owners)
    index = whole_index(connection)
    link(connection, memories.all_ids(connection), index)
    link_names(connection, owners, index)
    groups = fact_rows.all_groups(connection)
    for start in range(0, len(groups), GROUPS):
        derive(connection, groups[start : start + GROUPS])
    edge_rows.drop_unsupported(connection)
    edge_rows.analyse(connection)
    version.set_derived(connection, True)
    version.bump(connection)
