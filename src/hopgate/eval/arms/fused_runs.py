"""Lists that were collected once, fused into a run or an arm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hopgate.eval.data.runs import Run
from hopgate.eval.gate.evidence import Arm
from hopgate.recall.fuse import AnyFuser, Importance, active


def fused_run(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Iterable[str],
    *,
    prior: Importance | None = None,
    importance: Mapping[str, float] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    """Fuse saved lists into a run.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> fused_run(RRF(k=0), {"dense": {"q": [("a", 0.9), ("b", 0.8)]}}, ["q"])
    {'q': [('a', 1.0), ('b', 0.5)]}
    """
    run = {}
    names = [leg for leg in active(fuser) if leg in legs]
    for query in queries:
        hits = fuser.fuse({leg: legs[leg].get(query, ()) for leg in names})
        ranked = prior.apply(hits, importance or {}) if prior else hits
        run[query] = [(hit.id, hit.score) for hit in ranked]
    return run


def fused_arm(
    name: str, fuser: AnyFuser, legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]
) -> Arm:
    """Make the arm that fuses these lists; legs of weight 0 are left out of it."""
    used = {leg: legs[leg] for leg in active(fuser) if leg in legs}
    return Arm(name, fused_run(fuser, legs, queries), repr(fuser), used, settings=settings)
