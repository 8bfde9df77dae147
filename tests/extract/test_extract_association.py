"""Association: chance is zero, always-together is strongest, order and names do not matter."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.association import Associate, Association, Pruning, association
from hopgate.extract.extraction import MENTIONS_TOGETHER

corpora = st.dictionaries(st.integers(0, 50), st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=30)
OPEN = Pruning(least=1, floor=1_000)


@settings(max_examples=80, deadline=None)
@given(corpora, st.randoms(use_true_random=False))
def test_order_of_memories_and_names_does_not_matter(corpus: dict[int, list[str]], random: object) -> None:
    items = list(corpus.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    shuffled = {memory: list(reversed(names)) for memory, names in items}

    def values(found: list[Association[int]]) -> list[tuple[str, str, float, set[int]]]:
        return [(one.left, one.right, one.weight, set(one.memories)) for one in found]

    assert values(Associate(OPEN).over(corpus)) == values(Associate(OPEN).over(shuffled))


@settings(max_examples=80, deadline=None)
@given(corpora)
def test_weights_are_between_zero_and_one_and_evidence_mentions_both(corpus: dict[int, list[str]]) -> None:
    for one in Associate(OPEN).over(corpus):
        assert 0 < one.weight < 1
        assert one.left < one.right
        assert set(one.memories) == {memory for memory, names in corpus.items() if {one.left, one.right} <= set(names)}


@given(st.integers(1, 40), st.integers(1, 40), st.integers(100, 2000))
def test_chance_has_no_weight_and_company_more_than_chance(left: int, right: int, total: int) -> None:
    together = left * right // total
    assert association(together, left, right, total) == 0 or together * total > left * right
    assert association(min(left, right), left, right, total) > 0


def test_a_rare_pair_weighs_less_than_a_proven_one() -> None:
    assert association(2, 2, 2, 1000) < association(20, 20, 20, 1000)
    perfect = association(20, 20, 20, 1000)
    assert math.isclose(perfect, (20 / 21) ** 2)


def test_hubs_and_singletons_are_pruned_and_the_fact_is_typed() -> None:
    corpus = {number: ["hub", f"only{number}", *(["x", "y"] if number < 5 else [])] for number in range(1000)}
    [pair] = Associate().over(corpus)
    assert (pair.left, pair.right, pair.memories) == ("x", "y", (0, 1, 2, 3, 4))
    assert pair.fact.relation == MENTIONS_TOGETHER
    assert pair.fact.confidence == pair.weight


def test_a_long_memory_pairs_its_rarest_names_only() -> None:
    corpus = {number: [f"n{name}" for name in range(200)] for number in range(3)} | {9: ["z"]}
    assert len(Associate(most=5).over(corpus)) == 10
