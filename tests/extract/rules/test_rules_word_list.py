"""Lists of words: a packed one says of each word what it was packed with, and those that ship are whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.rules.word_list import packed, unpacked, word_list
from hopgate.extract.rules.words import CODES

WORDS = st.text(max_size=30).filter(lambda word: word.isprintable())


@given(st.lists(st.lists(WORDS, max_size=4), max_size=6), WORDS)
def test_a_list_says_of_each_word_its_last_bucket(buckets: list[list[str]], other: str) -> None:
    numbers = {word: number for number, bucket in enumerate(buckets) for word in bucket}
    words = unpacked(packed(buckets))
    assert {word: words.zipf(word) for word in numbers} == {word: 9 - at / 100 for word, at in numbers.items()}
    assert (other in words) == (other in numbers)


def test_the_lists_that_ship() -> None:
    small = {"en": "the", "de": "der", "nl": "het", "fr": "les", "es": "los", "it": "gli", "pt": "uma"}
    assert small.keys() == set(CODES)
    for code, word in small.items():
        assert word_list(code).zipf(word) > 6 and word in word_list("common")
        assert word_list(code).zipf("vaultwarden") == 0
