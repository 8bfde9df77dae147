"""How frequent words are in a language: lists that come with hopgate, looked into without an object for each word.

`tools/word_lists.py` makes them out of wordfreq's (Robyn Speer, CC BY-SA 4.0), which is no dependency: it weighs 58 MB.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

import numpy as np

_FOLDER = resources.files("hopgate.extract.rules").joinpath("word_lists")


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
    >>> words = unpacked(packed([["the"], [], ["of", "and"]]))
    >>> words.zipf("the"), words.zipf("and"), words.zipf("vaultwarden"), "of" in words
    (9.0, 8.98, 0.0, True)
    """

    def __init__(self, words: bytes, starts: Sequence[int], buckets: Sequence[int]) -> None:
        self._words, self._starts, self._buckets = words, starts, buckets
        self._places = range(len(buckets))

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


def packed(buckets: Iterable[Sequence[str]]) -> bytes:
    """Write the words of each bucket, from the most frequent one on, as `unpacked` reads them."""
    numbered = {word.encode(): number for number, bucket in enumerate(buckets) for word in bucket}
    words = sorted(numbered)
    places = array("H", map(numbered.__getitem__, words))
    if sys.byteorder == "big":
        places.byteswap()
    rows = len(words).to_bytes(4, "little")
    return zlib.compress(rows + bytes(map(len, words)) + places.tobytes() + b"".join(words), 9)


def unpacked(content: bytes) -> WordList:
    """Read what `packed` wrote."""
    data = memoryview(zlib.decompress(content))
    rows = int.from_bytes(data[:4], "little")
    lengths, numbers, words = data[4 : 4 + rows], data[4 + rows : 4 + 3 * rows], data[4 + 3 * rows :]
    places = array("H", bytes(numbers))
    if sys.byteorder == "big":
        places.byteswap()
    starts = np.zeros(rows + 1, np.uint32)
    np.cumsum(np.frombuffer(lengths, np.uint8), out=starts[1:])
    return WordList(bytes(words), array("I", starts.tobytes()), places)


@cache
def word_list(name: str) -> WordList:
    """The words of a language, by its code; `common` has the thirty thousand most frequent of each language.

    Examples
    --------
    >>> word_list("en").zipf("the") > 7, "vaultwarden" in word_list("common")
    (True, False)
    """
    return unpacked(_FOLDER.joinpath(f"{name}.words").read_bytes())
