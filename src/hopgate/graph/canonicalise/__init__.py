"""Global canonicalisation: many names in, one concept for those that mean the same."""

from hopgate.graph.canonicalise.canonicaliser import Canonicaliser
from hopgate.graph.canonicalise.relation_clusters import Relations, canonicalise_relations
from hopgate.graph.canonicalise.result import Canonicalisation, Cluster, MergeExplanation
from hopgate.graph.canonicalise.score import Scoring
from hopgate.graph.canonicalise.units import ContextMention

__all__ = [
    "Canonicalisation",
    "Canonicaliser",
    "Cluster",
    "ContextMention",
    "MergeExplanation",
    "Relations",
    "Scoring",
    "canonicalise_relations",
]
