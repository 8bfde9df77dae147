"""Text → measure, the inverse of printing one."""

from __future__ import annotations

import re

from hopgate.errors import HopgateError
from hopgate.eval.measures.average_precision import MAP
from hopgate.eval.measures.measure import Measure
from hopgate.eval.measures.ndcg import NDCG
from hopgate.eval.measures.recall_at_k import Recall
from hopgate.eval.measures.reciprocal_rank import MRR
from hopgate.eval.measures.success import Success

KINDS: dict[str, type[Measure]] = {kind.name: kind for kind in (Recall, NDCG, MRR, MAP, Success)}
_SHAPE = re.compile(r"(?P<name>[a-z]+)(?:@(?P<k>[1-9][0-9]{0,6}))?")


def parse_measure(text: str) -> Measure:
    """Read a measure as it prints, in any case.

    Examples
    --------
    >>> parse_measure("nDCG@10")
    ndcg@10
    >>> parse_measure("recall@0")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: 'recall@0' is not a measure: use one of recall@k, ndcg@k, mrr@k, map@k, success@k...
    """
    found = _SHAPE.fullmatch(text.strip().lower())
    if found is None or found["name"] not in KINDS:
        known = ", ".join(f"{name}@k" for name in KINDS)
        raise HopgateError(f"{text!r} is not a measure: use one of {known}, or leave out @k to count the whole ranking")
    return KINDS[found["name"]](int(found["k"]) if found["k"] else None)
