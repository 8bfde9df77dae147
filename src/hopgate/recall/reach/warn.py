"""The sentences recall says once when a configuration bars a leg."""

from __future__ import annotations

from collections.abc import Mapping

from hopgate.recall.fuse import Bounded, ExactMatch, Fuser, Importance, active
from hopgate.recall.fuse.weights import number
from hopgate.recall.reach.bound import DEPTH, bound
from hopgate.recall.reach.needed_weight import Reachability, in_words


def warnings(
    fuser: Fuser,
    *,
    k: int = 10,
    depths: int | Mapping[str, int] = DEPTH,
    prior: Importance | None = None,
    exact: ExactMatch | None = None,
) -> tuple[str, ...]:
    """Give one sentence for each leg that is on and barred; none for a fuser that states no bounds.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> for sentence in warnings(RRF(graph=0.35)):
    ...     print(sentence)
    the graph leg is barred: at weight 0.35 nothing that it alone finds can enter the top 10 (weight needed: over 0.871)
    >>> warnings(RRF(graph=1.1))
    ()

    A heavy leg bars the others in turn:

    >>> len(warnings(RRF(graph=1.2)))
    2
    """
    if not isinstance(fuser, Bounded):
        return ()
    bounds = (bound(fuser, leg=leg, k=k, depths=depths, prior=prior, exact=exact) for leg in active(fuser))
    return tuple(
        f"the {found.leg} leg is barred: at weight {number(found.weight)} nothing that it alone finds can enter the "
        f"top {found.k} (weight needed: {in_words(found.favourable.best)})"
        for found in bounds
        if found.verdict is Reachability.BARRED
    )
