"""What comes in: mentions; and the units that are compared: one for each name and kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.names.normal import normalise

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]


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


def units(mentions: Sequence[ContextMention]) -> Units:
    """Gather mentions by normalised name and kind.

    Examples
    --------
    >>> found = units([ContextMention("NAS"), ContextMention("the nas"), ContextMention("Berlin", "place")])
    >>> found.names, found.of_mention.tolist(), found.counts.tolist()
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
        counts=np.array([seen.total() for seen in written], dtype=np.float64),
        spellings=tuple(_most_common(seen) for seen in written),
        contexts=tuple(contexts),
        of_mention=of_mention,
    )


def numbered(texts: Iterable[str]) -> IntArray:
    """Give equal texts equal numbers, the empty one 0: pairs of numbers are compared a hundred times as fast.

    Examples
    --------
    >>> numbered(["b", "", "a", "b"]).tolist()
    [1, 0, 2, 1]
    """
    known = {"": 0}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def _most_common(seen: Counter[str]) -> str:
    return min(seen, key=lambda spelling: (-seen[spelling], spelling))
