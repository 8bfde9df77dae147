"""Slices as values: subsets of the judged queries that print as themselves and combine with `|`, `&` and `-`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, Query
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.memory import Memory, cleared
from hopgate.tfidf import tfidf, words

# A slice of fewer queries than this is not reported unless it was declared.
SMALLEST_SLICE = 8
LATENT = "latent"
_OPERATORS: Mapping[str, Callable[[bool, bool], bool]] = {
    "|": lambda left, right: left or right,
    "&": lambda left, right: left and right,
    "-": lambda left, right: left and not right,
}


@dataclass(frozen=True, eq=False)
class VectorSpace:
    """The memories' vectors in one embedding space, rows of unit length.

    Parameters
    ----------
    name : str
        The embedder's identity.
    ids : sequence of str
        One a row.
    vectors : array (n, dimension)
    """

    name: str
    ids: Sequence[str]
    vectors: NDArray[np.float32]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Id → row."""
        return {name: row for row, name in enumerate(self.ids)}


@dataclass(frozen=True)
class Known:
    """What a slice may look at: queries, gold, and embedding spaces by name."""

    queries: Mapping[str, Query]
    qrels: Qrels
    spaces: Mapping[str, VectorSpace] = member(default_factory=dict)


class Slice(ABC):
    """A subset of the judged queries."""

    @abstractmethod
    def holds(self, query: Query, known: Known) -> bool:
        """Say whether a query belongs to it."""

    def select(self, known: Known) -> frozenset[str]:
        """Give the ids of the judged queries that belong to it."""
        return frozenset(name for name in known.qrels if self.holds(known.queries[name], known))

    def __or__(self, other: Slice) -> Slice:
        return CombinedSlice("|", self, other)

    def __and__(self, other: Slice) -> Slice:
        return CombinedSlice("&", self, other)

    def __sub__(self, other: Slice) -> Slice:
        return CombinedSlice("-", self, other)


@dataclass(frozen=True)
class CombinedSlice(Slice):
    """Two slices put together."""

    operator: str
    left: Slice
    right: Slice

    def holds(self, query: Query, known: Known) -> bool:
        """Ask both."""
        return _OPERATORS[self.operator](self.left.holds(query, known), self.right.holds(query, known))

    def __repr__(self) -> str:
        right = f"({self.right!r})" if isinstance(self.right, CombinedSlice) else repr(self.right)
        return f"{self.left!r} {self.operator} {right}"


@dataclass(frozen=True)
class All(Slice):
    """Every judged query."""

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Hold every query."""
        return True

    def __repr__(self) -> str:
        return "all"


@dataclass(frozen=True)
class Field(Slice):
    """Queries with a value in their metadata.

    Examples
    --------
    >>> Field("owner", "ada"), Type("bridge") | Stratum("exact") - Scope("home")
    (owner=ada, type=bridge | (stratum=exact - scope=home))
    """

    name: str
    value: str

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the value as text."""
        return str(query.metadata.get(self.name)) == self.value

    def __repr__(self) -> str:
        return f"{self.name}={self.value}"


Type, Stratum, Scope = (partial(Field, name) for name in ("type", "stratum", "scope"))


@dataclass(frozen=True)
class HopCount(Slice):
    """Queries of this many hops, or of at least as many; a query without a hop count is left out.

    Examples
    --------
    >>> HopCount(2), HopCount(2, or_more=True)
    (hops=2, hops>=2)
    """

    value: int
    or_more: bool = False

    def holds(self, query: Query, known: Known) -> bool:  # noqa: ARG002
        """Compare the hops."""
        return query.hops is not None and (query.hops >= self.value if self.or_more else query.hops == self.value)

    def __repr__(self) -> str:
        return f"hops{'>=' if self.or_more else '='}{self.value}"


@dataclass(frozen=True)
class NonAdjacent(Slice):
    """The slice a graph should help with: multi-hop queries whose gold does not hang together in an embedding space.

    It holds the queries whose gold memories cannot be connected by steps between adjacent ones: some hop is a jump that
    similarity does not make. The space must not be the one under test, or the slice would favour the graph by
    construction.

    Examples
    --------
    >>> NonAdjacent("minilm")
    non-adjacent(minilm, 10)
    """

    space: str
    neighbours: int = 10

    def holds(self, query: Query, known: Known) -> bool:
        """Try to connect the gold memories by adjacent steps."""
        if self.space not in known.spaces:
            raise HopgateError(f"the slice {self} needs vectors of the embedding space {self.space!r}")
        space = known.spaces[self.space]
        rows = [space.rows[name] for name in sorted(relevant(known.qrels[query.id])) if name in space.rows]
        if len(rows) < 2:
            return False
        links = adjacent(space.vectors, rows, self.neighbours)
        reached = links[0]
        for _ in rows:
            reached = reached | links[reached].any(axis=0)
        return not reached.all()

    def __repr__(self) -> str:
        return f"non-adjacent({self.space}, {self.neighbours})"


