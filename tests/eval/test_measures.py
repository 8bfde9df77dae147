"""Measures: by hand, as values, as properties, and against ranx, an independent implementation."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.measures import KINDS, MRR, NDCG, Measure, Recall, parse_measure

ALL = [Measure(kind, k) for k in (3, None) for kind in KINDS]
ids = st.integers(0, 12).map(lambda i: f"d{i:02d}")
rankings = st.lists(ids, max_size=12, unique=True)
golds = st.dictionaries(ids, st.integers(1, 3), min_size=1, max_size=5)


def test_by_hand():
    ranked, gold = ["a", "x", "b", "y", "c"], dict.fromkeys("abcd", 1)
    assert Measure("map").score(ranked, gold) == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 4)
    graded = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert NDCG(2).score(["b", "a"], {"a": 3, "b": 1}) == pytest.approx(graded)
    assert MRR().score(["z", "a"], {"z": 0, "a": 1}, relevant_from=0) == 0.5  # a grade of 0 is never relevant
    # What is on topic alone counts nothing where relevant begins at two, and neither does an empty list.
    gold = {"answer": 2, "near": 1, "nearer": 1}
    for measure in ALL:
        scores = [measure.score(found, gold, relevant_from=2) for found in (["near", "nearer"], [], ["answer"])]
        assert scores == [0.0, 0.0, 1.0]


def test_measures_are_values_that_print_as_what_parses_back():
    for measure in ALL:
        assert parse_measure(repr(measure)) == measure and hash(parse_measure(str(measure).upper())) == hash(measure)
    assert Recall(10) != Measure("success", 10) and len({Recall(10), Recall(10), Recall(5)}) == 2
    for text in ("", "recall@", "recall@-1", "recall@0", "recall@1.5", "precision@3", "@10"):
        with pytest.raises(HopgateError, match="is not a measure: use one of recall@k, ndcg@k"):
            parse_measure(text)
    with pytest.raises(HopgateError, match="recall@0 counts nothing"):
        Recall(0)


@given(rankings, golds, st.integers(0, 4))
def test_scores_lie_in_0_1_a_deeper_cut_finds_no_less_and_the_best_order_scores_one(ranking, gold, relevant_from):
    for measure in ALL:
        assert 0.0 <= measure.score(ranking, gold, relevant_from) <= 1.0 + 1e-12
    for kind in KINDS.keys() - {"ndcg"}:
        values = [Measure(kind, k).score(ranking, gold) for k in range(1, 13)]
        assert values == sorted(values)
    for measure in (*ALL[5:9], NDCG(2)):
        assert measure.score(sorted(gold, key=lambda name: -gold[name]), gold) == pytest.approx(1.0)


# ranx runs in a process of its own without compiling: compiled, its first call takes minutes on a busy machine.
NAMES = {
    **{name: name for name in ("recall@5", "recall@20", "ndcg@10", "ndcg@3", "mrr", "mrr@5", "map", "map@10")},
    "success@1": "hit_rate@1",
    "success@10": "hit_rate@10",
}
PROGRAM = """
import json, sys
import ranx
qrels, run, names = json.load(sys.stdin)
qrels, run = ranx.Qrels(qrels), ranx.Run(run)
values = {name: ranx.evaluate(qrels, run, name, return_mean=False).tolist() for name in names}
json.dump([list(run.keys()), values], sys.stdout)
"""


@pytest.mark.full
def test_agrees_with_ranx_per_query():
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(60)]
    judged, run = {}, {}
    for query in map("q{}".format, range(50)):
        gold = rng.choice(docs, size=rng.integers(1, 9), replace=False)
        judged[query] = {str(memory): int(rng.integers(1, 4)) for memory in gold}
        found = rng.choice(docs, size=rng.integers(1, 40), replace=False)
        run[query] = {str(d): float(s) for d, s in zip(found, rng.permutation(len(found)), strict=True)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([judged, run, list(NAMES.values())]),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    order, theirs = json.loads(done.stdout)
    lists = {query: sorted(scores, key=lambda memory: -scores[memory]) for query, scores in run.items()}
    for ours, name in NAMES.items():
        got = [parse_measure(ours).score(lists[query], judged[query]) for query in order]
        np.testing.assert_allclose(got, theirs[name], atol=1e-9, err_msg=ours)
