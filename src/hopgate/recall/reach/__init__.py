"""The proof that a leg can be heard: reachability of the top k, by closed form and on actual lists."""

from hopgate.recall.reach.bound import Bound, bound
from hopgate.recall.reach.lists import on_lists
from hopgate.recall.reach.needed_weight import Needed, Reachability
from hopgate.recall.reach.report import ListReach, QueryReach
from hopgate.recall.reach.warn import warnings

__all__ = ["Bound", "ListReach", "Needed", "QueryReach", "Reachability", "bound", "on_lists", "warnings"]
