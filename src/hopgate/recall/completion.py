"""Completion: each leg's real score for every memory of the pool, and which memories a leg could not have seen.

A memory that the lexical leg found and the dense leg did not list has a cosine all the same; without it fusion would
take "not among the first 50" for "worst". Real scores brought .01 to .03 at recall@10 on a chat corpus and were never
worse (docs/research/fusion.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters
from hopgate.recall.fuse import Fused, Id, MinMax
from hopgate.recall.legs.dense import dense_scores
from hopgate.recall.legs.lexical import DEFAULT_RANKER, LexicalRanker, lexical_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.recall.legs.query_words import QueryWords

Leg = list[tuple[int, float]]

# The best family without a graph, on a plateau: lexical .25 to .35 are alike (docs/research/fusion.md).
BASE_FUSER = MinMax(lexical=0.3, dense=0.7, graph=0)


def pool_of(lists: Mapping[str, Sequence[tuple[Id, float]]]) -> set[Id]:
    """Give the union of the legs' candidates.

    Examples
    --------
    >>> sorted(pool_of({"lexical": [(1, 0.5)], "dense": [(2, 0.9), (1, 0.1)]}))
    [1, 2]
    """
    return {key for leg in lists.values() for key, _ in leg}


def complete(
    connection: Connection[Any],
    query: str,
    vector: NDArray[np.float32] | None,
    found: Mapping[str, Leg],
    pool: AbstractSet[int],
    known: Mapping[str, Leg] | None = None,
    *,
    filters: Filters | None = None,
    ranker: LexicalRanker = DEFAULT_RANKER,
    words: QueryWords | None = None,
) -> dict[str, Leg]:
    """Give the lexical and the dense leg with their real scores of every memory of the pool that they can see.

    A leg that found nothing stays empty: it has nothing to say on this query.

    Parameters
    ----------
    found : mapping of leg name to list
        What the legs found; lists other than these two legs' are left out.
    known : mapping of leg name to list, optional
        The legs as they were completed for a smaller pool: only what is new is asked for.
    filters, ranker, words
        As the lexical leg had them: words are counted in the scopes that were asked.
    """
    result: dict[str, Leg] = {}
    for name in ("lexical", "dense"):
        leg = found.get(name)
        if not leg:
            continue
        before = (known or found)[name]
        missing = sorted(pool - {key for key, _ in before})
        scores: Mapping[int, float] = {}
        if missing and name == "lexical":
            scores = lexical_scores(connection, query, missing, filters, ranker=ranker, words=words)
        elif missing and vector is not None:
            scores = dense_scores(connection, vector, missing, filters.scopes if filters else None)
        # What a leg did not list is not above what it did, though an index may have passed it over.
        last = leg[-1][1]
        further = [(key, min(scores[key], last)) for key in missing if key in scores]
        result[name] = sorted([*before, *further], key=lambda candidate: -candidate[1])
    return result


def unseen_by(lists: Mapping[str, Sequence[tuple[Id, float]]], pool: AbstractSet[Id]) -> dict[str, AbstractSet[Id]]:
    """Give, leg by leg, what completed lists lack of the pool: what the leg could not have seen.

    Examples
    --------
    >>> unseen_by({"lexical": [(1, 0.5), (2, 0.0)], "dense": [(2, 0.9)]}, {1, 2})
    {'lexical': set(), 'dense': {1}}
    """
    return {name: pool - {key for key, _ in leg} for name, leg in lists.items()}


def pooled(
    found: Mapping[str, Sequence[tuple[Id, float]]],
    scores: Mapping[str, Sequence[tuple[Id, float]]],
    names: Collection[str],
) -> tuple[dict[str, list[tuple[Id, float]]], dict[str, AbstractSet[Id]]]:
    """Give what fusion takes: the named legs' scores of all that they found, and what each could not see.

    Recall and the gate both fuse what this gives, so that what is measured is what is shipped.

    Parameters
    ----------
    found, scores : mapping of leg name to list
        What each leg found, and its real scores of that and more.
    names : collection of str
        The legs that have a weight; one that found nothing is left out.

    Examples
    --------
    >>> pooled({"lexical": [(1, 0.5)], "dense": [(2, 0.9)]}, {"lexical": [(1, 0.5), (2, 0.0)], "dense": [(2, 0.9)]},
    ...        ("lexical", "dense"))
    ({'lexical': [(1, 0.5), (2, 0.0)], 'dense': [(2, 0.9)]}, {'lexical': set(), 'dense': {1}})
    """
    fused = [name for name in names if found.get(name)]
    pool = pool_of({name: found[name] for name in fused})
    lists = {name: [pair for pair in scores[name] if pair[0] in pool] for name in fused}
    return lists, unseen_by(lists, pool)


def fused_base(scores: Mapping[str, Leg]) -> list[Fused[int]]:
    """Fuse the completed lexical and dense leg into the ranking that walks start from."""
    return BASE_FUSER.fuse(scores, unseen=unseen_by(scores, pool_of(scores)))
