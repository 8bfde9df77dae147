"""Slices: sets of the reported questions by what is known of them, named by the text that declares them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.memory import Memory, cleared
from hopgate.tfidf import latent

Slices = Mapping[str, frozenset[str]]
"""What declares a slice → the questions in it."""
KINDS = ("type", "hops")
ALL, NON_ADJACENT = "all", "hops that are not adjacent"
GUARDED = 5
"""A kind of question of which there are fewer is not guarded against harm unless it was declared."""
NEIGHBOURS = 10
"""Two memories are adjacent when either is among the other's nearest so many."""


def slice_of(text: str, queries: Mapping[str, Query]) -> frozenset[str]:
    """Give the questions of a slice: those with a value in a field of their metadata, as in `hops=2`, or `all`."""
    if text == ALL:
        return frozenset(queries)
    name, _, value = text.partition("=")
    if not name or not value:
        raise HopgateError(f"{text!r} is no slice: write a field of the questions' metadata and its value, as hops=2")
    return frozenset(key for key, query in queries.items() if str(query.metadata.get(name)) == value)


def reported_slices(
    queries: Mapping[str, Query], reported: Qrels, declared: Iterable[str] = (), memories: Iterable[Memory] = ()
) -> Slices:
    """Give all reported questions, the declared slices, and each kind of question of which there are enough.

    Kinds are types, numbers of hops, and the hops between `memories` that are not adjacent by latent semantic
    analysis, which is no embedder under test: what a graph should help with. Of slices with the same questions only the
    first is given. Slices can be added, and none taken away.
    """
    asked = {name: queries[name] for name in reported}
    slices = {text: slice_of(text, asked) for text in (ALL, *declared)}
    if empty := [text for text, names in slices.items() if not names]:
        raise HopgateError(f"no reported question is in the slice {empty[0]}: declare one that has some")
    kinds = {f"{kind}={query.metadata[kind]}" for query in asked.values() for kind in KINDS if query.metadata.get(kind)}
    candidates = {text: slice_of(text, asked) for text in sorted(kinds)}
    if (shown := list(memories)) and any((query.hops or 1) > 1 for query in asked.values()):
        candidates[NON_ADJACENT] = non_adjacent(reported, latent_space(shown))
    for text, names in candidates.items():
        if len(names) >= GUARDED and names not in slices.values():
            slices[text] = names
    return slices


@dataclass(frozen=True, eq=False)
class VectorSpace:
    """The memories' vectors in one embedding space, of unit length, and the row of each id."""

    rows: Mapping[str, int]
    vectors: NDArray[np.float32]

    def adjacent(self, ids: Iterable[str], neighbours: int) -> NDArray[np.bool_]:
        """Say for each pair whether either is among the other's so many nearest in the whole space.

        Ranks are used and not a cosine threshold, because what counts as a high cosine differs from embedder to
        embedder.
        """
        rows = [self.rows[name] for name in ids]
        similarity = self.vectors[rows] @ self.vectors.T
        similarity[np.arange(len(rows)), rows] = -np.inf  # nothing is its own neighbour
        near = (similarity[:, None, :] > similarity[:, rows][:, :, None]).sum(axis=2) < neighbours
        np.fill_diagonal(near, True)
        return np.asarray(near | near.T)


def latent_space(memories: Iterable[Memory]) -> VectorSpace:
    """Fit a space that needs no model, on the memories that pass the sensitivity guard: latent semantic analysis."""
    pairs = list(cleared((memory.external_id, memory) for memory in memories))
    return VectorSpace({key: row for row, (key, _) in enumerate(pairs)}, latent(text for _, text in pairs))


def non_adjacent(qrels: Qrels, space: VectorSpace, neighbours: int = NEIGHBOURS) -> frozenset[str]:
    """Give the questions whose gold memories cannot be connected by steps between adjacent ones."""
    from scipy.sparse.csgraph import connected_components

    far = set()
    for query, gold in qrels.items():
        names = sorted(relevant(gold) & space.rows.keys())
        if len(names) >= 2 and connected_components(space.adjacent(names, neighbours))[0] > 1:
            far.add(query)
    return frozenset(far)
