"""Spans of whole words out of what a model says of tokens."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.tagger.tagged_spans import spans_of

NAMES = ("", "thing", "value", "former")


def letters(text: str, marks: str) -> list[tuple[str, str]]:
    """Spans where every letter is a token of its own, labelled by the digit below it."""
    labels = np.eye(4, dtype=np.float32)[[int(mark) for mark in marks]]
    offsets = [(at, at + 1) for at in range(len(text))]
    return [(span.label, span.text) for span in spans_of(text, offsets, labels, NAMES)]


def test_a_word_has_the_label_of_most_of_its_letters() -> None:
    assert letters("E.ON now", "33330000") == [("former", "E.ON")]
    assert letters("old-desktop", "00222222222") == [("value", "old-desktop")]
    assert letters("nas", "003") == []


def test_words_beside_each_other_are_one_span_and_others_are_not() -> None:
    assert letters("Dr. Moss", "22222222") == [("value", "Dr. Moss")]
    assert letters("Wigan, Leeds", "222222222222") == [("value", "Wigan"), ("value", "Leeds")]
    assert letters("oak birch", "333322222") == [("former", "oak"), ("value", "birch")]


def test_numbers_are_not_cut_apart() -> None:
    assert letters("19:00", "22222") == [("value", "19:00")]
    assert letters("€1,020, x", "222222000") == [("value", "€1,020")]


def test_an_article_is_none_of_it() -> None:
    assert letters("the old laptop", "3" * 14) == [("former", "old laptop")]
    assert letters("the", "333") == [("former", "the")]


@given(st.text(max_size=40), st.integers(0, 2**32 - 1))
def test_spans_stand_in_the_text_where_they_say(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.dirichlet(np.ones(4), size=max(1, len(text))).astype(np.float32)[: len(text)]
    spans = spans_of(text, [(at, at + 1) for at in range(len(text))], labels, NAMES)
    ends = [span.start + len(span.text) for span in spans]
    for span, end in zip(spans, ends, strict=True):
        assert text[span.start : end] == span.text
        assert 0 < span.confidence <= 1.0001
    assert all(end <= after.start for end, after in zip(ends, spans[1:], strict=False))
