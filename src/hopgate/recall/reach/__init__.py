"""Can a leg influence the top k at all: by closed form from the weights, and on actual lists."""

from hopgate.recall.reach.bound import Bound, bound
from hopgate.recall.reach.lists import ListReach, QueryReach, on_lists
from hopgate.recall.reach.needed_weight import Needed, Reachability
from hopgate.recall.reach.warn import BarredLegWarning, barred_legs, warn_if_barred

__all__ = [
    "BarredLegWarning",
    "Bound",
    "ListReach",
    "Needed",
    "QueryReach",
    "Reachability",
    "barred_legs",
    "bound",
    "on_lists",
    "warn_if_barred",
]
