"""Which relations have one object at a time: noted before a build, and edges follow where that is new."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.follow import follow_change
from hopgate.store.build_lock import share
from hopgate.store.graph import fact_rows, name_rows, relation_rows, version

if TYPE_CHECKING:
    from psycopg import Connection


def declare(connection: Connection[Any], single: Collection[str], several: Collection[str], whole: bool) -> None:
    """Note which relations have one value at a time; edges follow at once, or at the end of a whole build."""
    if not whole:
        if not several and relation_rows.are_single_valued(connection, single):
            # As at every addition but the first: nobody's lock is waited for.
            return
        share(connection)
    name_rows.lock(connection)
    declared = relation_rows.declare_single_valued(connection, set(single) - set(several))
    declared += relation_rows.declare_several_valued(connection, several)
    if whole:
        version.set_derived(connection, False)
    elif declared:
        follow_change(connection, groups=fact_rows.groups_of_relations(connection, declared))
