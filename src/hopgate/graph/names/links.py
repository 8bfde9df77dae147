"""Links that an extractor leaves out: memories that carry a concept's name, and names inside names.

An extractor reads one memory at a time: a fact about "Bob Marsh" in one memory never meets the facts about "Robert
Marsh" in the memory titled "Bob Marsh", and one about "Mill Street, Norwich" never reaches "Norwich". Names close both
gaps. What they add to recall is measured in docs/research/walking.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.names.index import NameIndex

# A mention that an extractor found weighs 1. Measured on dev: 6 to 10 are alike for titles, 0.25 to 0.5 for the others.
TITLED = 6.0
NAMED = 0.25
CONTAINED = 0.5

_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")


class Links(NamedTuple):
    """Pairs with weights, as `mention_graph` takes them; no pair twice."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float32]


def named(index: NameIndex, contents: Iterable[tuple[int, str]]) -> Links:
    r"""Link memories to the concepts whose names they carry.

    Parameters
    ----------
    contents : iterable of (int, str)
        A memory's number and its content; its title, where there is one, is the first line. Only cleared content:
        a sensitive memory takes no part in the graph.

    Returns
    -------
    Links
        Memory, concept, weight: ``TITLED`` where the first line is the name (a bracketed addition apart), ``NAMED``
        where the name stands anywhere in the content.

    Examples
    --------
    >>> from hopgate.graph.names.index import name_index
    >>> index = name_index([("Norwich", 0), ("Mill Street", 1)])
    >>> links = named(index, [(0, "Mill Street (road)\nMill Street lies in Norwich.")])
    >>> links.first.tolist(), links.second.tolist(), links.weight.tolist()
    ([0, 0], [0, 1], [0.25, 6.0])
    """
    weights: dict[tuple[int, int], float] = {}
    for memory, content in contents:
        for spotted in index.spot(content):
            weights.setdefault((memory, spotted.concept), NAMED)
        title = content.split("\n", 1)[0]
        for name in (title, _BRACKETED.sub("", title)):
            concept = index.exact(name)
            if concept is not None:
                weights[memory, concept] = TITLED
    return _links(weights)


def contained(index: NameIndex, names: Iterable[tuple[str, int]]) -> Links:
    """Link each concept to the concepts whose names stand inside its own.

    Examples
    --------
    >>> from hopgate.graph.names.index import name_index
    >>> names = [("Mill Street, Norwich", 0), ("Norwich", 1)]
    >>> links = contained(name_index(names), names)
    >>> links.first.tolist(), links.second.tolist(), links.weight.tolist()
    ([0], [1], [0.5])
    """
    weights: dict[tuple[int, int], float] = {}
    for name, concept in names:
        for spotted in index.spot(name, within=True):
            if spotted.concept != concept:
                weights[concept, spotted.concept] = CONTAINED
    return _links(weights)


def _links(weights: dict[tuple[int, int], float]) -> Links:
    pairs = sorted(weights)
    return Links(
        np.fromiter((first for first, _ in pairs), np.int32, len(pairs)),
        np.fromiter((second for _, second in pairs), np.int32, len(pairs)),
        np.fromiter((weights[pair] for pair in pairs), np.float32, len(pairs)),
    )
