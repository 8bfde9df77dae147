from hopgate.graph.names.index import name_index
from hopgate.graph.names.links import inside_links, title_links

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
