"""Personalised PageRank: one front door, several ways to the same answer."""

from hopgate.graph.pagerank.compiled import warm
from hopgate.graph.pagerank.front import pagerank
from hopgate.graph.pagerank.kernel import Kernel, precompute
from hopgate.graph.pagerank.prepare import prepare

__all__ = ["Kernel", "pagerank", "precompute", "prepare", "warm"]
