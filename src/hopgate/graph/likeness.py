"""How alike two names are: what is compared, which pairs are worth it, the evidence for each, and one score made of it.

Embeddings alone miss namesakes, tokens alone miss synonyms and misspellings: each way of finding pairs finds what the
others miss.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.names import WORDS, clash, initials, normalise, numbers, tokens

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]

# A token in more names than this makes no block: it is weak evidence, and its pairs grow with the square. Names that it
# makes up wholly are still found, by containment.
MAX_BLOCK = 50
# Neighbours kept of each name by embeddings. Neighbours by character 3-grams beside them found six pairs of 2,571 on
# musique, five of them wrong, and none on 2wiki and ReVerb.
NEIGHBOURS = 10
# Below this closeness by embedding (see `vector_neighbours`) two names that share nothing else are not one.
MIN_CLOSENESS = 0.2
# The part of the way to 1 that related but different things reach (Germany, France). 0.2 and 0.3 differ by less than
# 0.002 on the labelled sets with bge-small.
UNRELATED = 0.2
ROWS_AT_ONCE = 1024

# Short names: how well one abbreviates a longer name, and which of several longer names it belongs to. ReVerb moves by
# less than 0.001 with the first two numbers.

# A long name may have this many times the tokens of its short form before the score falls (Alfred Russel Wallace).
COVERING = 2.5
# The factor where the short name is in lower case and the long one is not (research center, Pew Research Center).
COMMON_NOUN = 0.5
# A name with more expansions than this is a generic word: its shares are small with or without allies, and finding
# allies costs the square.
MAX_ALLIED = 200

Shares = dict[tuple[int, int], float]
"""How surely the first name means the second, in 0..1."""


@dataclass(frozen=True, slots=True)
class ContextMention:
    """A memory talks about something by a name, as written; one of a `count` of mentions stands for so many.

    Its kind (person, project, tool, place …), where an extractor gave one, is soft evidence. What is in a place is not
    the place.
    """

    name: str
    kind: str | None = None
    located_in: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class Units:
    """Names with their kinds, each once, in order of first occurrence; `names` are normalised.

    Everything is done on units: 35,000 mentions have a few thousand names.
    """

    names: tuple[str, ...]
    kinds: tuple[str | None, ...]
    counts: NDArray[np.float64] = field(repr=False)
    spellings: tuple[str, ...] = field(repr=False)  # the most frequent way each was written
    places: tuple[AbstractSet[str], ...] = field(repr=False)  # the normal names of what each is in

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def tokens(self) -> list[tuple[str, ...]]:
        """The tokens of each name that carry its meaning."""
        return [tokens(name) for name in self.names]

    @cached_property
    def expansions(self) -> dict[int, list[int]]:
        """For each name, the longer names that hold all its tokens and more; a number or date is short for nothing."""
        sets = [frozenset(name_tokens) for name_tokens in self.tokens]
        holders: dict[str, set[int]] = defaultdict(set)
        for unit, name_tokens in enumerate(sets):
            for token in name_tokens:
                holders[token].add(unit)
        longer = {}
        for unit, name_tokens in enumerate(sets):
            if name_tokens <= numbers(self.tokens[unit]):
                continue
            # The rarest first: a token that thousands of names have is then looked up for few of them.
            first, *groups = sorted((holders[token] for token in name_tokens), key=len)
            having = first.intersection(*groups)
            if larger := sorted(other for other in having if len(sets[other]) > len(name_tokens)):
                longer[unit] = larger
        return longer

    @cached_property
    def acronyms(self) -> dict[int, list[int]]:
        """For each name that is the initials of others, those."""
        meant: dict[str, list[int]] = defaultdict(list)
        for unit, name in enumerate(self.names):
            if letters := initials(name):
                meant[letters].append(unit)
        return {unit: meant[name] for unit, name in enumerate(self.names) if name in meant}

    def abbreviation(self, short: int, long: int) -> float:
        """Score in 0..1 how well a name abbreviates a longer one."""
        is_common_noun = self.spellings[short].islower() and not self.spellings[long].islower()
        covered = min(1.0, COVERING * len(self.tokens[short]) / len(self.tokens[long]))
        return covered * (COMMON_NOUN if is_common_noun else 1)

    @cached_property
    def meant(self) -> tuple[Shares, dict[int, int]]:
        """How surely each short name means each of its expansions, and the one that each most likely means.

        "Monroe" may be short for Marilyn or for James: an expansion's share is its part of all mentions of expansions,
        each weighed by how well the short name abbreviates it; rivals of the strongest get none. Names that expand one
        another (Barack Obama, Barack Hussein Obama) are allies and count together.
        """
        shares: Shares = {}
        strongest: dict[int, int] = {}
        for short, others in self.expansions.items():
            fits = np.array([self.abbreviation(short, long) for long in others])
            sets = [frozenset(self.tokens[long]) for long in others if len(others) <= MAX_ALLIED]
            allied = np.array([[a <= b or b <= a for b in sets] for a in sets] or np.eye(len(others)), dtype=bool)
            mass = self.counts[others] * fits
            part = allied @ mass / mass.sum()
            # Ties: more mentions of its own, then the shorter name, then the first.
            best = max(range(len(others)), key=lambda at: (part[at], mass[at], -len(self.tokens[others[at]]), -at))
            strongest[short] = others[best]
            shares |= {
                (short, long): float(share)
                for long, share in zip(others, np.where(allied[best], part * fits, 0.0), strict=True)
            }
        return shares, strongest

    @cached_property
    def same_expansion(self) -> Shares:
        """The short names of one long name (Bill, Gates), and how surely both mean it."""
        shares, strongest = self.meant
        shorts: dict[int, list[int]] = defaultdict(list)
        for short, long in strongest.items():
            shorts[long].append(short)
        return {
            (a, b): shares[a, long] * shares[b, long]
            for long, group in shorts.items()
            for a, b in combinations(sorted(group), 2)
        }


def units(mentions: Sequence[ContextMention]) -> tuple[Units, IntArray]:
    """Gather mentions by normalised name and kind; give the unit of each as well."""
    index: dict[tuple[str, str | None], int] = {}
    written: list[Counter[str]] = []
    places: list[set[str]] = []
    of_mention = np.empty(len(mentions), dtype=np.int64)
    for at, mention in enumerate(mentions):
        name = normalise(mention.name)
        if not name:
            raise HopgateError(f"mention {at} has an empty name: drop it before canonicalising")
        unit = index.setdefault((name, mention.kind), len(index))
        if unit == len(written):
            written.append(Counter())
            places.append(set())
        written[unit][mention.name] += mention.count
        places[unit].update(map(normalise, mention.located_in))
        of_mention[at] = unit
    gathered = Units(
        names=tuple(name for name, _ in index),
        kinds=tuple(kind for _, kind in index),
        counts=np.array([spellings.total() for spellings in written], dtype=np.float64),
        spellings=tuple(min(row.items(), key=lambda item: (-item[1], item[0]))[0] for row in written),
        places=tuple(places),
    )
    return gathered, of_mention


class Near(NamedTuple):
    """Pairs of units that are near by embedding, as ascending codes, and their closeness in 0..1."""

    pairs: IntArray
    closeness: FloatArray

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """The closeness of pairs in order, these among them; 0 of all others."""
        values = np.zeros(len(i), dtype=np.float32)
        values[np.searchsorted(i << 32 | j, self.pairs)] = self.closeness
        return values


NOT_EMBEDDED = Near(np.zeros(0, np.int64), np.zeros(0, np.float32))


def vector_neighbours(vectors: FloatArray, units: IntArray) -> Near:
    """The neighbours of units by the vectors of their names, which are unit rows.

    Embedders differ in how alike they find unrelated names (cosine 0.5 for one, 0.1 for another), so that a fixed
    threshold fits only one. Of the way from two standard deviations above the mean of random pairs to 1, the first
    `UNRELATED` part counts as unrelated: related things (Germany, France) are there.
    """
    # Names near one another in the input are often related: pairs are drawn at random, the same for the same input.
    first, second = np.random.default_rng(0).integers(0, len(vectors), size=(2, 1 << 14))
    cosines = np.einsum("ij,ij->i", vectors[first], vectors[second])[first != second]
    low = float(min(cosines.mean() + 2 * cosines.std(), 0.95))
    low += UNRELATED * (1 - low)
    closeness: dict[int, float] = {}
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        near = np.clip((vectors[start : start + ROWS_AT_ONCE] @ vectors.T - low) / (1 - low), 0, 1)
        np.fill_diagonal(near[:, start:], 0)  # itself
        nearest = np.argsort(-near, axis=1)[:, :NEIGHBOURS]
        row, place = np.nonzero(np.take_along_axis(near, nearest, axis=1) >= MIN_CLOSENESS)
        other = nearest[row, place]
        codes = pair_codes(zip(units[start + row].tolist(), units[other].tolist(), strict=True))
        closeness |= dict(zip(codes.tolist(), near[row, other].tolist(), strict=True))
    return Near(np.array(sorted(closeness), np.int64), np.array([closeness[code] for code in sorted(closeness)], "f4"))


# Which pairs are worth it: blocks of codes of pairs.


def candidate_pairs(units: Units, near: Near = NOT_EMBEDDED) -> tuple[IntArray, IntArray]:
    """Give the pairs of units that are worth scoring: each once, the smaller unit first, in order."""
    short = [(a, b) for longer in (units.expansions, units.acronyms) for a, others in longer.items() for b in others]
    # Names that differ only in spaces, and those of one name whose kinds differ, share it as if it were a token.
    bags = [{*words, name.replace(" ", "")} for words, name in zip(units.tokens, units.names, strict=True)]
    return distinct((shared_item(bags), pair_codes(short), pair_codes(units.same_expansion), near.pairs))


def distinct(blocks: Iterable[IntArray]) -> tuple[IntArray, IntArray]:
    """Make the union of blocks, which are codes of pairs."""
    # As numbers: a set of tuples would take twenty times the memory. Not by `np.unique`, which looks each up in a table
    # before it sorts: ten times as long.
    codes = np.sort(np.concatenate(list(blocks)))
    codes = codes[np.diff(codes, prepend=-1) != 0]
    return codes >> 32, codes & 0xFFFFFFFF


def pair_codes(pairs: Iterable[tuple[int, int]]) -> IntArray:
    """Write each pair as one number, whichever comes first: pairs in order are codes in order."""
    return np.array([a << 32 | b if a < b else b << 32 | a for a, b in pairs], dtype=np.int64)


def shared_item(bags: Iterable[Iterable[str]]) -> IntArray:
    """Bags that share an item which is not in too many bags, and bags that are the same."""
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for at, bag in enumerate(map(frozenset, bags)):
        items: tuple[Hashable, ...] = (bag, *bag)
        for item in items:
            holders[item].append(at)
    groups = (group for group in holders.values() if len(group) <= MAX_BLOCK)
    return pair_codes(pair for group in groups for pair in combinations(group, 2))


# The evidence that two names are one concept, for many pairs: a column for each kind of evidence, in 0..1.

KINDS = ("same name", "shared tokens", "expansion", "initials", "acronym", "same expansion", "embedding")


def evidence(units: Units, i: IntArray, j: IntArray, near: FloatArray) -> FloatArray:
    """Measure each kind of evidence for the pairs, which are in order.

    `near` is the pairs' closeness by embedding in 0..1. A pair that is no expansion has
    NaN in that column; a rival of the strongest expansion has 0. Pairs of a short name and its expansion, of two short
    names of one, and of an acronym and what it stands for must be among the pairs.
    """
    columns = np.zeros((len(i), len(KINDS)), dtype=np.float32)

    def put(column: int, shares: Shares) -> None:
        columns[np.searchsorted(i << 32 | j, pair_codes(shares)), column] = list(shares.values())

    joined = numbered(name.replace(" ", "") for name in units.names)
    columns[:, 0] = joined[i] == joined[j]
    columns[:, 1] = weighted_overlap(units.tokens, i, j)
    columns[:, 2] = np.nan
    put(2, units.meant[0])
    # Tokens that begin with other letters are other words: few pairs are left to be compared.
    letters = numbered("".join(sorted([token[0] for token in words])) for words in units.tokens)
    for row in np.flatnonzero((letters[i] == letters[j]) & (columns[:, 1] < 1)).tolist():
        columns[row, 3] = initialled(units.tokens[i[row]], units.tokens[j[row]])
    # An acronym means the long name that is mentioned most. Two letters in lower case are the initials of many names.
    for short, others in units.acronyms.items():
        spelt, counts = units.spellings[short], units.counts[others]
        sure = (1.0 if len(spelt) > 2 or spelt.isupper() else 0.5) * float(counts.max() / counts.sum())
        put(4, {(short, others[int(counts.argmax())]): sure})
    put(5, units.same_expansion)
    columns[:, 6] = near
    return columns


def numbered(texts: Iterable[str]) -> IntArray:
    """Give equal texts equal numbers, the empty one 0: pairs of numbers are compared a hundred times as fast."""
    known = {"": 0}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def weighted_overlap(bags: Sequence[Iterable[Hashable]], i: IntArray, j: IntArray) -> NDArray[np.float64]:
    """Overlap of two bags over their union, each item weighing 1 / ln(1 + number of bags that hold it).

    The IDF token overlap of Galárraga et al. (CIKM 2014), as CESI uses it.
    """
    sets = [frozenset(bag) for bag in bags]
    weight = {item: 1 / math.log1p(count) for item, count in Counter(item for bag in sets for item in bag).items()}
    # fsum: the order in which a set gives its items must not show in the last digit.
    totals = [math.fsum(map(weight.__getitem__, bag)) for bag in sets]
    overlaps = np.zeros(len(i))
    for row, (first, second) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        if shared := sets[first] & sets[second]:
            both = math.fsum(map(weight.__getitem__, shared))
            overlaps[row] = both / (totals[first] + totals[second] - both)
    return overlaps


# What a name's first letter counts for its full form: J. Smith, John Smith.
INITIAL_CREDIT = 0.85


def initialled(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Say how far two names are the same but for initials, which never stand for the last word: J. Smith, John Smith.

    Words that are only spelt alike are other words: of what was merged for that on musique half was wrong (White Horse,
    White House; Andrew Johnson, Andrew Johnston).
    """
    if len(first) != len(second) or first[-1] != second[-1]:
        return 0.0
    others = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    if any(a[0] != b[0] or min(len(a), len(b)) > 1 or not (a + b).isalpha() for a, b in others):
        return 0.0
    return 1 - (1 - INITIAL_CREDIT) * len(others) / len(first)


