"""What is compared: one unit for each name and kind; and which pairs of them are worth scoring.

Embeddings alone miss namesakes, tokens alone miss synonyms and misspellings: each block finds what the others miss.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.names import initials, normalise, numbers, tokens

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]

# A token in more names than this makes no block: it is weak evidence, and its pairs grow with the square. Names that it
# makes up wholly are still found, by containment.
MAX_BLOCK = 50
# An n-gram in more names than this is left out of the n-gram block, for the same reason.
MAX_NGRAM_NAMES = 200
# Neighbours kept of each name by n-grams and by embeddings.
NEIGHBOURS = 10
# Below this cosine of character 3-grams two spellings have too little in common to be one.
MIN_COSINE = 0.5
# Below this closeness by embedding (see `closeness`) two names that share nothing else are not one.
MIN_CLOSENESS = 0.2
# The part of the way to 1 that related but different things reach (Germany, France). 0.2 and 0.3 differ by less than
# 0.002 on the labelled sets with bge-small.
UNRELATED = 0.2
ROWS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class ContextMention:
    """A memory talks about something by a name.

    Parameters
    ----------
    name : str
        As written.
    kind : str, optional
        Person, project, tool, place, idea … where an extractor gave one; soft evidence.
    context : tuple of (relation, object)
        The facts of which it is the subject; two names of one concept tend to share some.

    Examples
    --------
    >>> ContextMention("Ada Lovelace", "person", (("wrote", "note g"),)).name
    'Ada Lovelace'
    """

    name: str
    kind: str | None = None
    context: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Units:
    """Distinct (normalised name, kind) of the mentions, in order of first occurrence.

    Everything after this is done on units: 35,000 mentions have a few thousand names.
    """

    names: tuple[str, ...]
    kinds: tuple[str | None, ...]
    counts: NDArray[np.float64] = field(repr=False)
    spellings: tuple[str, ...] = field(repr=False)  # the most frequent way each was written
    contexts: tuple[Mapping[tuple[str, str], int], ...] = field(repr=False)
    of_mention: IntArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def tokens(self) -> list[tuple[str, ...]]:
        """The tokens of each name that carry its meaning."""
        return [tokens(name) for name in self.names]

    @cached_property
    def expansions(self) -> dict[int, list[int]]:
        """For each name, the longer names that hold all its tokens and others; a number or date is short for nothing.

        Examples
        --------
        >>> names = ["Monroe", "Marilyn Monroe", "James Monroe", "Marilyn"]
        >>> units([ContextMention(name) for name in names]).expansions
        {0: [1, 2], 3: [1]}
        """
        sets = [frozenset(own) for own in self.tokens]
        holders: dict[str, set[int]] = defaultdict(set)
        for unit, own in enumerate(sets):
            for token in own:
                holders[token].add(unit)
        longer = {}
        for unit, own in enumerate(sets):
            if own <= numbers(self.tokens[unit]):
                continue
            # The rarest first: a token that thousands of names have is then looked up for few of them.
            first, *groups = sorted((holders[token] for token in own), key=len)
            having = first.intersection(*groups)
            if larger := sorted(other for other in having if len(sets[other]) > len(own)):
                longer[unit] = larger
        return longer

    @cached_property
    def acronyms(self) -> dict[int, list[int]]:
        """For each name that is the initials of others, those.

        Examples
        --------
        >>> names = ["USA", "United States of America", "United States America"]
        >>> units([ContextMention(name) for name in names]).acronyms
        {0: [1, 2]}
        """
        meant: dict[str, list[int]] = defaultdict(list)
        for unit, name in enumerate(self.names):
            if letters := initials(name):
                meant[letters].append(unit)
        return {unit: meant[name] for unit, name in enumerate(self.names) if name in meant}


def units(mentions: Sequence[ContextMention]) -> Units:
    """Gather mentions by normalised name and kind.

    Examples
    --------
    >>> gathered = units([ContextMention("NAS"), ContextMention("the nas"), ContextMention("Berlin", "place")])
    >>> gathered.names, gathered.of_mention.tolist(), gathered.counts.tolist()
    (('nas', 'berlin'), [0, 0, 1], [2.0, 1.0])
    """
    index: dict[tuple[str, str | None], int] = {}
    written: list[Counter[str]] = []
    contexts: list[Counter[tuple[str, str]]] = []
    of_mention = np.empty(len(mentions), dtype=np.int64)
    for at, mention in enumerate(mentions):
        name = normalise(mention.name)
        if not name:
            raise HopgateError(f"mention {at} has an empty name: drop it before canonicalising")
        unit = index.setdefault((name, mention.kind), len(index))
        if unit == len(written):
            written.append(Counter())
            contexts.append(Counter())
        written[unit][mention.name] += 1
        contexts[unit].update(pair for pair in mention.context if any(pair))
        of_mention[at] = unit
    return Units(
        names=tuple(name for name, _ in index),
        kinds=tuple(kind for _, kind in index),
        counts=np.array([spellings.total() for spellings in written], dtype=np.float64),
        spellings=tuple(min(row.items(), key=lambda item: (-item[1], item[0]))[0] for row in written),
        contexts=tuple(contexts),
        of_mention=of_mention,
    )


def closeness(vectors: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Make a function that turns cosines of these vectors into closeness: 0 for unrelated names, 1 for the same.

    Embedders differ in how alike they find unrelated names (cosine 0.5 for one, 0.1 for another), so that a fixed
    threshold fits only one. Of the way from two standard deviations above the mean of random pairs to 1, the first
    `UNRELATED` part counts as unrelated: related things (Germany, France) are there.

    Examples
    --------
    >>> near = closeness(np.eye(64, dtype=np.float32))
    >>> near(np.array([0.2, 0.6, 1.0])).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    low = 0.0
    if len(vectors) > 1:
        # Names near one another in the input are often related: pairs are drawn at random, the same for the same input.
        first, second = np.random.default_rng(0).integers(0, len(vectors), size=(2, 1 << 14))
        cosines = np.einsum("ij,ij->i", vectors[first], vectors[second])[first != second]
        low = float(min(cosines.mean() + 2 * cosines.std(), 0.95))
    low += UNRELATED * (1 - low)
    return lambda cosines: np.clip((cosines - low) / (1 - low), 0, 1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class NameVectors:
    """Unit rows of some units' names, and which units these are, in order."""

    rows: FloatArray
    units: IntArray

    @cached_property
    def scale(self) -> Callable[[FloatArray], FloatArray]:
        """How cosines become closeness here."""
        return closeness(self.rows)

    def near(self, i: IntArray, j: IntArray) -> FloatArray:
        """Closeness of pairs of units; NaN where one has no vector."""
        place = np.full(max(i.max(initial=0), j.max(initial=0), self.units.max(initial=0)) + 1, -1, dtype=np.int64)
        place[self.units] = np.arange(len(self.units))
        near = np.full(len(i), np.nan, dtype=np.float32)
        both = np.flatnonzero((place[i] >= 0) & (place[j] >= 0))
        for part in np.array_split(both, len(both) // 65536 + 1):
            near[part] = self.scale(np.einsum("ij,ij->i", self.rows[place[i[part]]], self.rows[place[j[part]]]))
        return near


def candidate_pairs(given: Units, vectors: NameVectors | None = None) -> tuple[IntArray, IntArray]:
    """Give the pairs of units that are worth scoring: each once, the smaller unit first, in order."""
    short = [(a, b) for longer in (given.expansions, given.acronyms) for a, others in longer.items() for b in others]
    # Names that differ only in spaces, and those of one name whose kinds differ, share it as if it were a token.
    bags = [{*own, name.replace(" ", "")} for own, name in zip(given.tokens, given.names, strict=True)]
    blocks = [shared_item(bags), pair_codes(short), ngram_neighbours(given.names)]
    if vectors is not None:
        blocks.append(vector_neighbours(vectors))
    return distinct(blocks)


def distinct(blocks: Iterable[IntArray]) -> tuple[IntArray, IntArray]:
    """Make the union of blocks, which are codes of pairs."""
    # As numbers: a set of tuples would take twenty times the memory. Not by `np.unique`, which looks each up in a table
    # before it sorts: ten times as long.
    codes = np.sort(np.concatenate(list(blocks)))
    codes = codes[np.diff(codes, prepend=-1) != 0]
    return codes >> 32, codes & 0xFFFFFFFF


def pair_codes(pairs: Iterable[tuple[int, int]]) -> IntArray:
    """Write each pair as one number: pairs in order are codes in order.

    Examples
    --------
    >>> first, same, later = pair_codes([(3, 1), (1, 3), (2, 0)]).tolist()
    >>> later < first == same
    True
    """
    return np.array([a << 32 | b if a < b else b << 32 | a for a, b in pairs], dtype=np.int64)


def shared_item(bags: Iterable[Iterable[str]]) -> IntArray:
    """Bags that share an item which is not in too many bags, and bags that are the same.

    Examples
    --------
    >>> [(code >> 32, code & 0xFFFFFFFF) for code in shared_item([["new", "york"], ["york"], ["paris"]]).tolist()]
    [(0, 1)]
    """
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for at, bag in enumerate(map(frozenset, bags)):
        items: tuple[Hashable, ...] = (bag, *bag)
        for item in items:
            holders[item].append(at)
    of_size: dict[int, list[list[int]]] = defaultdict(list)
    for group in holders.values():
        if 1 < len(group) <= MAX_BLOCK:
            of_size[len(group)].append(group)
    codes = [np.zeros(0, np.int64)]
    for size, groups in of_size.items():
        # The pairs of all groups of one size at once.
        rows = np.array(groups, np.int64)
        first, second = np.triu_indices(size, 1)
        codes.append((rows[:, first] << 32 | rows[:, second]).ravel())
    return np.concatenate(codes)


def ngram_neighbours(names: Sequence[str]) -> IntArray:
    """Names that are spelt alike: nearest by TF-IDF of character 3-grams."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    most = MAX_NGRAM_NAMES if len(names) > MAX_NGRAM_NAMES else 1.0
    vectoriser = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), max_df=most, dtype=np.float32)
    try:
        rows = vectoriser.fit_transform(names).tocsr()
    except ValueError:  # no n-gram is left: nothing is spelt alike
        return np.zeros(0, np.int64)
    blocks = [np.zeros(0, np.int64)]
    for start in range(0, rows.shape[0], ROWS_AT_ONCE):
        near = (rows[start : start + ROWS_AT_ONCE] @ rows.T).tocoo()
        blocks.append(_nearest(start + near.row.astype(np.int64), near.col.astype(np.int64), near.data, MIN_COSINE))
    return np.concatenate(blocks)


def vector_neighbours(vectors: NameVectors) -> IntArray:
    """Units that are near by embedding."""
    blocks = [np.zeros(0, np.int64)]
    for start in range(0, len(vectors.rows), ROWS_AT_ONCE):
        near = vectors.scale(vectors.rows[start : start + ROWS_AT_ONCE] @ vectors.rows.T)
        row, other = np.nonzero(near >= MIN_CLOSENESS)
        blocks.append(_nearest(vectors.units[start + row], vectors.units[other], near[row, other], MIN_CLOSENESS))
    return np.concatenate(blocks)


def _nearest(unit: IntArray, others: IntArray, scores: FloatArray, least: float) -> IntArray:
    """Of each unit's scored others the best few; the units come in order."""
    kept = np.flatnonzero((scores >= least) & (others != unit))
    unit, others = unit[kept], others[kept]
    order = np.lexsort((others, -scores[kept], unit))
    unit, others = unit[order], others[order]
    best = np.arange(len(unit)) - np.searchsorted(unit, unit) < NEIGHBOURS
    codes: IntArray = np.minimum(unit, others)[best] << 32 | np.maximum(unit, others)[best]
    return codes
