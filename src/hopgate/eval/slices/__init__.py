"""Slices as values: a named subset of the queries that knows whether it was defined from the runs it will compare."""

from hopgate.eval.slices.metadata import All, HopCount, Stratum, Type
from hopgate.eval.slices.named_slice import Picked, Recorded
from hopgate.eval.slices.non_adjacent import NonAdjacent
from hopgate.eval.slices.overlap import Overlap
from hopgate.eval.slices.slice import Both, Known, Slice

__all__ = [
    "All",
    "Both",
    "HopCount",
    "Known",
    "NonAdjacent",
    "Overlap",
    "Picked",
    "Recorded",
    "Slice",
    "Stratum",
    "Type",
]
