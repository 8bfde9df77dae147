"""Whose name it is may be a matter of the order of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.graph.canonicalise import Canonicaliser, ContextMention
from hopgate.graph.canonicalise.incremental import Candidate, Resolver
from hopgate.graph.canonicalise.word_order import in_order

WORDS = st.lists(st.sampled_from(["anna", "maria", "keller", "ruiz", "rosa"]), min_size=1, max_size=4, unique=True).map(
    tuple
)


def merged(first: str, second: str) -> bool:
    return Canonicaliser().fit([ContextMention(first), ContextMention(second)]).why(first, second).merged


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna Maria Keller", "Maria Anna Keller"),
        ("Anna Maria Keller", "Keller Maria Anna"),
        ("Anna Maria Keller", "Maria Anna Kellar"),
        ("José Luis Ruiz Peña", "Luis José Ruiz Peña"),
    ],
)
def test_the_same_names_in_another_order_are_somebody_elses(first: str, second: str) -> None:
    assert not merged(first, second)
    known = [Candidate(1, (first,), mentions=3)]
    assert Resolver().resolve(ContextMention(second), known).action == "new"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna Maria Keller", "Keller, Anna Maria"),
        ("Anna Maria Keller", "Keller Anna Maria"),
        ("Anna Maria Keller", "Anna Keller"),
        ("Anna Maria Keller", "Keller Anna"),
        ("Anna Maria Keller", "Anna Marie Keller"),
        ("Dr Anna Maria Keller", "Anna Maria Keller"),
        ("Wei Wang", "Wang Wei"),
        ("José Luis Ruiz Peña", "Ruiz Peña, José Luis"),
        ("Central Park New York", "New York Central Park"),
        ("World War II", "Second World War"),
        ("UK Department of Health", "Department of Health UK"),
        ("University of North Florida", "North Florida University"),
    ],
)
def test_a_family_name_first_and_words_that_are_no_names_are_the_same(first: str, second: str) -> None:
    assert merged(first, second)


@given(WORDS, WORDS)
def test_order_is_mutual_and_one_name_is_in_its_own(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert in_order(first, first)
    assert in_order(first, (*first[1:], first[0]))
    assert in_order(first, second) == in_order(second, first)
