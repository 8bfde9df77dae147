from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.names.index import LONGEST, name_index, words

WORDS = st.sampled_from(["mill", "street", "norwich", "canal", "north", "lock", "keeper", "barge"])
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12)
TEXT = st.lists(WORDS, max_size=20).map(" ".join)


@settings(deadline=None)
@given(NAMES, TEXT)
def test_what_is_found_is_there_and_never_overlaps(names: list[str], text: str) -> None:
    numbered = [(name, number) for number, name in enumerate(names)]
    index = name_index(numbered)
    tokens = words(text)
    end = 0
    for concept, start, length in index.find(text):
        assert start >= end
        end = start + length
        assert words(names[concept]) == tokens[start:end]


@settings(deadline=None)
@given(NAMES, TEXT)
def test_no_longer_name_starts_where_one_is_found(names: list[str], text: str) -> None:
    index = name_index((name, number) for number, name in enumerate(names))
    tokens = words(text)
    for _, start, length in index.find(text):
        longer = [name for name in names if len(words(name)) > length]
        assert not any(tokens[start : start + len(words(name))] == words(name) for name in longer)


@settings(deadline=None)
@given(NAMES)
def test_every_name_is_found_exactly_and_a_shared_name_goes_to_the_smallest(names: list[str]) -> None:
    index = name_index((name, number) for number, name in enumerate(names))
    for name in names:
        assert index.exact(name) == names.index(name)
        assert all(match.length < len(words(name)) for match in index.find(name, within=True))


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
