"""Names as they are compared, found in texts, and linked to what they are in."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.links import inside_links, title_links
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


@settings(deadline=None)
@given(MADE_UP)
def test_every_name_is_found_exactly_and_a_shared_name_goes_to_the_smallest(names: list[str]) -> None:
    index = name_index((name, number) for number, name in enumerate(names))
    for name in names:
        assert index.exact(name) == names.index(name)
        assert all(match.length < len(name_words(name)) for match in index.find(name, within=True))


@given(st.lists(st.sampled_from(["the", "Bank", "of", "an", "’s", "U.S.", "–", "it's", "x"]), max_size=14))
def test_a_whole_text_is_found_however_it_is_written(said: list[str]) -> None:
    text = " ".join(said)
    index = name_index([(text, 7)])
    assert index.exact(text) == (7 if index.names else None)


NAMES = [("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Bob Marsh", 3)]


def test_a_memory_that_is_nothing_but_a_name_is_titled_by_it() -> None:
    titles = [("norwich", 5), ("Mill Street (road)", 7), ("A walk to Norwich", 8)]
    assert title_links(name_index(NAMES), titles) == [(5, 1), (7, 0)]
    # A title, and the same without its brackets, may be two names.
    both = name_index([*NAMES, ("Norwich (city)", 4)])
    assert title_links(both, [("Norwich (city)", 0)]) == [(0, 1), (0, 4)]


def test_the_longest_name_hides_the_names_inside_it_and_containment_brings_them_back() -> None:
    index = name_index(NAMES)
    assert [match.concept for match in index.find("A fire in Mill Street, Norwich.")] == [2]
    assert inside_links(index, NAMES) == [(2, 0), (2, 1)]


def test_one_word_is_inside_a_name_only_where_it_is_a_name_there() -> None:
    names = [("winter tyres", 0), ("Winter", 1), ("28-622", 2), ("28", 3), ("Winter Garden", 4)]
    assert inside_links(name_index(names), names) == [(4, 1)]
