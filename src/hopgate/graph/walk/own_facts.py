"""What follows from a scope's own facts: which of them can end one another, how they are worded, where vectors are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from hopgate.graph.walk.own_concepts import OwnMeaning
from hopgate.store.graph import scope_rows
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup
from hopgate.store.graph.scope_rows import OwnFact, OwnRelation

if TYPE_CHECKING:
    from psycopg import Connection


def is_known(fact: OwnFact, names: Mapping[int, int], wordings: Mapping[str, OwnRelation]) -> bool:
    """Whether a fact's ends and wording were read, too: not where it was written between two statements."""
    return fact.subject_id in names and fact.object_id in names and fact.raw in wordings


def vector_rows(
    connection: Connection[Any],
    memory_ids: Sequence[int],
    stated: Iterable[OwnFact],
    meaning: OwnMeaning,
    stored: Mapping[int, int],
    wordings: Mapping[str, OwnRelation],
) -> dict[tuple[int, str, int], int]:
    """Where the store has the vector of an edge here: under the concepts and the relation of all scopes.

    Of what is stated: what is tentative may make an edge here and none in the whole store, where another's statement
    took its place.
    """
    ids = scope_rows.edge_ids(connection, memory_ids)
    found: dict[tuple[int, str, int], int] = {}
    for one in stated:
        key = stored[one.subject_id], wordings[one.raw].canonical, stored[one.object_id]
        if key in ids:
            found.setdefault(_key(one, meaning), ids[key])
    return found


def _key(fact: OwnFact, meaning: OwnMeaning) -> tuple[int, str, int]:
    return meaning.concepts[fact.subject_id], meaning.relations[fact.raw], meaning.concepts[fact.object_id]


def worded(stated: Iterable[OwnFact], meaning: OwnMeaning) -> dict[str, str]:
    """How these memories mostly word each relation."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for raw, times in Counter(one.raw for one in stated).items():
        counts[meaning.relations[raw]][raw] = times
    return {relation: min(raw, key=lambda one: (-raw[one], one)) for relation, raw in counts.items()}


def may_tell(
    stated: Iterable[OwnFact], meaning: OwnMeaning, wordings: Mapping[str, OwnRelation]
) -> Iterator[tuple[int, str]]:
    """The names and wordings whose tentative facts may count: where something with one object at a time is stated."""
    named: dict[int, list[int]] = defaultdict(list)
    for name, concept in meaning.concepts.items():
        named[concept].append(name)
    raws: dict[str, list[str]] = defaultdict(list)
    for raw, known in wordings.items():
        if known.tentative and meaning.relations[raw] in meaning.single_valued:
            raws[meaning.relations[raw]].append(raw)
    sure = {(meaning.concepts[one.subject_id], meaning.relations[one.raw]) for one in stated}
    for concept, relation in sure:
        yield from product(named[concept], raws.get(relation, ()))


def grouped(facts: Sequence[OwnFact], meaning: OwnMeaning) -> dict[FactGroup, list[CanonicalFact]]:
    """Facts that can end one another, in the order in which they became known."""
    groups: dict[FactGroup, list[CanonicalFact]] = defaultdict(list)
    for one in sorted(facts, key=lambda one: (one.recorded_at, one.memory_id, one.id)):
        source, relation, target = _key(one, meaning)
        group = FactGroup(source, relation, None if relation in meaning.single_valued else target)
        times = (one.valid_from, one.valid_to, one.recorded_at)
        groups[group].append(CanonicalFact(source, relation, target, one.weight, *times, one.memory_id))
    return groups
