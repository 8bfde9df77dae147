import numpy as np

from hopgate.graph.names.index import name_index
from hopgate.graph.names.links import CONTAINED, NAMED, TITLED, Links, contained, named

NAMES = [("Mill Street", 0), ("Norwich", 1), ("Mill Street, Norwich", 2), ("Bob Marsh", 3)]


def as_dict(links: Links) -> dict[tuple[int, int], float]:
    pairs = list(zip(links.first.tolist(), links.second.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    return dict(zip(pairs, links.weight.tolist(), strict=True))


def test_a_title_weighs_more_than_a_name_in_the_text() -> None:
    contents = [(7, "Bob Marsh (miller)\nRobert Marsh ran the mill in Norwich."), (9, "Bob Marsh was seen.")]
    assert as_dict(named(name_index(NAMES), contents)) == {(7, 3): TITLED, (7, 1): NAMED, (9, 3): NAMED}


def test_a_memory_that_is_nothing_but_a_name_is_titled_by_it() -> None:
    assert as_dict(named(name_index(NAMES), [(0, "norwich")])) == {(0, 1): TITLED}


def test_the_longest_name_hides_the_names_inside_it_and_containment_brings_them_back() -> None:
    index = name_index(NAMES)
    assert as_dict(named(index, [(0, "A fire in Mill Street, Norwich.")])) == {(0, 2): NAMED}
    assert as_dict(contained(index, NAMES)) == {(2, 0): CONTAINED, (2, 1): CONTAINED}


def test_an_alias_inside_another_alias_of_the_same_concept_is_no_link() -> None:
    names = [("Marsh", 0), ("Bob Marsh", 0)]
    assert as_dict(contained(name_index(names), names)) == {}


def test_nothing_gives_empty_links_of_the_right_types() -> None:
    links = named(name_index([]), [])
    assert (links.first.dtype, links.second.dtype, links.weight.dtype) == (np.int32, np.int32, np.float32)
    assert as_dict(contained(name_index([]), [])) == {}
