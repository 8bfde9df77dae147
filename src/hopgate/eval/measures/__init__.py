"""Measures as values: `Recall(k=10)` prints as `recall@10`, hashes, and scores one query at a time."""

from hopgate.eval.measures.average_precision import MAP
from hopgate.eval.measures.measure import Measure, score_all
from hopgate.eval.measures.ndcg import NDCG
from hopgate.eval.measures.parse import parse_measure
from hopgate.eval.measures.recall_at_k import Recall
from hopgate.eval.measures.reciprocal_rank import MRR
from hopgate.eval.measures.success import Success

__all__ = ["MAP", "MRR", "NDCG", "Measure", "Recall", "Success", "parse_measure", "score_all"]
