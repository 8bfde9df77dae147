"""Names for facts by what they say: how the audit knows that a question was made from the graph under test."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from hopgate.extract.triples import Triple


def fact_key(triple: Triple) -> str:
    """Name a fact by what it says and where, in twelve hexadecimal digits.

    Examples
    --------
    >>> fact_key(Triple("m1", "NAS", "runs", "Immich")) == fact_key(Triple("m1", "nas", "Runs", " immich"))
    True
    """
    parts = (triple.doc_id, *(folded_name(part) for part in (triple.subject, triple.relation, triple.object)))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def fingerprint(triples: Iterable[Triple]) -> str:
    """Name a graph by its facts and mentions, whatever their order."""
    return hashlib.sha256("".join(sorted(fact_key(triple) for triple in triples)).encode()).hexdigest()[:12]


def folded_name(text: str) -> str:
    """Fold case and white space, so that two spellings of a name compare equal."""
    return " ".join(text.casefold().split())
