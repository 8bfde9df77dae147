"""Names as they are compared, and found in texts."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.names import name_index, name_words, normalise


@settings(max_examples=400, deadline=None)
@given(st.text(min_size=1))
@example("a the x")
@example("ǰ's")
@example("0.a.0")
def test_normalising_is_done_once(name: str) -> None:
    once = normalise(name)
    assert normalise(once) == once


WORDS = st.sampled_from(["mill", "street", "norwich", "canal", "north", "lock", "keeper", "barge"])
MADE_UP = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12)
TEXT = st.lists(WORDS, max_size=20).map(" ".join)


@settings(deadline=None)
@given(MADE_UP, TEXT)
def test_what_is_found_is_there_and_never_overlaps(names: list[str], text: str) -> None:
    numbered = [(name, number) for number, name in enumerate(names)]
    index = name_index(numbered)
    tokens = name_words(text)
    end = 0
    for concept, start, length in index.find(text):
        assert start >= end
        end = start + length
        assert name_words(names[concept]) == tokens[start:end]


def test_the_longest_name_hides_the_names_inside_it() -> None:
    index = name_index([("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Bob Marsh", 3)])
    assert [match.concept for match in index.find("A fire in Mill Street, Norwich.")] == [2]
