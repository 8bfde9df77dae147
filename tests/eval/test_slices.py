"""Slices: what they hold, that none is taken away, and which hops are not adjacent."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.slices import NON_ADJACENT, VectorSpace, latent_space, non_adjacent, reported_slices, slice_of
from hopgate.memory import Memory

QUERIES = {
    name: Query(name, text, metadata)
    for name, text, metadata in [
        ("a", "Where is the red boat?", {"type": "bridge", "hops": 2, "stratum": "exact"}),
        ("b", "Who paints?", {"type": "bridge", "hops": 3}),
        ("c", "Anything at all?", {"type": "single", "hops": 1, "stratum": "paraphrase", "scope": "home"}),
        ("d", "Hardly any metadata", {"owner": "ada"}),
    ]
}
QRELS = {"a": {"m1": 1}, "b": {"m2": 1}, "c": {"m1": 1, "m2": 1}, "d": {"m3": 1}}


def test_a_slice_holds():
    rows = {
        "all": "abcd",
        "owner=ada": "d",
        "type=bridge": "ab",
        "hops=1": "c",
    }
    assert {text: "".join(sorted(slice_of(text, QUERIES))) for text in rows} == rows


def test_slices_are_added_and_never_taken_away():
    queries = {f"q{n}": Query(f"q{n}", "?", {"type": "multi - hop" if n < 5 else "few"}) for n in range(8)}
    qrels = {name: {"m1": 1} for name in queries}
    kinds = {"all": set(queries), "type=multi - hop": {f"q{n}" for n in range(5)}}
    assert reported_slices(queries, qrels) == kinds
    assert list(reported_slices(queries, qrels, declared=["type=few"])) == ["all", "type=few", "type=multi - hop"]
    for declared, reason in (("hops=9", "no reported question is in the slice hops=9"), ("bridge", "is no slice")):
        with pytest.raises(HopgateError, match=reason):
            reported_slices(QUERIES, QRELS, declared=[declared])


TOPICS = ["red boat sails harbour", "tax form office letter", "garden pump solar battery"]


def test_hops_that_are_not_adjacent_are_reported():
    memories = [Memory(f"m{i}", f"{TOPICS[i % 3]} note{i}") for i in range(60)]
    gold = {f"near{i}": {f"m{i}": 1, f"m{i + 3}": 1} for i in range(9)}
    gold |= {f"far{i}": {f"m{i}": 1, f"m{i + 1}": 1} for i in range(5)}
    queries = {name: Query(name, name, {"hops": 2}) for name in gold}
    found = reported_slices(queries, gold, memories=memories)
    assert {f"far{i}" for i in range(5)} <= found[NON_ADJACENT] < found["all"]


def circle(n: int = 40) -> NDArray[np.float32]:
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_adjacency_is_by_rank_and_questions_that_need_a_jump_are_not():
    space = VectorSpace({f"m{i}": i for i in range(40)}, circle())
    assert space.adjacent(["m0", "m1", "m3", "m20"], 2)[0].tolist() == [True, True, False, False]
    assert space.adjacent(["m0", "m3"], 6).all()
    gold = {"a": ["m0", "m1"], "b": ["m0", "m20"], "c": ["m0", "m2", "m4"], "d": ["m5"]}
    qrels = {query: dict.fromkeys(ids, 1) for query, ids in gold.items()}
    assert non_adjacent(qrels, space, 2) == {"b", "c"}
    assert non_adjacent(qrels, space, 4) == {"b"}  # 0 → 2 → 4 are two short steps


def test_the_latent_space_holds_no_sensitive_memory_and_puts_like_by_like():
    memories = [Memory(f"m{i}", f"{TOPICS[i % 3]} note{i}", is_sensitive=i == 7) for i in range(30)]
    space = latent_space(memories)
    assert "m7" not in space.rows
    assert len(space.rows) == len(space.vectors) == 29
    assert space.adjacent(["m0", "m3"], 10).all() and not space.adjacent(["m0", "m1"], 8)[0, 1]
