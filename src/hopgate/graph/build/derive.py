"""What follows from a change of names, mentions or facts: called names, linked memories, derived edges, a new version.

Whoever changes what the graph is made of (a sink, revoke, merge, split, a relation declared single-valued, a first
build) ends here, in the same transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, cast

from hopgate.graph.links import link_memories, relink
from hopgate.graph.temporal import EdgeVersion, edge_history
from hopgate.store import memories
from hopgate.store.graph import edge_rows, fact_rows, name_rows, version
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.graph.name_rows import NameRow

# Groups of facts derived in one statement, so that a backfill never holds all facts.
GROUPS = 5000


def rederive(
    connection: Connection,
    *,
    memory_ids: Sequence[int] = (),
    groups: Sequence[FactGroup] = (),
    names: Sequence[NameRow] = (),
    leaving_out: Sequence[int] = (),
    scopes: Collection[str] | None = None,
) -> None:
    """Bring the graph into line with a change, at the cost of what it touches.

    Memories whose mentions changed, groups that gained or lost a fact, and names that were added, removed or moved:
    other memories may have these as titles, and other names may contain them. Memories that are being revoked are left
    out, even where a title links them. By default all this may be of any scope.
    """
    link_memories(connection, memory_ids)
    derive(connection, groups)
    relink(connection, names, leaving_out=[*memory_ids, *leaving_out])
    version.bump(connection, scopes)


def rederive_all(connection: Connection) -> None:
    """Derive every memory's concepts and every edge anew from mentions and facts."""
    version.lock(connection)
    edge_rows.sort_in_memory(connection)
    # The rows came in since the planner last looked, and its plans for an empty table are quadratic.
    fact_rows.analyse(connection)
    link_memories(connection, memories.open_ids(connection, hold=True))
    edge_rows.drop_unfounded(connection)
    groups = fact_rows.groups(connection)
    for start in range(0, len(groups), GROUPS):
        derive(connection, groups[start : start + GROUPS])
    fact_rows.analyse(connection)
    version.set_derived(connection, True)
    version.bump(connection)


def revoke(connection: Connection, memory_ids: Sequence[int]) -> None:
    """Remove memories' mentions and facts, and what no other memory supports.

    Edges are derived again from the facts that remain, so that an interval which one of the memories had closed opens
    again. Names that nobody mentions any more go, and concepts without a name.
    """
    version.lock(connection)
    names = name_rows.read(connection, memories=memory_ids)
    scopes = _scopes(connection, memory_ids, names)
    groups = fact_rows.groups(connection, memories=memory_ids)
    relations = fact_rows.relations_of_memories(connection, memory_ids)
    if not fact_rows.revoke(connection, memory_ids):
        # Nothing was made of them, but they may have been neighbours of others.
        version.touch(connection, scopes)
        return
    remaining_ids = {row.id for row in name_rows.read(connection, ids=[row.id for row in names])}
    rederive(
        connection,
        groups=groups,
        names=[row for row in names if row.id not in remaining_ids],
        leaving_out=memory_ids,
        scopes=scopes,
    )
    fact_rows.drop_unused_relations(connection, relations)


def _scopes(connection: Connection, memory_ids: Sequence[int], names: Sequence[NameRow]) -> set[str] | None:
    """The scopes of memories, and of the names that were read in them; None where one of them is not there any more."""
    by_memory = name_rows.scopes_of(connection, memory_ids)
    return {*by_memory.values(), *(name.scope for name in names)} if len(by_memory) == len({*memory_ids}) else None


def derive(connection: Connection, groups: Iterable[FactGroup]) -> None:
    """Replace the edges of groups by those of all their facts, in a fixed order; a group without facts loses them."""
    wanted = set(groups)
    singles = {(group.src_id, group.relation) for group in wanted if group.dst_id is None}
    # A relation that became single-valued: its whole group covers those of its targets.
    covered = {group for group in wanted if group.dst_id is not None and (group.src_id, group.relation) in singles}
    ordered = sorted(wanted - covered, key=lambda group: (group.src_id, group.relation, group.dst_id or 0))
    if not ordered:
        return
    facts_of_group: dict[FactGroup, list[CanonicalFact]] = defaultdict(list)
    for fact in fact_rows.facts_of_groups(connection, ordered):
        single = (fact.src_id, fact.canonical) in singles
        facts_of_group[FactGroup(fact.src_id, fact.canonical, None if single else fact.dst_id)].append(fact)
    rows = (versioned_rows(group, facts) for group, facts in facts_of_group.items())
    edge_rows.replace(connection, ordered, chain.from_iterable(rows))


def versioned_rows(group: FactGroup, facts: Sequence[CanonicalFact]) -> list[EdgeRow]:
    """Turn one group's facts, in the order in which they became known, into bi-temporal rows.

    A fact repeated while nothing else was recorded adds evidence and no history, so that runs of the same fact are
    taken as one: a fact that a thousand memories state costs one row and not a thousand versions of it.
    """
    runs = [list(run) for _, run in groupby(facts, key=lambda fact: (fact.dst_id, fact.valid_from, fact.valid_to))]
    versions = [
        EdgeVersion(
            *(run[0].dst_id, run[0].valid_from, run[0].valid_to, run[0].recorded_at),
            evidence=tuple(sorted({fact.memory_id for fact in run})),
        )
        for run in runs
    ]
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for fact in facts:
        weights[fact.dst_id, fact.memory_id] = max(weights[fact.dst_id, fact.memory_id], fact.weight)
    result = []
    # Most groups have one fact, which nothing ends.
    for row in edge_history(versions) if len(runs) > 1 else versions:
        dst, evidence = cast("int", row.dst), cast("tuple[int, ...]", row.evidence)
        weight = sum(weights[dst, memory] for memory in evidence)
        times = (row.valid_from, row.valid_to, row.recorded_at, row.retired_at)
        result.append(EdgeRow(group.src_id, dst, group.relation, weight, *times, evidence))
    return result
