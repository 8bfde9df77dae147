"""Which relations may be of one sort, so that a value of one ends a value of the other: a place, a time, somebody."""

from __future__ import annotations

from hopgate.extract.rules.fact_patterns import SINGLE_VALUED
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, AT, BY, WHEN
from hopgate.extract.rules.timetable import TAKES_PLACE

JOINT_RELATIONS = (AT, WHEN, AMOUNT, BY, ANY)
"""How a thing and its value go together where no relation of the rules fits."""
# What the relations of the rules are by this measure; a role ("has dentist") is somebody, or with somebody.
_SORTS = {
    "located in": (AT, BY), "runs on": (AT, BY), "lives in": (), "works at": (BY, AT), "costs": (AMOUNT,),
    "due": (WHEN,), "takes place": (WHEN,), "owned by": (BY,), "led by": (BY,), "reports to": (BY,),
}  # fmt: skip
ONE_AT_A_TIME = frozenset((*JOINT_RELATIONS, *SINGLE_VALUED, *ROLE_RELATIONS, TAKES_PLACE))
"""Relations of which another value ends the one before."""
# A new date for what was due is when it is due.
_DATES = {"due", "takes place"}


def fits(one: str, other: str) -> bool:
    """Whether two relations may be of the same sort; two different ones of the rules never are.

    Examples
    --------
    >>> fits("kept at", "runs on"), fits("kept at", "lives in"), fits("runs on", "owned by")
    (True, False, False)
    """
    if one == other:
        return True
    return not _are_typed(one, other) and not set(sorts_of(one)).isdisjoint(sorts_of(other))


def _are_typed(one: str, other: str) -> bool:
    """Whether two different relations are both of the rules, and none of them is a day as the other is."""
    return one not in JOINT_RELATIONS and other not in JOINT_RELATIONS and {one, other} != _DATES


def may_follow_named(one: str, other: str) -> bool:
    """Whether values may follow each other where a change names both: an amount follows no place."""
    if one == other:
        return True
    if _are_typed(one, other):
        return False
    literal = {WHEN, AMOUNT}
    return literal.isdisjoint(sorts_of(one)) == literal.isdisjoint(sorts_of(other)) and (
        literal.isdisjoint(sorts_of(one)) or fits(one, other)
    )


def sorts_of(relation: str) -> tuple[str, ...]:
    """What a value may be by its relation: where something is, when, how much, or who has it."""
    if relation == ANY:
        return AT, BY
    return (relation,) if relation in JOINT_RELATIONS else _SORTS.get(relation, (BY, AT))
