"""Which names are one concept, and which relations mean the same, by what some memories alone say.

Within walls a scope's names are compared with each other and with nobody else's: that another scope has one of them, or
one in between, brings nothing together and keeps nothing apart. As strings, for a look at a scope calls no model; what
people merged or split by hand holds here too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from hopgate.graph.build.resolve import MERGE
from hopgate.graph.canonicalise import Canonicaliser, Units, canonicalise_relations
from hopgate.store.graph.merge_rows import NameRuling
from hopgate.store.graph.scope_rows import OwnFact, OwnName, OwnRelation


@dataclass(frozen=True, eq=False)
class OwnMeaning:
    """What names and wordings stand for.

    Parameters
    ----------
    concepts : mapping of int to int
        The concept of each name, by their ids.
    relations : mapping of str to str
        The relation that each wording means.
    single_valued : frozenset of str
        The relations that have one object at a time.
    """

    concepts: Mapping[int, int]
    relations: Mapping[str, str]
    single_valued: frozenset[str]


def own_meaning(
    names: Sequence[OwnName],
    facts: Iterable[OwnFact],
    wordings: Mapping[str, OwnRelation],
    rulings: Iterable[NameRuling] = (),
) -> OwnMeaning:
    """Decide by these names, wordings and stated facts alone, and by what people ruled.

    A concept goes by the first of its names: by that one's id, negative, so that it is no concept of the store. What
    the store brings together or takes apart for others' sake changes none of these ids.

    Examples
    --------
    The store took "Ada" for another's Ada Palmer; here there is but one:

    >>> names = [OwnName(7, "ada", "Ada", None, 1, 1, 3), OwnName(9, "ada byron", "Ada Byron", None, 2, 1, 4)]
    >>> own_meaning(names, [], {}).concepts
    {3: -3, 4: -3}
    """
    # What two memories tell together brings no names together: theirs are no one's words.
    stated = [one for one in facts if not one.joint]
    order = sorted(names, key=lambda name: -name.uses)
    own = [name for name in names if name.uses]
    silent = [{name.id} for name in names if not name.uses]
    groups = _ruled([*_clusters(own, stated), *silent], [name.id for name in order], rulings)
    counts = Counter(one.raw for one in stated)
    read = [raw for raw, known in wordings.items() if not known.joint]
    repeated = chain.from_iterable(repeat(raw, max(1, counts[raw])) for raw in read)
    relations = {raw: raw for raw in wordings} | dict(canonicalise_relations(list(repeated)).canonical)
    single = {relations[raw] for raw, known in wordings.items() if known.single_valued and known.declared}
    return OwnMeaning(_ids(names, groups), relations, frozenset(single))


def stores_meaning(names: Iterable[OwnName], wordings: Mapping[str, OwnRelation]) -> OwnMeaning:
    """What names and wordings stand for in the whole store, where scopes are shared."""
    return OwnMeaning(
        {name.id: name.concept_id for name in names},
        {raw: known.canonical for raw, known in wordings.items()},
        frozenset(known.canonical for known in wordings.values() if known.single_valued),
    )


def _clusters(names: Sequence[OwnName], facts: Iterable[OwnFact]) -> list[set[int]]:
    """Cluster names by their ids, as a backfill does with all of a store."""
    normal = {name.id: name.normal for name in names}
    contexts: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in facts:
        contexts[one.subject_id][one.raw, normal[one.object_id]] += 1
    units = Units(
        names=tuple(name.normal for name in names),
        kinds=tuple(name.kind for name in names),
        counts=np.array([name.uses for name in names], np.float64),
        spellings=tuple(name.name for name in names),
        contexts=tuple(contexts[name.id] for name in names),
        of_mention=np.arange(len(names), dtype=np.int64),
    )
    labels = Canonicaliser(threshold=MERGE).fit_units(units, floor=MERGE).labels_.tolist()
    groups: dict[int, set[int]] = defaultdict(set)
    for name, label in zip(names, labels, strict=True):
        groups[label].add(name.id)
    return list(groups.values())


def _ruled(groups: Sequence[set[int]], order: Sequence[int], rulings: Iterable[NameRuling]) -> list[set[int]]:
    """Bring groups of names into line with what people decided, in the order in which they did.

    Parameters
    ----------
    order : sequence of int
        The names, those first that others are rather brought to.

    Examples
    --------
    >>> _ruled([{1, 2}, {3}], [1, 2, 3], [NameRuling((2,), (1,), False), NameRuling((2,), (3,), True)])
    [{1}, {2, 3}]
    """
    place = {key: at for at, key in enumerate(order)}
    home = {key: group for group in groups for key in group}
    for ruling in rulings:
        ruled = home.keys() & {*ruling.name_ids}
        partners = sorted(home.keys() & {*ruling.partner_ids}, key=place.__getitem__)
        if not ruled or not partners:
            continue
        if ruling.together:
            joined = home[partners[0]].union(*(home[key] for key in ruled))
            home |= dict.fromkeys(joined, joined)
            continue
        # The partners need not be one here.
        for group in {id(home[key]): home[key] for key in partners}.values():
            if apart := group & ruled:
                group.difference_update(apart)
                home |= dict.fromkeys(apart, apart)
    return list({id(group): group for group in home.values()}.values())


def _ids(names: Sequence[OwnName], groups: Iterable[set[int]]) -> dict[int, int]:
    """The concept of each name."""
    group_of = {key: group for group in groups for key in group}
    concept: dict[int, int] = {}
    for name in names:
        if name.id not in concept:
            concept |= dict.fromkeys(group_of[name.id], -name.id)
    return concept
