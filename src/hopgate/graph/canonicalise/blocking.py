"""Which pairs of names are worth scoring: the union of several cheap blocks.

Embeddings alone miss namesakes, tokens alone miss synonyms and misspellings: each block finds what the others miss.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hopgate.graph.canonicalise.parallel import ParallelTasks
from hopgate.graph.canonicalise.spelt_alike import ngram_rows
from hopgate.graph.canonicalise.units import FloatArray, IntArray
from hopgate.graph.names.normal import initials, numbers, tokens

# A token in more names than this makes no block: it is weak evidence, and its pairs grow with the square. Names that it
# makes up wholly are still found, by containment.
MAX_BLOCK = 50
# An n-gram in more names than this is left out of the n-gram block, for the same reason.
MAX_NGRAM_NAMES = 200
# Neighbours kept of each name by n-grams and by embeddings.
NEIGHBOURS = 10
# Below this cosine of character 3-grams two spellings have too little in common to be one.
MIN_NGRAM_COSINE = 0.5
# Below this closeness by embedding (see `score.closeness`) two names that share nothing else are not one.
MIN_CLOSENESS = 0.2
ROWS_AT_ONCE = 1024


def same_name(names: Sequence[str]) -> IntArray:
    """Units of one normalised name (their kinds differ), and names that differ only in spaces, as codes of pairs."""
    groups: dict[str, list[int]] = defaultdict(list)
    for unit, name in enumerate(names):
        groups[name.replace(" ", "")].append(unit)
    return _pairs_within(groups.values())


def shared_item(bags: Iterable[Iterable[str]]) -> IntArray:
    """Bags that share an item which is not in too many bags, and bags that are the same, as codes of pairs.

    Examples
    --------
    >>> [(code >> 32, code & 0xFFFFFFFF) for code in shared_item([["new", "york"], ["york"], ["paris"]]).tolist()]
    [(0, 1)]
    """
    holders: dict[str, list[int]] = defaultdict(list)
    whole: dict[frozenset[str], list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        items = frozenset(bag)
        whole[items].append(at)
        for item in items:
            holders[item].append(at)
    return _pairs_within(group for group in (*whole.values(), *holders.values()) if len(group) <= MAX_BLOCK)


def _pairs_within(groups: Iterable[list[int]]) -> IntArray:
    """All pairs of each group's units, which are in order, as codes: of all groups of one size at once."""
    of_size: dict[int, list[list[int]]] = defaultdict(list)
    for group in groups:
        if len(group) > 1:
            of_size[len(group)].append(group)
    codes = [np.zeros(0, np.int64)]
    for size, alike in of_size.items():
        rows = np.array(alike, np.int64)
        first, second = np.triu_indices(size, 1)
        codes.append((rows[:, first] << 32 | rows[:, second]).ravel())
    return np.concatenate(codes)


def expansions(names: Sequence[str]) -> dict[int, list[int]]:
    """For each name, the longer names that hold all its tokens and others.

    A number or date is short for nothing.

    Examples
    --------
    >>> expansions(["monroe", "marilyn monroe", "james monroe", "marilyn"])
    {0: [1, 2], 3: [1]}
    """
    sets = [frozenset(tokens(name)) for name in names]
    of_size: dict[int, list[int]] = defaultdict(list)
    for unit, held in enumerate(sets):
        of_size[len(held)].append(unit)
    # The longest names first, so that those which hold a token are longer than the one it is looked up for: most names
    # are of one length, and have none.
    holders: dict[str, set[int]] = {}
    found: dict[int, list[int]] = {}
    for size in sorted(of_size, reverse=True):
        for unit in of_size[size]:
            having = _all_holding(sets[unit], holders)
            if having and not sets[unit] <= numbers(tokens(names[unit])):
                found[unit] = sorted(having)
        for unit in of_size[size]:
            for token in sets[unit]:
                holders.setdefault(token, set()).add(unit)
    return dict(sorted(found.items()))


def _all_holding(held: frozenset[str], holders: Mapping[str, set[int]]) -> set[int]:
    """Who holds all of some tokens."""
    groups = []
    for token in held:
        if (group := holders.get(token)) is None:
            return set()
        groups.append(group)
    # The rarest first: a token that thousands of names have is then looked up for few of them.
    rarest, *others = sorted(groups, key=len)
    return rarest.intersection(*others) if others else rarest


