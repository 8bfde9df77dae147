"""Mentions fade by how much of a scope mentions a concept: what one more memory changes of that, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.arc_splice import Csr, Nodes
from hopgate.graph.walk.hubs import FEW, SHARE, fading

Counts = NDArray[np.int64]


class ScopeCount(NamedTuple):
    """How many memories a scope has, and how many of them mention each concept."""

    memories: int
    mentioning: Counts

    def factors(self, concepts: Nodes) -> NDArray[np.float32]:
        """The factors of mentions of some concepts."""
        return fading(max(1, self.memories), self.mentioning[concepts])

    def hubs(self) -> NDArray[np.bool_]:
        """Which concepts fade."""
        return (self.mentioning > FEW) & (self.mentioning * SHARE > self.memories)


def mentioning(csr: Csr, scope: NDArray[Any], number: int, concepts: int) -> Counts:
    """Count the memories of a scope that mention each concept; memories are numbered first."""
    split = len(scope)
    _, place = csr.arcs(np.flatnonzero(scope == number))
    target = csr.indices[place]
    return np.bincount(target[target >= split] - split, minlength=concepts)


def faded_again(
    csr: Csr, scope: NDArray[Any], changes: Mapping[int, tuple[ScopeCount, ScopeCount]]
) -> NDArray[np.bool_]:
    """Fade mentions in scopes whose counts changed, in place: those of concepts whose factor did.

    Parameters
    ----------
    csr : Csr
        Whose weights nobody else reads.
    scope : array of int
        The number of every memory's scope.
    changes : mapping of int to (ScopeCount, ScopeCount)
        By the scope's number, the counts before and now.

    Returns
    -------
    array of bool
        The nodes whose arcs changed.
    """
    split = len(scope)
    touched = np.zeros(len(csr.indptr) - 1, bool)
    for number, (before, now) in changes.items():
        concepts = np.flatnonzero(before.hubs() | now.hubs())
        factor = now.factors(concepts)
        other = before.factors(concepts) != factor
        by = np.ones(len(touched), np.float32)
        by[split + concepts[other]] = factor[other]
        source, place = csr.arcs(split + concepts[other])
        memory = csr.indices[place].astype(np.int64)
        inside = memory < split
        if now.memories < split:
            inside[inside] = scope[memory[inside]] == number
        source, place, memory = source[inside], place[inside], memory[inside]
        csr.weights[place] = csr.plain[place] * by[source]
        if now.memories < split:
            back = csr.located(memory, source)[0]
        else:
            # Of a graph of one scope these are most memories: looking through all takes a quarter of the time.
            hubs = by != 1
            back = np.flatnonzero(hubs[csr.indices[: int(csr.indptr[split])]])
        csr.weights[back] = csr.plain[back] * by[csr.indices[back]]
        touched[source] = True
        touched[memory] = True
    return touched
