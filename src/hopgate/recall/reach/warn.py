"""The warning that recall gives once when a configuration bars a leg."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from hopgate.recall.fuse import Bounded, ExactMatch, Fuser, Importance, active
from hopgate.recall.fuse.weights import number
from hopgate.recall.reach.bound import DEPTH, bound
from hopgate.recall.reach.needed_weight import Reachability, in_words
from hopgate.recall.settings import Settings


class BarredLegWarning(UserWarning):
    """A leg is on and nothing that it alone finds can enter the top k: the test that repeats this proves nothing."""


def warn_if_barred(settings: Settings, warned: set[str]) -> None:
    """Warn of each barred leg, unless these settings are among those `warned` of already; note them there.

    From a k of as many as there are legs on, recall lifts the first of every leg into the top k: none is barred. Of a
    single hit there is nothing to warn: it is one leg's or the other's.
    """
    if settings.k == 1 or settings.k >= len(active(settings.fuser)) or settings.sort_by != "relevance":
        return
    if repr(settings) in warned:
        return
    warned.add(repr(settings))
    exact = ExactMatch(settings.exact_match) if settings.exact_match else None
    for sentence in barred_legs(
        settings.fuser, k=settings.k, depths=settings.depth, prior=Importance(settings.prior), exact=exact
    ):
        # The warning points at the line that called `KnowledgeBase.recall`.
        warnings.warn(sentence, BarredLegWarning, stacklevel=3)


def barred_legs(
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
    >>> for sentence in barred_legs(RRF(graph=0.35)):
    ...     print(sentence)
    the graph leg is barred: at weight 0.35 nothing that it alone finds can enter the top 10 (weight needed: over 0.871)
    >>> barred_legs(RRF(graph=1.1))
    ()

    A heavy leg bars the others in turn:

    >>> len(barred_legs(RRF(graph=1.2)))
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
