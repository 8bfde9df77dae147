"""Names clustered in partitions: the very joins of one heap over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.canonicalise import Canonicaliser, ContextMention
from hopgate.graph.canonicalise.cluster import Linkage, agglomerate
from hopgate.graph.canonicalise.partitions import agglomerate_apart
from hopgate.graph.canonicalise.score import Scored


class Here:
    """Tasks that are done here, and counted."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.done = 0

    def each(self, work: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]) -> list[Any]:
        self.done += len(items)
        return [work(shared, item) for item in items]


# Few different scores, so that many are equal and the order of ties counts.
PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 13), st.integers(0, 13)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.05, 0.15, 0.2, 0.3, 0.5, 0.8, 0.9]),
    max_size=40,
)


@given(PAIRS, st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=14, max_size=14), st.sampled_from([1, 2, 5]))
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize("linkage", ["average", "complete"])
def test_partitions_make_the_joins_of_one_machine(
    linkage: Linkage, pairs: dict[tuple[int, int], float], weights: list[float], workers: int
) -> None:
    order = sorted(pairs)
    scored = Scored(
        np.array([a for a, _ in order], dtype=np.int64),
        np.array([b for _, b in order], dtype=np.int64),
        np.array([pairs[pair] for pair in order], dtype=np.float32),
        np.zeros((len(order), 8), dtype=np.float32),
    )
    given_weights = np.array(weights)
    for most in (3, 256):
        wanted = agglomerate(scored, given_weights, linkage, max_size=most)
        assert agglomerate_apart(scored, given_weights, Here(workers), linkage, max_size=most) == wanted


def test_a_canonicalisation_by_tasks_is_the_one_without() -> None:
    pick = np.random.default_rng(0)
    firsts = ["Ada", "Bea", "Carla", "Dora", "Emil", "Finn"]
    lasts = ["Lovelace", "Lovelac", "Byron", "Monroe", "Curie", "Turing", "Hopper", "Noether"]
    names = [f"{firsts[a]} {lasts[b]}" for a, b in zip(pick.integers(0, 6, 60), pick.integers(0, 8, 60), strict=True)]
    mentions = [ContextMention(name, "person") for name in [*names, *lasts, *firsts, "A. Lovelace"]]
    tasks = Here(2)
    plain, apart = Canonicaliser().fit(mentions), Canonicaliser().fit(mentions, tasks=tasks)
    assert apart.merges == plain.merges and (apart.labels_ == plain.labels_).all()
    assert tasks.done > 3
