"""Lists that were collected once, fused into a run or an arm; and an arm's run made again from its lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.data.runs import Ranking, Run
from hopgate.eval.gate.evidence import GRAPH, Arm
from hopgate.recall.final_order import final_order
from hopgate.recall.fuse import AnyFuser, ExactMatch, active, parse_value
from hopgate.recall.run_stages import in_places

# A cross-encoder reads this many of the fused top, as recall does.
READ = 30


def fused_run(
    fuser: AnyFuser,
    lists: LegLists,
    queries: Iterable[str],
    *,
    bonus: ExactMatch | None = None,
    matched: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    """Fuse saved lists into a run, as recall does.

    Where something was lifted the scores of that query's ranking only say its order.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> fused_run(RRF(k=0), LegLists({"dense": {"q": [("a", 0.9), ("b", 0.8)]}}), ["q"])
    {'q': [('a', 1.0), ('b', 0.5)]}
    """
    names = active(fuser)
    run = {}
    for query in queries:
        legs, unseen = lists.of(query, names)
        ranking, up = final_order(
            fuser.fuse(legs, unseen=unseen),
            legs if lists.into else {},
            fuser,
            lists.into,
            importance=lists.importance,
            prior=lists.prior,
            bonus=bonus,
            matched=set((matched or {}).get(query, ())),
            base=lists.base.get(query, ()),
            blind=set(lists.blind.get(query, ())),
        )
        run[query] = by_place([hit.id for hit in ranking]) if up else [(hit.id, hit.score) for hit in ranking]
    return run


def by_place(ranking: Sequence[str]) -> list[tuple[str, float]]:
    """Give a ranking scores that say its order and no more.

    Examples
    --------
    >>> by_place(["b", "a"])
    [('b', 2.0), ('a', 1.0)]
    """
    return [(memory, float(len(ranking) - place)) for place, memory in enumerate(ranking)]


def fused_arm(
    name: str, fuser: AnyFuser, lists: LegLists, queries: Sequence[str], settings: Mapping[str, Any], **more: Any
) -> Arm:
    """Make the arm that fuses these lists; legs of weight 0 are left out of it, and `more` are fields of the arm."""
    names = [leg for leg in active(fuser) if leg in lists.scores]
    bonus = parse_value(more["bonus"]) if "bonus" in more else None
    return Arm(
        name,
        fused_run(
            fuser,
            lists,
            queries,
            bonus=bonus if isinstance(bonus, ExactMatch) else None,
            matched=more.get("matched"),
        ),
        repr(fuser),
        {leg: lists.scores[leg] for leg in names},
        {leg: lists.found[leg] for leg in names if leg in lists.found},
        prior=repr(lists.prior) if lists.prior else "",
        settings=settings,
        base=lists.base if GRAPH in names else {},
        blind=lists.blind if GRAPH in names else {},
        into=lists.into,
        **more,
    )


def leg_arm(name: str, leg: str, lists: LegLists, settings: Mapping[str, Any]) -> Arm:
    """Make the arm of one leg alone, as it found it."""
    found = lists.found_by(leg)
    return Arm(name, found, legs={leg: found}, settings=settings)


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
    return by_place([next(queue) if memory in scores else memory for memory in top] + rest)


def follow_walk(ranking: Ranking, walked: Ranking, read: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order a re-read ranking by the walk that followed; what the walk did not reach comes after it, as it was.

    What was not read among the first keeps its place: it is sensitive, and in no graph.

    Examples
    --------
    >>> follow_walk([("b", 3.0), ("secret", 2.0), ("a", 1.0)], [("a", 0.5), ("c", 0.3), ("b", 0.2)], {"a": 1, "b": 2})
    [('a', 4.0), ('secret', 3.0), ('c', 2.0), ('b', 1.0)]
    """
    if not walked:
        return list(ranking)
    fixed = {at: memory for at, (memory, _) in enumerate(ranking[:READ]) if memory not in read}
    reached = {memory for memory, _ in walked}
    order = [memory for memory, _ in walked] + [memory for memory, _ in ranking if memory not in reached]
    return by_place(in_places(order, fixed))


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
            arm.leg_lists(importance),
            wanted,
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
    if arm.walked:
        run = {
            query: follow_walk(ranking, arm.walked.get(query, ()), dict(arm.read.get(query, ())))
            for query, ranking in run.items()
        }
    return run