def acronyms(names: Sequence[str]) -> dict[int, list[int]]:
    """For each name of one token, the names whose first letters spell it.

    Examples
    --------
    >>> acronyms(["hp", "hewlett packard", "houses of parliament", "obama"])
    {0: [1, 2]}
    """
    spelt: dict[str, list[int]] = defaultdict(list)
    for unit, name in enumerate(names):
        letters = initials(name)
        if letters:
            spelt[letters].append(unit)
    return {unit: spelt[name] for unit, name in enumerate(names) if name in spelt}


def ngram_neighbours(names: Sequence[str], tasks: ParallelTasks | None = None) -> IntArray:
    """Names that are spelt alike, as codes of pairs: nearest by TF-IDF of character 3-grams.

    Parameters
    ----------
    tasks : ParallelTasks, optional
        Who compares ranges of names, where it is not this process.
    """
    limit = MAX_NGRAM_NAMES if len(names) > MAX_NGRAM_NAMES else len(names)
    rows: Any = ngram_rows(names, limit)
    if rows is None:  # no n-gram is left: nothing is spelt alike
        return np.zeros(0, np.int64)
    ranges = range(0, rows.shape[0], ROWS_AT_ONCE)
    given = (rows, rows.T.tocsr())
    near = tasks.each(_ngram_range, given, ranges) if tasks else [_ngram_range(given, at) for at in ranges]
    return np.concatenate(near)


def _ngram_range(given: tuple[Any, Any], start: int) -> IntArray:
    """The nearest of a range of names, which starts at one."""
    rows, turned = given
    near = (rows[start : start + ROWS_AT_ONCE] @ turned).tocsr()
    unit = start + np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
    return _nearest_of_each(unit, near.indices.astype(np.int64), near.data)


def _nearest_of_each(unit: IntArray, others: IntArray, scores: FloatArray) -> IntArray:
    """What `_nearest` gives for each unit, for all at once, as codes; the units come in order."""
    kept = np.flatnonzero((scores >= MIN_NGRAM_COSINE) & (others != unit))
    unit, others = unit[kept], others[kept]
    order = np.lexsort((others, -scores[kept], unit))
    unit, others = unit[order], others[order]
    # How many of the same unit stand before each.
    before = np.arange(len(unit)) - np.searchsorted(unit, unit)
    best = before < NEIGHBOURS
    codes: IntArray = np.minimum(unit, others)[best] << 32 | np.maximum(unit, others)[best]
    return codes


def vector_neighbours(
    vectors: FloatArray, known: IntArray, closeness: Callable[[FloatArray], FloatArray]
) -> Iterable[tuple[int, int]]:
    """Nearest by embedding among the units in `known`, whose vectors are the rows of `vectors`."""
    for start in range(0, len(known), ROWS_AT_ONCE):
        near = closeness(vectors[start : start + ROWS_AT_ONCE] @ vectors.T)
        for row, close in enumerate(near):
            some = np.flatnonzero(close)
            yield from _nearest(int(known[start + row]), known[some], close[some], MIN_CLOSENESS)


def _nearest(unit: int, others: IntArray, scores: FloatArray, least: float) -> Iterable[tuple[int, int]]:
    kept = (scores >= least) & (others != unit)
    others, scores = others[kept], scores[kept]
    best = np.lexsort((others, -scores))[:NEIGHBOURS]
    return ((min(unit, int(other)), max(unit, int(other))) for other in others[best])


def pairs(blocks: Iterable[Iterable[tuple[int, int]] | IntArray]) -> tuple[IntArray, IntArray]:
    """Make the union of the blocks, of pairs or of their codes: each pair once, the smaller unit first, in order."""
    # As numbers: a set of tuples would take twenty times the memory.
    coded = [
        block if isinstance(block, np.ndarray) else np.fromiter((pair_code(*pair) for pair in block), dtype=np.int64)
        for block in blocks
    ]
    codes = np.sort(np.concatenate(coded))
    # Not `np.unique`, which looks each up in a table before it sorts them: ten times as long.
    codes = codes[np.diff(codes, prepend=-1) != 0]
    return codes >> 32, codes & 0xFFFFFFFF


def pair_code(one: int, other: int) -> int:
    """Write a pair as one number: pairs in order are codes in order.

    Examples
    --------
    >>> pair_code(3, 1) == pair_code(1, 3) < pair_code(2, 0xFFFFFFFF) < pair_code(3, 4)
    True
    """
    return one << 32 | other if one < other else other << 32 | one
