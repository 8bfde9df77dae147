"""Slices: an algebra of query sets that remembers how it was defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, Query
from hopgate.eval.slices import (
    LATENT,
    All,
    Field,
    HopCount,
    Known,
    NonAdjacent,
    Scope,
    Stratum,
    Type,
    VectorSpace,
    adjacent,
    latent_space,
    metadata_slices,
    named_slices,
    reported_slices,
)
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
KNOWN = Known(QUERIES, QRELS)


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (All(), "abcd"),
        (Type("bridge"), "ab"),
        (Stratum("exact"), "a"),
        (HopCount(2), "a"),
        (HopCount(2, or_more=True), "ab"),
        (Type("bridge") & HopCount(2), "a"),
        (Type("bridge") | HopCount(1), "abc"),
        (All() - Type("bridge"), "cd"),
        ((All() - Type("bridge")) & HopCount(1), "c"),
        (Scope("home") | Field("owner", "ada"), "cd"),
    ],
    ids=repr,
)
def test_a_slice_selects(part, names):
    assert part.select(KNOWN) == set(names)


def test_a_slice_is_a_value_that_prints():
    assert (Type("x") | HopCount(2)) == (Type("x") | HopCount(2))
    assert len({All(), All(), HopCount(2)}) == 2
    assert repr((Type("x") | HopCount(2)) - NonAdjacent("e")) == "type=x | hops=2 - non-adjacent(e, 10)"
    assert repr(All() - (Type("x") | HopCount(2))) == "all - (type=x | hops=2)"


parts = st.recursive(
    st.sampled_from([All(), Type("bridge"), HopCount(2)]),
    lambda inner: st.tuples(st.sampled_from("|&-"), inner, inner).map(
        lambda made: {"|": made[1] | made[2], "&": made[1] & made[2], "-": made[1] - made[2]}[made[0]]
    ),
    max_leaves=5,
)


@given(parts, parts)
def test_slices_combine_as_sets_do(left, right):
    a, b = left.select(KNOWN), right.select(KNOWN)
    assert (left | right).select(KNOWN) == a | b
    assert (left & right).select(KNOWN) == a & b
    assert (left - right).select(KNOWN) == a - b


@pytest.mark.parametrize(
    ("text", "names"),
    [("type=bridge", "ab"), ("hops>=2 - type=bridge | scope=home", "c"), ("owner=ada", "d"), ("all - hops=1", "abd")],
)
def test_a_slice_is_read_as_it_prints(text, names):
    (part,) = named_slices([text])
    assert repr(part) == text
    assert part.select(KNOWN) == set(names)


def test_slices_are_added_and_never_taken_away():
    found = metadata_slices(QUERIES, QRELS, smallest=2)
    assert {repr(part): "".join(sorted(held)) for part, held in found.items()} == {"all": "abcd", "type=bridge": "ab"}
    more = metadata_slices(QUERIES, QRELS, declared=["hops=1", "type=bridge"], smallest=2)
    assert list(map(repr, more)) == ["all", "hops=1", "type=bridge"]
    for declared, reason in (("hops=9", "no reported question is in the slice hops=9"), ("bridge", "is no slice")):
        with pytest.raises(HopgateError, match=reason):
            metadata_slices(QUERIES, QRELS, declared=[declared])


def test_hops_that_are_not_adjacent_are_reported_unless_their_space_is_tested(tmp_path):
    topics = ["red boat sails harbour", "tax form office letter", "garden pump solar battery"]
    memories = tuple(Memory(f"m{i}", f"{topics[i % 3]} note{i}") for i in range(60))
    gold = {f"near{i}": {f"m{i}": 1, f"m{i + 3}": 1} for i in range(9)} | {"far": {"m0": 1, "m1": 1}}
    queries = {name: Query(name, name, {"hops": 2}) for name in gold}
    dataset = Dataset(tmp_path, memories, queries, {"test": gold})
    found = reported_slices(dataset, gold, tested_space="bge", smallest=1)
    assert "far" in found[NonAdjacent(LATENT)] < found[All()]
    assert list(reported_slices(dataset, gold, tested_space=LATENT, smallest=1)) == [All()]


def circle(n=40):
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_adjacency_is_by_rank_on_a_circle():
    near = adjacent(circle(), [0, 1, 3, 20], neighbours=2)
    assert near[0].tolist() == [True, True, False, False]
    assert adjacent(circle(), [0, 3], neighbours=6).all()


def test_non_adjacent_queries_need_a_jump():
    space = VectorSpace("other", [f"m{i}" for i in range(40)], circle())
    gold = {"a": ["m0", "m1"], "b": ["m0", "m20"], "c": ["m0", "m2", "m4"], "d": ["m5"]}
    known = Known(QUERIES, {q: dict.fromkeys(ids, 1) for q, ids in gold.items()}, {"other": space})
    assert NonAdjacent("other", 2).select(known) == {"b", "c"}
    assert NonAdjacent("other", 4).select(known) == {"b"}  # 0 → 2 → 4 are two short steps
    with pytest.raises(HopgateError, match="needs vectors of the embedding space 'none'"):
        NonAdjacent("none").select(known)


def test_the_latent_space_holds_no_sensitive_memory_and_puts_like_by_like():
    topics = ["red boat sails harbour", "tax form office letter", "garden pump solar battery"]
    memories = [Memory(f"m{i}", f"{topics[i % 3]} note{i}", is_sensitive=i == 7) for i in range(30)]
    space = latent_space(memories, dimension=8)
    assert "m7" not in space.rows
    assert len(space.ids) == len(space.vectors) == 29
    assert adjacent(space.vectors, [space.rows["m0"], space.rows["m3"]], neighbours=10).all()
    assert not adjacent(space.vectors, [space.rows["m0"], space.rows["m1"]], neighbours=8)[0, 1]
