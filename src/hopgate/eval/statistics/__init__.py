"""Paired statistics over per-query values: honest limits, one level shared out, a test, and what could be shown."""

from hopgate.eval.statistics.among_shuffles import Among, ControlOutcome, among_shuffles, control_outcome, rank_p
from hopgate.eval.statistics.holm import holm
from hopgate.eval.statistics.intervals import above, below, lower_limit, mean_interval, upper_limit
from hopgate.eval.statistics.nested_choice import FEWEST, Carried, carried
from hopgate.eval.statistics.power import queries_needed, smallest_effect, spread
from hopgate.eval.statistics.randomisation import randomisation_p
from hopgate.eval.statistics.simultaneous import Levels, can_decide, fewest_to_decide, shared

__all__ = [
    "FEWEST",
    "Among",
    "Carried",
    "ControlOutcome",
    "Levels",
    "above",
    "among_shuffles",
    "below",
    "can_decide",
    "carried",
    "control_outcome",
    "fewest_to_decide",
    "holm",
    "lower_limit",
    "mean_interval",
    "queries_needed",
    "randomisation_p",
    "rank_p",
    "shared",
    "smallest_effect",
    "spread",
    "upper_limit",
]
