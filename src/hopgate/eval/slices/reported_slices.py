"""Which slices a gate reports: all queries, each kind of query there is, and hops that are not adjacent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.data.runs import Qrels
from hopgate.eval.slices.latent import LATENT, latent_space
from hopgate.eval.slices.metadata import All, HopCount, Stratum, Type
from hopgate.eval.slices.non_adjacent import NonAdjacent
from hopgate.eval.slices.slice import Known, Slice

# A slice of fewer queries than this is not reported on its own.
SMALLEST_SLICE = 8


def reported_slices(
    dataset: Dataset, reported: Qrels, *, tested_space: str, non_adjacent: bool = True
) -> dict[Slice, frozenset[str]]:
    """Give the slices with their queries, all queries first; of slices with the same queries only the first.

    Parameters
    ----------
    dataset : Dataset
    reported : Qrels
        The split that is reported.
    tested_space : str
        The embedding space under test, in which no slice may be defined.
    non_adjacent : bool
        Whether to fit a space for the slice of non-adjacent hops, where there are multi-hop queries.
    """
    queries = [dataset.queries[name] for name in reported]
    slices: list[Slice] = [All()]
    slices += [Stratum(value) for value in sorted({query.stratum for query in queries if query.stratum})]
    slices += [Type(value) for value in sorted({query.type for query in queries if query.type})]
    slices += [HopCount(value) for value in sorted({query.hops for query in queries if query.hops})]
    spaces = {}
    if non_adjacent and tested_space != LATENT and any((query.hops or 1) > 1 for query in queries):
        spaces[LATENT] = latent_space(dataset.memories)
        slices.append(NonAdjacent(LATENT))
    known = Known(dataset.queries, reported, spaces)
    distinct: dict[frozenset[str], Slice] = {}
    for part in slices:
        selected = part.select(known)
        if len(selected) >= SMALLEST_SLICE or isinstance(part, All):
            distinct.setdefault(selected, part)
    return {part: selected for selected, part in distinct.items()}


def named_slices(slices: Mapping[Slice, frozenset[str]], names: Sequence[str]) -> dict[Slice, frozenset[str]]:
    """Keep all queries, and of the other slices those that are named; all where none is.

    Examples
    --------
    >>> named_slices({All(): frozenset({"q"})}, ["none"])
    Traceback (most recent call last):
    hopgate.errors.HopgateError: there is no slice 'none': there are all
    """
    known = {repr(part): part for part in slices}
    for name in names:
        if name not in known:
            raise HopgateError(f"there is no slice {name!r}: there are {', '.join(known)}")
    return {part: queries for part, queries in slices.items() if not names or repr(part) in {"all", *names}}
