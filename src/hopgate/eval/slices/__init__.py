"""Slices as values: a named subset of the queries that knows whether it was defined from the runs it will compare."""

from hopgate.eval.slices.metadata import All, HopCount, Stratum, Type
from hopgate.eval.slices.named_slice import NamedSlice
from hopgate.eval.slices.non_adjacent import NonAdjacent
from hopgate.eval.slices.slice import CombinedSlice, Known, Slice

__all__ = ["All", "CombinedSlice", "HopCount", "Known", "NamedSlice", "NonAdjacent", "Slice", "Stratum", "Type"]
