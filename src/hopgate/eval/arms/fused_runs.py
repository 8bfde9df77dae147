"""Lists that were collected once, fused into a run or an arm; and an arm's run made again from its lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hopgate.eval.data.runs import Ranking, Run
from hopgate.eval.gate.evidence import Arm
from hopgate.recall.fuse import AnyFuser, ExactMatch, Importance, active, parse_value

# A cross-encoder reads this many of the fused top, as recall does.
READ = 30


def fused_run(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Iterable[str],
    *,
    prior: Importance | None = None,
    importance: Mapping[str, float] | None = None,
    bonus: ExactMatch | None = None,
    matched: Mapping[str, Sequence[str]] | None = None,
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
        if bonus:
            hits = bonus.apply(hits, set((matched or {}).get(query, ())), fuser)
        ranked = prior.apply(hits, importance or {}) if prior else hits
        run[query] = [(hit.id, hit.score) for hit in ranked]
    return run


def fused_arm(
    name: str, fuser: AnyFuser, legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]
) -> Arm:
    """Make the arm that fuses these lists; legs of weight 0 are left out of it."""
    used = {leg: legs[leg] for leg in active(fuser) if leg in legs}
    return Arm(name, fused_run(fuser, legs, queries), repr(fuser), used, settings=settings)


def reread(ranking: Ranking, scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Put the first of a ranking into the order of a cross-encoder's scores; what it did not read keeps its place.

    The scores of the new ranking only say its order: those of two models cannot be compared.

    Examples
    --------
    >>> reread([("a", 0.9), ("b", 0.8), ("c", 0.1)], {"a": -1.0, "b": 2.0})
    [('b', 3.0), ('a', 2.0), ('c', 1.0)]
    """
    top, rest = [memory for memory, _ in ranking[:READ]], [memory for memory, _ in ranking[READ:]]
    queue = iter(sorted((memory for memory in top if memory in scores), key=lambda memory: (-scores[memory], memory)))
    order = [next(queue) if memory in scores else memory for memory in top] + rest
    return [(memory, float(len(order) - place)) for place, memory in enumerate(order)]


def remade_run(arm: Arm, queries: Iterable[str], importance: Mapping[str, float]) -> Run | None:
    """Make an arm's run again from its lists, fuser, bonus, prior and what the cross-encoder read.

    None where that cannot be done: a fuser that is not known by name, or no lists.
    """
    wanted = list(queries)
    run: Run
    if arm.fuser_value is not None:
        bonus = parse_value(arm.bonus) if arm.bonus else None
        run = fused_run(
            arm.fuser_value,
            arm.legs,
            wanted,
            prior=arm.prior_value,
            importance=importance,
            bonus=bonus if isinstance(bonus, ExactMatch) else None,
            matched=arm.matched,
        )
    elif not arm.fuser and len(arm.legs) == 1:
        (leg,) = arm.legs.values()
        run = {query: leg.get(query, ()) for query in wanted}
    else:
        return None
    if arm.read:
        run = {query: reread(ranking, dict(arm.read.get(query, ()))) for query, ranking in run.items()}
    return run
