"""Personalised PageRank: `pagerank` of any graph and to any tolerance, and `quick_walks` as recall makes them."""

from hopgate.graph.walk.pagerank.compiled import warm
from hopgate.graph.walk.pagerank.quick import quick_walks
from hopgate.graph.walk.pagerank.solve import pagerank

__all__ = ["pagerank", "quick_walks", "warm"]