# How alike two names are: one score made of the evidence.

# Kinds that differ leave so much of a score, and names that clash (see `clashing`) so much.
OTHER_KIND, CLASHING = 0.85, 0.3


@dataclass(frozen=True)
class Scored:
    """Scored pairs of units: `i[k] < j[k]`, a score in 0..1, and the evidence behind it, a column a kind."""

    i: IntArray = field(repr=False)
    j: IntArray = field(repr=False)
    score: FloatArray = field(repr=False)
    evidence: FloatArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.i)


def scored(units: Units, i: IntArray, j: IntArray, near: FloatArray) -> Scored:
    """Score pairs of names, which are in order, with what embeddings say of each (see `evidence`).

    Names are alike by the strongest of their string evidence, and by their embeddings where they share no token (NYC,
    New York City): where they do, closeness repeats the tokens.
    """
    columns = evidence(units, i, j, near)
    same, shared, share, spelt, acronym, together, _ = columns.T
    contained = ~np.isnan(share)
    words = np.where(contained, np.nan_to_num(share), shared)
    strings = np.maximum.reduce([same, words, spelt, acronym, together])
    score = np.where(contained | (shared > 0), strings, np.maximum(strings, near))
    kinds = numbered(kind or "" for kind in units.kinds)
    score = np.where((kinds[i] != kinds[j]) & (kinds[i] > 0) & (kinds[j] > 0), score * OTHER_KIND, score)
    score = np.where(clashing(units, i, j), score * CLASHING, score)
    return Scored(i, j, score.astype(np.float32), columns)


