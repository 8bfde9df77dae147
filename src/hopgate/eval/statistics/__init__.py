"""Paired statistics over per-query values: a test, an interval, a correction, and what could have been shown."""

from hopgate.eval.statistics.bootstrap import bca_interval
from hopgate.eval.statistics.holm import holm
from hopgate.eval.statistics.power import queries_needed, smallest_effect, spread
from hopgate.eval.statistics.randomisation import randomisation_p

__all__ = ["bca_interval", "holm", "queries_needed", "randomisation_p", "smallest_effect", "spread"]
