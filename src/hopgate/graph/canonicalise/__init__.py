"""Global canonicalisation: many names in, one concept for those that mean the same."""

from hopgate.graph.canonicalise.canonicaliser import Canonicaliser
from hopgate.graph.canonicalise.mention import Mention
from hopgate.graph.canonicalise.relations import Relations, canonicalise_relations
from hopgate.graph.canonicalise.result import Canonicalisation, Cluster, Why
from hopgate.graph.canonicalise.score import Scoring

__all__ = [
    "Canonicalisation",
    "Canonicaliser",
    "Cluster",
    "Mention",
    "Relations",
    "Scoring",
    "Why",
    "canonicalise_relations",
]
