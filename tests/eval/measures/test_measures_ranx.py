"""Measures against ranx, an independent implementation.

It runs in a process of its own without compiling: compiled, its first call takes minutes on a busy machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from hopgate.eval.measures import parse_measure

pytestmark = pytest.mark.full
NAMES = {
    "recall@5": "recall@5",
    "recall@20": "recall@20",
    "ndcg@10": "ndcg@10",
    "ndcg@3": "ndcg@3",
    "mrr": "mrr",
    "mrr@5": "mrr@5",
    "map": "map",
    "map@10": "map@10",
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


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(60)]
    qrels, run = {}, {}
    for q in range(50):
        gold = rng.choice(docs, size=rng.integers(1, 9), replace=False)
        qrels[f"q{q}"] = {str(d): int(rng.integers(1, 4)) for d in gold}
        found = rng.choice(docs, size=rng.integers(1, 40), replace=False)
        run[f"q{q}"] = {str(d): float(s) for d, s in zip(found, rng.permutation(len(found)), strict=True)}
    return qrels, run


@pytest.fixture(scope="module")
def theirs(data):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([*data, list(NAMES.values())]),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("ours", NAMES)
def test_agrees_with_ranx_per_query(data, theirs, ours):
    qrels, run = data
    order, values = theirs
    got = parse_measure(ours).per_query({q: list(ranking.items()) for q, ranking in run.items()}, qrels)
    np.testing.assert_allclose([got[q] for q in order], values[NAMES[ours]], atol=1e-9)