_OWNED = re.compile(r"(.+?)['’]s .+")
_HYPHENED = re.compile(r"\w+(?:[-\u2010\u2011]\w+)+")
# Whoever says "I" in memories that name no owner; in a scope the name says in which: "I (home)".
_WHO_WRITES = re.compile(r"I(?: \(.*\))?")


def clashing(units: Units, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs are two things however alike their words.

    They differ by a number or by a word like "new"; one belongs to the other, or the two to others ("Mia's bike",
    "Noah's bike"); one has half of what a hyphen joins in the other (Bissau, Guinea-Bissau); one is where the other
    is (an airport, its county); or they are those who say "I" in two scopes.
    """

    def of_part(name: str) -> frozenset[str]:
        return frozenset(tokens(normalise(name)))

    words = [frozenset(name_tokens) for name_tokens in units.tokens]
    owners = [of_part(owned[1]) if (owned := _OWNED.fullmatch(name)) else frozenset() for name in units.spellings]
    joined = [[of_part(word) for word in _HYPHENED.findall(name)] for name in units.spellings]
    writers = [bool(_WHO_WRITES.fullmatch(name)) for name in units.spellings]

    def differ(a: int, b: int) -> bool:
        """Whether what the first is called or said to be tells it from the second."""
        return bool(
            (owners[a] and (owners[a].isdisjoint(owners[b]) if owners[b] else owners[a] >= words[b]))
            or any(not part.isdisjoint(words[b]) and not part <= words[b] for part in joined[a])
            or (units.names[a] != units.names[b] and (units.names[b] in units.places[a] or (writers[a] and writers[b])))
        )

    rows = zip(owners, joined, units.places, writers, units.tokens, strict=True)
    marked = np.array(
        [bool(any(told) or numbers(name) or WORDS["distinguishing"].intersection(name)) for *told, name in rows], bool
    )
    clashes = np.zeros(len(i), dtype=bool)
    for row in np.flatnonzero(marked[i] | marked[j]).tolist():
        a, b = int(i[row]), int(j[row])
        clashes[row] = clash(units.tokens[a], units.tokens[b]) or differ(a, b) or differ(b, a)
    return clashes
