"""Pool → one ranking: pure functions over legs, each configuration a value that prints as itself."""

from hopgate.recall.fuse.bounded import Bounded
from hopgate.recall.fuse.convex import TM2C2
from hopgate.recall.fuse.exact import ExactMatch, exact_matches, is_exact, quoted
from hopgate.recall.fuse.fused import Fused, Fuser, Id, Leg, active, ranked, total
from hopgate.recall.fuse.lift import lifted
from hopgate.recall.fuse.minmax import MinMax
from hopgate.recall.fuse.parse import FUSERS, AnyFuser, parse, parse_value
from hopgate.recall.fuse.prior import Importance, SortBy, order
from hopgate.recall.fuse.rrf import RRF
from hopgate.recall.fuse.stretched import StretchedRRF
from hopgate.recall.fuse.weights import MAX_WEIGHT, STANDARD, Weighted

__all__ = [
    "FUSERS",
    "MAX_WEIGHT",
    "RRF",
    "STANDARD",
    "TM2C2",
    "AnyFuser",
    "Bounded",
    "ExactMatch",
    "Fused",
    "Fuser",
    "Id",
    "Importance",
    "Leg",
    "MinMax",
    "SortBy",
    "StretchedRRF",
    "Weighted",
    "active",
    "exact_matches",
    "is_exact",
    "lifted",
    "order",
    "parse",
    "parse_value",
    "quoted",
    "ranked",
    "total",
]
