"""Canonicalisation: many names in, one concept for those that mean the same."""

from hopgate.graph.canonicalise.blocks import ContextMention, Units, closeness
from hopgate.graph.canonicalise.canonicaliser import (
    Candidate,
    Canonicalisation,
    Canonicaliser,
    Cluster,
    Decision,
    MergeExplanation,
    Relations,
    canonicalise_relations,
)
from hopgate.graph.canonicalise.cluster import FLOOR
from hopgate.graph.canonicalise.score import Scoring

__all__ = [
    "FLOOR",
    "Candidate",
    "Canonicalisation",
    "Canonicaliser",
    "Cluster",
    "ContextMention",
    "Decision",
    "MergeExplanation",
    "Relations",
    "Scoring",
    "Units",
    "canonicalise_relations",
    "closeness",
]
