"""The blocks propose the pairs that comparing every name with every other one would."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.canonicalise import blocking
from hopgate.graph.canonicalise.blocking import pair_code
from hopgate.graph.names.normal import numbers, tokens

WORDS = ["ann", "lee", "bo", "2", "1999", "york", "new", "of", "nas"]
NAMES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), max_size=14)


def codes(found: set[tuple[int, int]]) -> list[int]:
    return sorted(pair_code(*pair) for pair in found)


@settings(max_examples=150, deadline=None)
@given(NAMES)
def test_expansions_are_the_longer_names_that_hold_all_tokens(names: list[str]) -> None:
    held = [set(tokens(name)) for name in names]
    expected = {
        unit: longer
        for unit, mine in enumerate(held)
        if not mine <= numbers(tokens(names[unit]))
        and (longer := [other for other, theirs in enumerate(held) if mine < theirs])
    }
    found = blocking.expansions(names)
    assert found == expected
    assert list(found) == sorted(found)


@settings(max_examples=150, deadline=None)
@given(NAMES)
def test_pairs_are_those_of_every_two(names: list[str]) -> None:
    held = [set(tokens(name)) for name in names]
    every = list(combinations(range(len(names)), 2))
    shared = {(a, b) for a, b in every if held[a] & held[b]}
    same = {(a, b) for a, b in every if names[a].replace(" ", "") == names[b].replace(" ", "")}
    assert sorted(set(blocking.shared_item(held).tolist())) == codes(shared)
    assert sorted(blocking.same_name(names).tolist()) == codes(same)
    i, j = blocking.pairs([blocking.shared_item(held), blocking.same_name(names), iter([(1, 0)])])
    assert (i << 32 | j).tolist() == codes(shared | same | {(0, 1)})
    assert i.dtype == j.dtype == np.int64


def test_a_token_of_too_many_names_makes_no_block() -> None:
    many = [["york", str(at)] for at in range(blocking.MAX_BLOCK + 1)]
    assert not len(blocking.shared_item(many))
    assert len(blocking.shared_item(many[1:])) == blocking.MAX_BLOCK * (blocking.MAX_BLOCK - 1) // 2
