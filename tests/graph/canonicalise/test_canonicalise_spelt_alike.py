"""The 3-grams of names weigh what scikit-learn's vectoriser gives them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from hopgate.graph.canonicalise.spelling import spelling
from hopgate.graph.canonicalise.spelt_alike import ngram_rows

NAMES = st.lists(st.text("ab é日2 ", min_size=1, max_size=9).filter(str.strip), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(NAMES, st.integers(2, 4))
def test_rows_are_those_of_scikit_learn(names: list[str], most: int) -> None:
    rows = ngram_rows(names, most)
    try:
        vectoriser = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), max_df=most, dtype=np.float32)
        expected = vectoriser.fit_transform(names).toarray()
    except ValueError:
        assert rows is None
        return
    assert rows is not None
    np.testing.assert_allclose(rows.toarray(), expected, atol=1e-6)


def test_names_without_a_word_have_no_rows() -> None:
    assert ngram_rows([" ", ""], 5) is None


TOKENS = st.lists(st.text("abé2", min_size=1, max_size=6), min_size=1, max_size=3, unique=True).map(tuple)


@settings(max_examples=200, deadline=None)
@given(TOKENS, TOKENS)
def test_names_of_other_first_letters_are_spelt_otherwise(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    if sorted(token[0] for token in first) != sorted(token[0] for token in second):
        assert spelling(first, second) == 0
