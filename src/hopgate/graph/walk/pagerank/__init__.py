"""Personalised PageRank: one front door, several ways to the same answer."""

from hopgate.graph.walk.pagerank.compiled import warm
from hopgate.graph.walk.pagerank.kernel import Kernel, precompute
from hopgate.graph.walk.pagerank.prepare import prepare
from hopgate.graph.walk.pagerank.solve import pagerank

__all__ = ["Kernel", "pagerank", "precompute", "prepare", "warm"]
