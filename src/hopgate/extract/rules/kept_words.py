"""How frequent words are in a language, kept on disk as a table that is looked into: no word of it becomes an object.

wordfreq reads a list of half a million words to answer for one: 0.2 s of CPU a language and process, beside 0.3 for its
import. A kept list is its words in their order, one after the other, and where each begins (docs/research/speed.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.files import cache_folder, own_file, replace_file

SUFFIX = ".words"
_EDITION = 2
_DIGEST = hashlib.sha256().digest_size
# Lists of another installation that shares the cache are left for so long.
_FORGOTTEN_S = 30 * 86_400


class WordList:
    """Words by their frequency: `zipf` is 7 for "the", 3 once in a million words, 0 where a word is not known.

    Parameters
    ----------
    words : bytes
        The words in the order of their bytes, one after the other.
    starts, buckets : sequence of int
        Where each begins, and how many hundredths of a decade it is below one word of 1 (9 as a zipf).

    Examples
    --------
    >>> words = WordList.of([["the"], [], ["of", "and"]])
    >>> words.zipf("the"), words.zipf("and"), words.zipf("vaultwarden"), "of" in words
    (9.0, 8.98, 0.0, True)
    """

    def __init__(self, words: bytes, starts: Sequence[int], buckets: Sequence[int]) -> None:
        self._words, self._starts, self._buckets = words, starts, buckets
        self._places = range(len(buckets))

    @classmethod
    def of(cls, buckets: Iterable[Sequence[str]]) -> WordList:
        """Take the words of each bucket, from the most frequent one on."""
        numbered = {word.encode(errors="replace"): number for number, some in enumerate(buckets) for word in some}
        words = sorted(numbered)
        starts = array("I", accumulate(map(len, words), initial=0))
        return cls(b"".join(words), starts, array("H", map(numbered.__getitem__, words)))

    def zipf(self, word: str) -> float:
        """How frequent a word is."""
        at = self._place(word)
        return 0.0 if at is None else 9 - self._buckets[at] / 100

    def __contains__(self, word: str) -> bool:
        return self._place(word) is not None

    def _place(self, word: str) -> int | None:
        wanted = word.encode(errors="replace")
        at = bisect_left(self._places, wanted, key=self._word)
        return at if at < len(self._places) and self._word(at) == wanted else None

    def _word(self, at: int) -> bytes:
        return self._words[self._starts[at] : self._starts[at + 1]]

    def packed(self) -> list[bytes]:
        """What `unpacked` reads, in parts."""
        return [len(self._places).to_bytes(8, "big"), bytes(self._starts), bytes(self._buckets), self._words]

    @classmethod
    def unpacked(cls, content: bytes) -> WordList:
        """Read what `packed` gave, without looking at each word."""
        rows, data = int.from_bytes(content[:8], "big"), memoryview(content)[8:]
        ends = 4 * (rows + 1)
        return cls(bytes(data[ends + 2 * rows :]), data[:ends].cast("I"), data[ends : ends + 2 * rows].cast("H"))


@cache
def word_list(code: str, size: str, rarest: float) -> WordList:
    """The words of a language in one of wordfreq's sizes, down to a zipf; from the user's cache where it is there.

    Examples
    --------
    >>> word_list("en", "best", 1.0).zipf("the") > 7, "vaultwarden" in word_list("en", "small", 2.0)
    (True, False)
    """
    made_of = f"{_EDITION} {sys.byteorder} {code} {size} {rarest} {_installed(code)}"
    name = f"{code}-{size}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}{SUFFIX}"
    try:
        file = word_folder() / name
    except HopgateError:
        return _from_wordfreq(code, size, rarest)
    with contextlib.suppress(OSError), os.fdopen(own_file(file), "rb") as opened:
        content = opened.read()
        if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            return WordList.unpacked(content[_DIGEST:])
    made = _from_wordfreq(code, size, rarest)
    with contextlib.suppress(OSError):
        _write(file, made.packed(), f"{code}-{size}-*{SUFFIX}")
    return made


def _from_wordfreq(code: str, size: str, rarest: float) -> WordList:
    from wordfreq import get_frequency_list

    # Buckets of a hundredth of a decade each, from the most frequent word on; the long tail need not be read.
    return WordList.of(get_frequency_list(code, size)[: round((9 - rarest) * 100) + 1])


def _write(file: Path, parts: Sequence[bytes], others: str) -> None:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    replace_file(file, [digest.digest(), *parts])
    for other in file.parent.glob(others):
        if other.stat().st_mtime < time.time() - _FORGOTTEN_S:
            other.unlink(missing_ok=True)


def _installed(code: str) -> str:
    """Which lists of a language are installed, without importing what reads them."""
    found = importlib.util.find_spec("wordfreq")
    folder = Path(found.origin).parent / "data" if found and found.origin else Path()
    return " ".join(f"{file.name} {file.stat().st_size}" for file in sorted(folder.glob(f"*_{code}.*")))


def word_folder() -> Path:
    """Where lists of words are kept."""
    return cache_folder() / "words"


def kept_word_lists(folder: Path) -> list[Path]:
    """The lists of words in a folder."""
    return sorted(folder.glob(f"*{SUFFIX}"))
