"""The overlap of few bags, as they are, is that of many, by sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.canonicalise import overlap

BAGS = st.lists(st.lists(st.sampled_from("abcdefghijklm"), max_size=6), min_size=2, max_size=12)


@settings(max_examples=60, deadline=None)
@given(BAGS, st.booleans(), st.sampled_from([0.0, 1.0]))
def test_few_pairs_overlap_as_many_do(bags: list[list[str]], smaller: bool, smooth: float) -> None:
    i, j = (side.astype(np.int64) for side in np.triu_indices(len(bags), 1))
    few = overlap.weighted_jaccard(bags, i, j, smooth, smaller)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "FEW", -1)
        many = overlap.weighted_jaccard(bags, i, j, smooth, smaller)
    np.testing.assert_allclose(few, many, rtol=1e-12, atol=1e-12)
