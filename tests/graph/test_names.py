"""Names as they are compared, found in texts, and linked to what they are in."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.links import inside_links
from hopgate.graph.names import name_index, name_words, normalise
from hopgate.store.graph.name_rows import NameRow


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


def inside(names: list[tuple[str, int]]) -> list[tuple[int, int]]:
    rows = [NameRow(concept, concept, normalise(name), name, None) for name, concept in names]
    return inside_links(rows, rows)


NAMES = [("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Bob Marsh", 3)]


def test_the_longest_name_hides_the_names_inside_it_and_containment_brings_them_back() -> None:
    index = name_index(NAMES)
    assert [match.concept for match in index.find("A fire in Mill Street, Norwich.")] == [2]
    assert inside(NAMES) == [(2, 0), (2, 1)]


def test_one_word_is_inside_a_name_only_where_it_is_a_name_there() -> None:
    names = [("winter tyres", 0), ("Winter", 1), ("28-622", 2), ("28", 3), ("Winter Garden", 4)]
    assert inside(names) == [(4, 1)]
