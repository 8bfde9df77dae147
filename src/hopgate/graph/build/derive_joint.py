"""Facts that memories tell together, brought into line with what they state: `graph/temporal/joint_facts.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.extraction_rows import is_name
from hopgate.graph.names import initials, normalise
from hopgate.graph.temporal.ending_pairs import JOINT_WEIGHT
from hopgate.graph.temporal.joint_facts import JointFact, joint_facts
from hopgate.store.graph import fact_rows, name_rows, relation_rows, stated_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.graph.fact_rows import FactGroup
    from hopgate.store.graph.name_rows import NameKey

# How far from a memory others are read: what a change tells depends on statements beside it, and what these tell on
# changes beside them.
REACH, READ = 2, 4


@dataclass(frozen=True, slots=True)
class JointChange:
    """What came and went: the groups of the facts, and the concepts whose names did."""

    groups: Sequence[FactGroup] = ()
    concept_ids: Sequence[int] = ()


def derive_joint(connection: Connection[Any], memory_ids: Iterable[int]) -> JointChange:
    """Bring what some memories and those beside them tell together into line; at the cost of these alone."""
    inner = known = set(memory_ids)
    if not known:
        return JointChange()  # as of most additions
    newest: set[int] = known
    for step in range(1, READ + 1):
        newest = stated_rows.beside(connection, newest, known) if newest else set()
        known = known | newest
        if step == REACH:
            inner = known
    ids = sorted(known)
    wanted = joint_facts(stated_rows.of_memories(connection, ids)) if len(ids) > 1 else []
    return _apply(connection, [fact for fact in wanted if fact.memory_id in inner], sorted(inner))


def derive_all_joint(connection: Connection[Any]) -> None:
    """Bring all that memories tell together into line; edges are derived after it."""
    _apply(connection, joint_facts(stated_rows.changing(connection)), None)


def _apply(connection: Connection[Any], wanted: Sequence[JointFact], memory_ids: Sequence[int] | None) -> JointChange:
    """Write the facts that are not there, and take back those that are told no more."""
    wanted = [fact for fact in wanted if _is_fact(fact)]
    there = stated_rows.joint(connection, memory_ids)
    keys = {_row_key(row) for row in there}
    new = {_key(fact): fact for fact in wanted if _key(fact) not in keys}
    kept = {_key(fact) for fact in wanted}
    gone = [row for row in there if _row_key(row) not in kept]
    if not new and not gone:
        return JointChange()
    name_ids = {name for row in gone for name in (row.subject_id, row.object_id)}
    # Before they go: a group that is empty loses its edges.
    groups = fact_rows.groups_of_memories(connection, sorted({row.memory_id for row in gone}))
    if gone:
        stated_rows.take_back(connection, gone)
    name_ids |= _add(connection, list(new.values()))
    concept_ids = sorted({row.concept_id for row in name_rows.by_id(connection, sorted(name_ids))})
    if gone:
        name_rows.drop_unused(connection, sorted(name_ids))
        name_rows.drop_nameless(connection, concept_ids)
    name_rows.refresh(connection, sorted(name_ids))
    groups += fact_rows.groups_of_memories(connection, sorted({fact.memory_id for fact in new.values()}))
    return JointChange(groups, concept_ids)


def _add(connection: Connection[Any], facts: Sequence[JointFact]) -> set[int]:
    """Write facts, and their ends as names that the memories keep and do not mention; give the names."""
    wanted: dict[NameKey, tuple[str, str | None]] = {}
    scopes = name_rows.scopes_of(connection, {fact.memory_id for fact in facts})
    for fact in facts:
        wanted |= {(scopes[fact.memory_id], normalise(end)): (end, None) for end in (fact.object, fact.subject)}
    if not wanted:
        return set()
    known = name_rows.ensure(connection, wanted, {normal: initials(normal) for _, normal in wanted})
    rows, kept = [], []
    for fact in facts:
        scope = scopes[fact.memory_id]
        subject, object_ = known[scope, normalise(fact.subject)].id, known[scope, normalise(fact.object)].id
        times = fact.valid_from, fact.valid_to, fact.recorded_at
        rows.append((fact.memory_id, subject, fact.relation, object_, JOINT_WEIGHT, *times, scope))
        kept += [(fact.memory_id, subject, fact.subject), (fact.memory_id, object_, fact.object)]
    relation_rows.ensure_relations(connection, ((row[-1], row[2]) for row in rows))
    stated_rows.keep_names(connection, kept)
    stated_rows.add_joint(connection, rows)
    return {row.id for row in known.values()}


def _is_fact(fact: JointFact) -> bool:
    """Whether both ends can stand for concepts, and are not the same."""
    ends = normalise(fact.subject), normalise(fact.object)
    return ends[0] != ends[1] and is_name(fact.subject, ends[0]) and is_name(fact.object, ends[1])


def _key(fact: JointFact) -> tuple[object, ...]:
    ends = normalise(fact.subject), normalise(fact.object)
    return fact.memory_id, ends[0], fact.relation, ends[1], fact.valid_from, fact.valid_to


def _row_key(row: stated_rows.JointRow) -> tuple[object, ...]:
    return row.memory_id, row.subject, row.relation, row.object, row.valid_from, row.valid_to
