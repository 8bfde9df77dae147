"""Lists of words that are kept on disk: as frequent as wordfreq says, and made anew where a file is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordfreq import get_frequency_list

from hopgate.extract.rules import kept_words
from hopgate.extract.rules.kept_words import WordList, kept_word_lists, word_folder, word_list


@given(st.lists(st.lists(st.text(), max_size=4), max_size=6), st.text())
def test_a_list_says_of_each_word_its_last_bucket(buckets: list[list[str]], other: str) -> None:
    numbers = {word: number for number, bucket in enumerate(buckets) for word in bucket}
    made = WordList.of(buckets)
    for words in (made, WordList.unpacked(b"".join(made.packed()))):
        assert {word: words.zipf(word) for word in numbers} == {word: 9 - at / 100 for word, at in numbers.items()}
        assert (other in words) == (other in numbers)


def test_words_are_as_frequent_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    known = {word: 9 - at / 100 for at, bucket in enumerate(get_frequency_list("it", "small")[:701]) for word in bucket}
    for _ in range(2):  # from wordfreq, and from the file
        found = word_list.__wrapped__("it", "small", 2.0)
        assert {word: found.zipf(word) for word in known} == known and "vaultwarden" not in found
    (file,) = kept_word_lists(word_folder())
    assert file.stat().st_mode & 0o077 == 0


def test_a_damaged_list_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    word_list.__wrapped__("pt", "small", 3.0)
    (file,) = kept_word_lists(word_folder())
    good = file.read_bytes()
    for bad in (good[:-3], good[:100] + bytes([good[100] ^ 1]) + good[101:], b""):
        file.write_bytes(bad)
        assert word_list.__wrapped__("pt", "small", 3.0).zipf("de") > 6
        assert file.read_bytes() == good


def test_a_list_of_another_edition_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path))
    word_list.__wrapped__("nl", "small", 3.0)
    monkeypatch.setattr(kept_words, "_EDITION", 2)
    word_list.__wrapped__("nl", "small", 3.0)
    assert len(kept_word_lists(word_folder())) == 1


def test_nothing_is_kept_where_nothing_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path / "file"))
    assert word_list.__wrapped__("fr", "small", 3.0).zipf("de") > 6
