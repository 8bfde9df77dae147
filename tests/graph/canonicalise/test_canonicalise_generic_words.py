"""A word that very many names have: its expansions are weighed one by one, and never against each other."""

from __future__ import annotations

import tracemalloc

import numpy as np

from hopgate.graph.canonicalise.short_names import MAX_ALLIED, expansion_shares


def test_memory_is_in_proportion_to_the_expansions() -> None:
    """A million notes had one with 73,370, and asked for 40 GB."""
    count = 20 * MAX_ALLIED
    sets = [frozenset(("mill",)), *(frozenset(("mill", f"w{at}")) for at in range(count))]
    tracemalloc.start()
    shares, strongest = expansion_shares({0: list(range(1, count + 1))}, sets, np.arange(1.0, count + 2))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1000 * count
    assert strongest == {0: count}
    assert [pair for pair, share in shares.items() if share] == [(0, count)]
    assert np.isclose(shares[0, count], (count + 1) / sum(range(2, count + 2)))
