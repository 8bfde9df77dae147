"""Personalised PageRank: one front door, several ways to the same answer."""

from hopgate.graph.pagerank.front import pagerank

__all__ = ["pagerank"]
