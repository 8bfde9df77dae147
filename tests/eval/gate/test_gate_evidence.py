"""Evidence that does not fit together is refused; a slice without queries decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eval_world import evidence

from hopgate.errors import HopgateError
from hopgate.eval.gate.judge import judge
from hopgate.eval.slices import All, NamedSlice


def test_evidence_that_does_not_fit_together_is_refused():
    made = evidence(10)
    for change, reason in (
        ({"challenger": "none"}, "there is no arm 'none'"),
        ({"rivals": ("none",)}, "there is no arm 'none'"),
        ({"qrels": {}}, "no judged query"),
        ({"queries": {}}, "'q000' is not among the queries"),
        ({"slices": {All(): frozenset({"x"})}}, "not reported on"),
    ):
        with pytest.raises(HopgateError, match=reason):
            replace(made, **change)


def test_a_slice_without_queries_decides_nothing():
    made = evidence(20)
    empty = replace(made, slices={NamedSlice("none", frozenset()): frozenset(), All(): frozenset(made.qrels)})
    assert judge(empty).decision.verdict == "INCONCLUSIVE"
