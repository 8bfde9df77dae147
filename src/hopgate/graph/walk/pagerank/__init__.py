"""Personalised PageRank: `pagerank` chooses between several solvers that give the same answer."""

from hopgate.graph.walk.pagerank.compiled import warm, warm_in_background
from hopgate.graph.walk.pagerank.solve import pagerank, pushes

__all__ = ["pagerank", "pushes", "warm", "warm_in_background"]
