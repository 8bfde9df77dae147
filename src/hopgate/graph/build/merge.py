"""What people decide about concepts: two become one, one becomes two again, and both outlive a new clustering.

Every merge is a row that says by what method it was made, so that it can be explained and taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.graph.build.derive import rederive
from hopgate.graph.names import normalise
from hopgate.store import journal
from hopgate.store.graph import concept_rows, fact_rows, name_rows, version
from hopgate.store.graph.visible import View
from hopgate.store.journal import ASKED, BY_HAND, KEEP_APART
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.graph.concept_rows import Ambiguous
    from hopgate.store.graph.fact_rows import FactGroup
    from hopgate.store.graph.name_rows import NameRow
    from hopgate.store.journal import JournalRow

FRONT_MATTER = "front matter"


@dataclass(frozen=True, slots=True)
class Change:
    """What a merge or a split does, or would do: the names that change hands, and how many memories and edge groups."""

    kept: str
    other: str
    names: tuple[str, ...]
    memories: int
    edges: int


def merge_named(connection: Connection, kept: str, merged: str, scope: str | None = None) -> Change:
    """Make two concepts one, in this scope or in each that has both; unknown names are refused."""
    version.lock(connection)
    pairs = concept_rows.pairs(connection, normalise(kept), normalise(merged), scope)
    if not pairs:
        for name in (kept, merged):
            concept_rows.find_all(connection, normalise(name), name, View(scope if scope is None else (scope,)))
        raise HopgateError(f"no scope has both {kept!r} and {merged!r}: name two concepts of one scope")
    changes = [merge(connection, *pair) for pair in pairs]
    names = tuple(dict.fromkeys(name for change in changes for name in change.names))
    memories, edges = sum(change.memories for change in changes), sum(change.edges for change in changes)
    return Change(changes[0].kept, changes[0].other, names, memories, edges)


def split_named(connection: Connection, name: str, scope: str | None = None) -> list[Change]:
    """Undo every merge into a concept, in this scope or in each that has it, the last one first."""
    version.lock(connection)
    view = View(scope if scope is None else (scope,))
    concept_ids = sorted(concept_rows.find_all(connection, normalise(name), name, view))
    merges = [merged for concept_id in concept_ids for merged in journal.merges_into(connection, concept_id)]
    if not merges:
        raise HopgateError(f"nothing was merged into {name!r}: hopgate concepts show tells what it is made of")
    return [_take_back(connection, merged) for merged in merges]


def merge(connection: Connection, kept_id: int, merged_id: int, *, method: str = BY_HAND) -> Change:
    """Make the second concept's names the first one's, and bring the graph into line; `method` says who decided."""
    if kept_id == merged_id:
        raise HopgateError("a concept cannot be merged with itself: name two")
    version.lock(connection)
    kept, merged = concept_rows.get(connection, kept_id), concept_rows.get(connection, merged_id)
    if kept.scope != merged.scope:
        raise HopgateError("concepts of two scopes cannot be merged: name two of one scope")
    names = name_rows.read(connection, concepts=[merged_id])
    memory_ids = concept_rows.memories_of_concepts(connection, [merged_id])
    with _moving(connection, names, memory_ids) as groups:
        journal.merge(connection, [(kept_id, merged_id)], method=method)
    return Change(kept.name, merged.name, tuple(row.name for row in names), len(memory_ids), len(groups))


@contextmanager
def _moving(connection: Connection, names: Sequence[NameRow], memory_ids: Sequence[int]) -> Iterator[list[FactGroup]]:
    """Bring the graph into line with names that come to another concept: the groups that their facts leave, and join.

    Gives the groups that they leave; the memories are those that talk about them.
    """
    name_ids = [row.id for row in names]
    left_groups = fact_rows.groups(connection, names=name_ids)
    yield left_groups
    rederive(
        connection,
        memory_ids=memory_ids,
        groups=[*left_groups, *fact_rows.groups(connection, names=name_ids)],
        names=name_rows.read(connection, ids=name_ids),
        scopes={row.scope for row in names},
    )


def join_aliases(connection: Connection, memory_ids: Sequence[int] | None = None) -> None:
    """Make what a note's front matter lists as aliases names of what its title names, for these notes or for all.

    One that is called otherwise as well stays what it is: two people may be Jo. For all nothing is derived.
    """
    titles = name_rows.aliases_of_titles(connection, memory_ids)
    scopes = name_rows.scopes_of(connection, [row[0] for row in titles]) if titles else {}
    for memory_id, title, aliases in titles:
        normals = [normalise(name) for name in (title, *aliases)]
        rows = name_rows.read(connection, normals=normals, scopes=[scopes[memory_id]])
        concepts = {row.normal: row.concept_id for row in rows}
        if (kept_id := concepts.get(normals[0])) is None:
            continue
        for other_id in sorted({*concepts.values()} - {kept_id}):
            if {row.normal for row in name_rows.read(connection, concepts=[other_id])} <= {*normals}:
                if memory_ids is None:
                    journal.merge(connection, [(kept_id, other_id)], method=FRONT_MATTER)
                else:
                    merge(connection, kept_id, other_id, method=FRONT_MATTER)


def decide(pair: Ambiguous, same: bool, connection: Connection) -> bool | None:
    """Carry out what a model said of two names; whether they became one, or none where that is not to be done.

    They may be one already, or a memory that had one of them may have turned sensitive since.
    """
    version.lock(connection)
    if not name_rows.spelt([pair.near, pair.name], connection):
        return None
    view = View((pair.scope,))
    first, second = (concept_rows.find(connection, normalise(name), name, view).id for name in (pair.near, pair.name))
    if not same:
        concept_rows.mark_ambiguous(connection, pair.name_id, None, None)
        return False
    if first == second:
        return None
    merge(connection, first, second, method=ASKED)
    return True


def keep_apart(connection: Connection, name: str) -> None:
    """Decide that a name is not the one it resembles: it is proposed no more."""
    version.lock(connection)
    undecided = concept_rows.ambiguous(connection, name=name)
    if not undecided:
        raise HopgateError(f"{name!r} is not undecided: hopgate concepts ambiguous lists the names that are")
    pair = undecided[0]
    concept_rows.mark_ambiguous(connection, pair.name_id, None, None)
    journal.record(connection, KEEP_APART, name_ids=[pair.name_id, pair.near_id], score=pair.score)


def undo_keep_apart(connection: Connection, row: JournalRow) -> None:
    """Leave two names undecided again."""
    version.lock(connection)
    if row.score is None or len(name_rows.read(connection, ids=row.name_ids)) < 2:
        raise HopgateError("one of the two names is gone: there is nothing to decide")
    name_id, near_id = row.name_ids
    concept_rows.mark_ambiguous(connection, name_id, near_id, row.score)


def undo_merge(connection: Connection, merged: JournalRow) -> Change:
    """Undo one merge; one whose concept became part of another since is refused."""
    version.lock(connection)
    names = name_rows.read(connection, ids=merged.name_ids)
    if merged.kept_id is None or any(row.concept_id != merged.kept_id for row in names):
        raise HopgateError("the merged concept became part of another one since: undo that merge first")
    return _take_back(connection, merged)


def _take_back(connection: Connection, merged: JournalRow) -> Change:
    """Give a merged concept its names back, and bring the graph into line."""
    assert merged.kept_id is not None and merged.merged_id is not None and merged.merged_name is not None
    kept = concept_rows.get(connection, merged.kept_id)
    names = [row for row in name_rows.read(connection, concepts=[kept.id]) if row.id in merged.name_ids]
    memory_ids = concept_rows.memories_of_concepts(connection, [kept.id])
    with _moving(connection, names, memory_ids) as groups:
        journal.restore(connection, merged)
        name_rows.move(connection, [row.id for row in names], merged.merged_id)
    # Those that follow the names, and not all that the kept concept had.
    memory_ids = concept_rows.memories_of_concepts(connection, [merged.merged_id])
    return Change(kept.name, merged.merged_name, tuple(row.name for row in names), len(memory_ids), len(groups))


Ruling = tuple[list[int], int | None, bool]
"""Names, a name that a person put them together with or took them apart from, and whether together."""


def take_apart(connection: Connection) -> list[Ruling]:
    """Give every name a concept of its own, as before any clustering; return what people had ruled, to apply again."""
    rulings = journal.take_rulings(connection)
    name_rows.separate(connection)
    return rulings


def apply_rulings(connection: Connection, rulings: list[Ruling]) -> None:
    """Bring a new clustering into line with what people decided; edges and mentions are not touched."""
    for name_ids, partner_id, together in rulings:
        rows = {row.id: row for row in name_rows.read(connection, ids=[*name_ids, partner_id or 0])}
        partner = rows.pop(partner_id or 0, None)
        if partner is None or not rows:
            continue
        joined_ids = [key for key, row in rows.items() if row.concept_id == partner.concept_id]
        if together:
            other_concepts = sorted({row.concept_id for row in rows.values()} - {partner.concept_id})
            journal.merge(connection, [(partner.concept_id, other) for other in other_concepts], method=BY_HAND)
        elif joined_ids:
            name_rows.separate(connection, joined_ids)
            first, *others = (row.concept_id for row in name_rows.read(connection, ids=joined_ids))
            journal.merge(connection, [(first, other) for other in others], method="kept together")