def adjacent(vectors: NDArray[np.float32], rows: Sequence[int], neighbours: int) -> NDArray[np.bool_]:
    """Say for each pair of rows whether either is among the other's nearest neighbours in the whole space.

    Ranks are used and not a cosine threshold, because what counts as a high cosine differs from embedder to embedder
    (unrelated English passages lie near 0.5 in one and near 0 in another).

    Examples
    --------
    >>> line = np.array([[1, 0], [0.9, 0.1], [0.8, 0.3], [0, 1]], dtype=np.float32)
    >>> adjacent(line, [0, 3], neighbours=1).tolist(), adjacent(line, [0, 1], neighbours=1).tolist()
    ([[True, False], [False, True]], [[True, True], [True, True]])
    """
    chosen = list(rows)
    similarity = vectors[chosen] @ vectors.T
    similarity[np.arange(len(chosen)), chosen] = -np.inf  # nothing is its own neighbour
    own = similarity[:, chosen]
    closer = (similarity[:, None, :] > own[:, :, None]).sum(axis=2)
    near = closer < neighbours
    np.fill_diagonal(near, True)
    return np.asarray(near | near.T)


def latent_space(memories: Iterable[Memory], *, dimension: int = 128, seed: int = 0) -> VectorSpace:
    """Fit a space that needs no model, on the memories that pass the sensitivity guard: latent semantic analysis.

    It shares nothing with a dense leg's model but the texts. Deerwester et al., "Indexing by latent semantic analysis",
    JASIS 41(6), 1990.

    Examples
    --------
    >>> space = latent_space([Memory("a", "red boat"), Memory("b", "red boat sails"), Memory("c", "tax form")])
    >>> near, far = space.vectors[0] @ space.vectors[1], space.vectors[0] @ space.vectors[2]
    >>> bool(near > 0.9 > 0.1 > far)
    True
    """
    from scipy.sparse.linalg import svds

    pairs = list(cleared((memory.external_id, memory) for memory in memories))
    weights = tfidf((words(text) for _, text in pairs), damped=True)
    size = min(dimension, min(weights.shape) - 1)
    if size >= 2:
        start = np.random.default_rng(seed).standard_normal(min(weights.shape))
        left, strengths, _ = svds(weights.astype(np.float64), k=size, v0=start)
        vectors = left * strengths
    else:
        vectors = weights.toarray()
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
    return VectorSpace(LATENT, [key for key, _ in pairs], unit)


def named_slices(declared: Iterable[str]) -> list[Slice]:
    """Read slices as they print: a field of the metadata and its value, `hops>=2`, or several put together.

    Operators are taken from left to right, between spaces.

    Examples
    --------
    >>> named_slices(["type=bridge & hops>=2 - scope=home", "all - hops=1"])
    [type=bridge & hops>=2 - scope=home, all - hops=1]
    """
    found = []
    for text in declared:
        first, *rest = re.split(r"\s+([|&-])\s+", text.strip())
        made = _named(first)
        for operator, name in zip(rest[::2], rest[1::2], strict=True):
            made = CombinedSlice(operator, made, _named(name))
        found.append(made)
    return found


def _named(text: str) -> Slice:
    if text == "all":
        return All()
    if hops := re.fullmatch(r"hops(>?)=(\d+)", text):
        return HopCount(int(hops[2]), or_more=bool(hops[1]))
    name, _, value = text.partition("=")
    if not name or not value:
        raise HopgateError(f"{text!r} is no slice: write a field of the questions' metadata and its value, as hops=2")
    return Field(name, value)


def metadata_slices(
    queries: Mapping[str, Query], reported: Qrels, *, declared: Iterable[str] = (), smallest: int = SMALLEST_SLICE
) -> dict[Slice, frozenset[str]]:
    """Give all queries, the declared slices, and each stratum, type and number of hops that has enough queries.

    Of slices with the same queries only the first is given. Slices can be added, and none taken away.

    Parameters
    ----------
    reported : Qrels
        The queries that are reported.
    declared : iterable of str
        Slices as `named_slices` reads them; one without a query is refused.
    smallest : int
        How many queries a slice has that is not declared.
    """
    asked, known = [queries[name] for name in reported], Known(queries, reported)
    chosen: list[Slice] = [All(), *named_slices(declared)]
    found = {part: part.select(known) for part in chosen}
    if empty := [part for part, held in found.items() if not held and not isinstance(part, All)]:
        raise HopgateError(f"no reported question is in the slice {empty[0]}: declare one that has some")
    kinds: list[Slice] = [Stratum(value) for value in sorted({query.stratum for query in asked if query.stratum})]
    kinds += [Type(value) for value in sorted({query.type for query in asked if query.type})]
    kinds += [HopCount(value) for value in sorted({query.hops for query in asked if query.hops})]
    for part in kinds:
        held = part.select(known)
        if len(held) >= smallest and held not in found.values():
            found[part] = held
    return found


def reported_slices(
    dataset: Dataset,
    reported: Qrels,
    *,
    tested_space: str,
    declared: Iterable[str] = (),
    smallest: int = SMALLEST_SLICE,
) -> dict[Slice, frozenset[str]]:
    """Give the slices that a gate reports: those of `metadata_slices`, and the hops that are not adjacent.

    Parameters
    ----------
    tested_space : str
        The embedding space under test, in which no slice may be defined.
    """
    found = metadata_slices(dataset.queries, reported, declared=declared, smallest=smallest)
    if tested_space != LATENT and any((dataset.queries[name].hops or 1) > 1 for name in reported):
        part = NonAdjacent(LATENT)
        held = part.select(Known(dataset.queries, reported, {LATENT: latent_space(dataset.memories)}))
        if len(held) >= smallest and held not in found.values():
            found[part] = held
    return found
