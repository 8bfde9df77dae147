"""A backfill: names of one concept are brought together, and everything that follows is derived once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.canonicalise import Canonicalisation, Canonicaliser, Mention
from hopgate.graph.derive import derive
from hopgate.graph.linking import link, link_names, whole_index
from hopgate.store import concepts, memories, names, said, version
from hopgate.store.concepts import BulkMerge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
GROUPS = 5000


def canonicalise(
    connection: Connection[Any], canonicaliser: Canonicaliser | None = None, embed: Embed | None = None
) -> Canonicalisation:
    """Cluster all names of a store globally and merge the concepts of each cluster; every merge is a row.

    Memories' concepts and edges are not touched: `derive_all` follows.
    """
    names.lock(connection)
    rows = names.all_names(connection)
    contexts = said.contexts(connection)
    mentions = [Mention(row.name, row.kind, context) for row in rows for context in (contexts.get(row.id) or [()])]
    owners = [row for row in rows for _ in (contexts.get(row.id) or [()])]
    result = (canonicaliser or Canonicaliser()).fit(mentions, embed)
    clusters: dict[int, dict[int, list[int]]] = defaultdict(dict)
    for row, label in zip(owners, result.labels_.tolist(), strict=True):
        ids = clusters[label].setdefault(row.concept_id, [])
        if row.id not in ids:
            ids.append(row.id)
    uses = said.uses(connection)
    merges = []
    for members in clusters.values():
        kept = min(members, key=lambda concept: (-sum(uses.get(n, 0) for n in members[concept]), concept))
        merges += [BulkMerge(kept, other, tuple(ids)) for other, ids in members.items() if other != kept]
    concepts.merge_many(connection, merges, method=f"global, threshold {result.threshold}")
    names.rename(connection, sorted({merge.kept_id for merge in merges}))
    version.bump(connection)
    return result


def derive_all(connection: Connection[Any]) -> None:
    """Derive every memory's concepts and every edge anew from what was said."""
    names.lock(connection)
    index = whole_index(connection)
    link(connection, memories.all_ids(connection), index)
    link_names(connection, names.all_names(connection), index)
    groups = said.all_groups(connection)
    for start in range(0, len(groups), GROUPS):
        derive(connection, groups[start : start + GROUPS])
    version.bump(connection)
