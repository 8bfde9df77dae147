"""Names as they are compared, found in texts, and linked to what they are in."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.links import inside_links, title_links
from hopgate.graph.names import LONGEST, _folded, clash, initials, name_index, name_words, normalise, tokens


@settings(max_examples=400, deadline=None)
@given(st.text(min_size=1))
@example("a the x")
@example("ǰ's")
@example("0.a.0")
def test_normalising_is_done_once(name: str) -> None:
    once = normalise(name)
    assert normalise(once) == once


@settings(max_examples=300, deadline=None)
@given(st.text(" aTHEnx0'._-", min_size=1, max_size=12))
def test_a_plain_name_is_normalised_as_any_other(name: str) -> None:
    before, after = name, _folded(name)
    while before != after:
        before, after = after, _folded(after)
    assert normalise(name) == after


@given(st.text(min_size=1).filter(str.strip))
def test_every_name_has_a_token(name: str) -> None:
    assert tokens(normalise(name))


def test_what_differs_in_writing_only_is_one_name() -> None:
    assert len({normalise(name) for name in ("The U.S. Navy", "US Navy", "us  navy", "U.S. Navy's")}) == 1
    assert normalise("C++") != normalise("C#") != normalise("C")


def test_numbers_tell_things_apart() -> None:
    assert clash(tokens("january 16 1977"), tokens("april 16 1977"))
    assert clash(tokens("windows 95"), tokens("windows 98"))
    assert not clash(tokens("world war ii"), tokens("second world war"))
    assert set(tokens("world war ii")) == set(tokens("second world war"))


def test_initials_skip_joining_words() -> None:
    assert initials("food and drug administration") == "fda"
    assert initials("nasa") == ""


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
@given(MADE_UP, TEXT)
def test_no_longer_name_starts_where_one_is_found(names: list[str], text: str) -> None:
    index = name_index((name, number) for number, name in enumerate(names))
    tokens = name_words(text)
    for _, start, length in index.find(text):
        longer = [name for name in names if len(name_words(name)) > length]
        assert not any(tokens[start : start + len(name_words(name))] == name_words(name) for name in longer)


@settings(deadline=None)
@given(MADE_UP)
def test_every_name_is_found_exactly_and_a_shared_name_goes_to_the_smallest(names: list[str]) -> None:
    index = name_index((name, number) for number, name in enumerate(names))
    for name in names:
        assert index.exact(name) == names.index(name)
        assert all(match.length < len(name_words(name)) for match in index.find(name, within=True))


def test_case_accents_articles_and_possessives_do_not_matter() -> None:
    index = name_index([("Café Mill", 0)])
    assert [match.concept for match in index.find("We met at the CAFE MILL's terrace")] == [0]


def test_names_that_name_nothing_are_left_out() -> None:
    index = name_index([("it", 0), ("the", 1), ("x", 2), ("", 3), ("?!", 4), (" ".join(["mill"] * (LONGEST + 1)), 5)])
    assert index.find("it is the x " + " ".join(["mill"] * 20)) == []


def test_an_empty_index_and_an_empty_text_find_nothing() -> None:
    assert name_index([]).find("mill street") == []
    assert name_index([("mill", 0)]).find("") == []


@given(st.lists(st.sampled_from(["the", "Bank", "of", "an", "’s", "U.S.", "–", "it's", "x"]), max_size=14))
def test_a_whole_text_is_found_however_it_is_written(said: list[str]) -> None:
    text = " ".join(said)
    index = name_index([(text, 7)])
    assert index.exact(text) == (7 if index.names else None)


NAMES = [("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Bob Marsh", 3)]


def test_only_a_title_that_is_the_whole_name_is_a_link() -> None:
    titles = [(7, "Bob Marsh (miller)"), (9, "Bob Marsh was seen.")]
    assert title_links(name_index(NAMES), titles) == [(7, 3)]


def test_a_memory_that_is_nothing_but_a_name_is_titled_by_it() -> None:
    assert title_links(name_index(NAMES), [(0, "norwich")]) == [(0, 1)]


def test_a_title_and_the_same_without_its_brackets_may_be_two_names() -> None:
    index = name_index([*NAMES, ("Norwich (city)", 4)])
    assert title_links(index, [(0, "Norwich (city)")]) == [(0, 1), (0, 4)]


def test_the_longest_name_hides_the_names_inside_it_and_containment_brings_them_back() -> None:
    index = name_index(NAMES)
    assert [match.concept for match in index.find("A fire in Mill Street, Norwich.")] == [2]
    assert inside_links(index, NAMES) == [(2, 0), (2, 1)]


def test_an_alias_inside_another_alias_of_the_same_concept_is_no_link() -> None:
    names = [("Marsh", 0), ("Bob Marsh", 0)]
    assert inside_links(name_index(names), names) == []


def test_nothing_gives_no_links() -> None:
    assert title_links(name_index([]), []) == []
    assert inside_links(name_index([]), []) == []
