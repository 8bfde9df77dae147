"""Names become concepts: which are compared, by what evidence, how they are joined, and what the result answers."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from hopgate.errors import HopgateError
from hopgate.graph import canonicalise
from hopgate.graph.canonicalise import (
    NEGLIGIBLE,
    Candidate,
    Canonicalisation,
    Canonicaliser,
    ContextMention,
    agglomerate,
    canonicalise_relations,
)
from hopgate.graph.likeness import Scored


def fit(*names: str) -> Canonicalisation:
    return Canonicaliser().fit([ContextMention(name) for name in names])


def together(result: Canonicalisation, first: str, second: str) -> bool:
    return result.why(first, second).merged


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("World War II", "Second World War", True),
        ("FDA", "Food and Drug Administration", True),
        ("President Obama", "Obama", True),
        ("Apple Inc.", "Apple", True),
        ("Wal-Mart", "Walmart", True),
        ("John Smith", "J. Smith", True),
        ("I (home)", "I (home) ", True),
        ("World War I", "World War II", False),
        ("England", "New England", False),
        ("Windows 95", "Windows 98", False),
        ("January 1842", "March 1842", False),
        ("Austria", "Australia", False),
        ("White House", "White Horse", False),
        # Whoever says "I" in two scopes is two.
        ("I", "I (home)", False),
        ("I (alice smith)", "I (alice smyth)", False),
        ("I (team-a)", "I (team-b)", False),
        ("I (lab)", "I (lab notes)", False),
        # What is somebody's, or half of a name with a hyphen, is another.
        ("Karl", "Karl-Heinz", False),
        ("Anna", "Anna\u2011Lena", False),
        ("Mike", "Mike's Bikes", False),
        ("Mia's bike", "Noah's bike", False),
        ("Ada", "Ada Lovelace-King", True),
        ("Jean-Paul Sartre", "Sartre", True),
    ],
)
def test_ways_to_write_one_name_merge_and_things_told_apart_by_a_word_do_not(first, second, same):
    assert together(fit(first, second, first, second, "Berlin"), first, second) is same


def test_a_short_name_goes_with_the_one_most_often_meant_and_one_of_too_many_with_none():
    result = fit(*["Marilyn Monroe"] * 6, *["James Monroe"] * 2, *["Monroe"] * 3)
    assert together(result, "Monroe", "Marilyn Monroe")
    assert not together(result, "Marilyn Monroe", "James Monroe")
    assert len(fit("Adam Smith", "Will Smith", "John Smith", "Patti Smith", "Smith").clusters()) == 5


def test_kinds_are_soft_evidence():
    def names(kind: str | None) -> list[ContextMention]:
        return [ContextMention("Paris", kind), ContextMention("Paris", "place")]

    assert len(Canonicaliser().fit(names(None)).clusters()) == 1
    assert len(Canonicaliser().fit(names("city")).clusters()) == 1  # extractors name kinds differently
    assert len(Canonicaliser(threshold=0.9).fit(names("person")).clusters()) == 2
    # What is in a place is not the place.
    airport = ContextMention("Anson Airport", located_in=("Anson",))
    assert len(Canonicaliser().fit([airport, ContextMention("Anson"), ContextMention("Anson")]).clusters()) == 2


def test_the_result_answers():
    result = fit(*["Ada Lovelace"] * 3, "Lovelace", "Ada King Lovelace", "Charles Babbage")
    why = result.why("Lovelace", "Ada Lovelace")
    assert why.merged and why.evidence["expansion"] == 1
    assert not result.why("Lovelace", "Charles Babbage").merged
    assert "6 mentions, 4 names, 2 concepts" in str(result)
    with pytest.raises(HopgateError, match="no mention is called"):
        result.why("Nobody", "Lovelace")
    assert fit().labels_.tolist() == fit().clusters() == []
    assert fit("x").labels_.tolist() == [0]
    with pytest.raises(HopgateError, match="empty name"):
        fit("")


def test_relations_are_brought_together_and_the_raw_ones_kept():
    raw = ["was born in", "born in", "be born in", "was born in", "is the parent of", "works at", "worked for"]

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        """One direction for the two that mean employment, and one for each of the others."""
        rows = [0 if "work" in text else number for number, text in enumerate(texts, start=1)]
        return np.eye(len(texts) + 1, dtype=np.float32)[rows]

    result = canonicalise_relations(Counter(raw), embed)
    born = {name for name, canonical in result.items() if canonical == "was born in"}
    assert born == {"was born in", "born in", "be born in"}
    assert result["worked for"] == result["works at"]
    assert set(result) == set(raw) and canonicalise_relations({}) == {}
    # Those that turn a meaning around stay apart, as do two things that one has, however near.
    same = np.ones((2, 1), dtype=np.float32)
    for pair in (("directed", "directed by"), ("is married", "is not married"), ("has card", "has bank card")):
        assert canonicalise_relations(dict.fromkeys(pair, 1), embed=lambda _: same) == {raw: raw for raw in pair}


MONROES = [Candidate(1, ("Marilyn Monroe", "Marilyn"), "person", 9), Candidate(2, ("James Monroe",), "person", 1)]
TWINS = [Candidate(1, ("Paris",), "place", 2), Candidate(2, ("Paris",), "person", 9)]
EVEN = [Candidate(1, ("Marilyn Monroe",), mentions=5), Candidate(2, ("James Monroe",), mentions=6)]


@pytest.mark.parametrize(
    ("name", "kind", "candidates", "threshold", "decided"),
    [
        ("MARILYN", None, MONROES, 0.5, ("merge", 1)),
        ("Paris", "place", TWINS, 0.5, ("ask", 1)),
        ("Monroe", None, MONROES, 0.5, ("merge", 1)),
        ("Berlin", None, [], 0.5, ("new", None)),
        ("Berlin", None, MONROES, 0.5, ("new", None)),
        ("Monroe", None, EVEN, 0.9, ("ask", 2)),
    ],
)
def test_a_new_name_is_merged_asked_about_or_new(name, kind, candidates, threshold, decided):
    decision = Canonicaliser(threshold=threshold).resolve(ContextMention(name, kind), candidates)
    assert (decision.action, decision.concept) == decided


def scored(matrix: np.ndarray) -> Scored:
    i, j = np.triu_indices(len(matrix), 1)
    return Scored(i, j, matrix[i, j].astype(np.float32), np.zeros((len(i), 7), np.float32))


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Similarities that differ pairwise, as do their averages, so that no tie may be broken either way."""
    size = draw(st.integers(2, 9))
    pairs = size * (size - 1) // 2
    order = draw(st.permutations(range(pairs)))
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size, 1)] = NEGLIGIBLE + (1 - NEGLIGIBLE) * ((np.array(order) + 0.5) / pairs) ** 1.37
    return matrix + matrix.T


@settings(max_examples=80, deadline=None)
@given(matrices(), st.floats(0.25, 0.95))
def test_it_is_scipys_linkage_where_all_pairs_are_known(matrix, threshold):
    i, j = np.triu_indices(len(matrix), 1)
    tree = linkage(1 - matrix[i, j].astype(np.float32).astype(float), "average")
    if np.abs(tree[:, 2] - (1 - threshold)).min() < 1e-5:
        return  # the threshold is on a merge: rounding decides
    expected = fcluster(tree, 1 - threshold, "distance").tolist()
    labels = agglomerate(scored(matrix), len(matrix), threshold).tolist()
    assert len(set(zip(labels, expected, strict=True))) == len(set(labels)) == len(set(expected))


def test_no_cluster_is_a_chain_or_has_too_many_names(monkeypatch):
    at = np.arange(49)
    chain = Scored(at, at + 1, np.full(49, 0.9, np.float32), np.zeros((49, 7), np.float32))
    assert np.bincount(agglomerate(chain, 50, 0.5)).max() <= 2
    monkeypatch.setattr(canonicalise, "MOST_NAMES", 6)
    assert np.bincount(agglomerate(scored(np.ones((20, 20))), 20, 0.5)).max() <= 6
