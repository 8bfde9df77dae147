"""How frequent words are in a language, kept on disk as a table that is looked into and never read as a whole.

wordfreq reads a list of half a million words to answer for one: 0.2 s of CPU a language and process, beside 0.3 for its
import. A kept list is a sorted array of the words' digests, with the bucket of each (docs/research/speed.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.private_files import private_folder
from hopgate.user_folders import cache_folder

SUFFIX = ".words"
_EDITION = 1
_DIGEST = hashlib.sha256().digest_size


class WordList:
    """Words by their frequency: `zipf` is 7 for "the", 3 once in a million words, 0 where a word is not known.

    Parameters
    ----------
    digests, buckets : sequence of int
        Words' digests in their order, and how many hundredths of a decade each is below one word of 1 (9 as a zipf).

    Examples
    --------
    >>> words = WordList.of([["the"], [], ["of", "and"]])
    >>> words.zipf("the"), words.zipf("and"), words.zipf("vaultwarden"), "of" in words
    (9.0, 8.98, 0.0, True)
    """

    def __init__(self, digests: Sequence[int], buckets: Sequence[int]) -> None:
        self._digests, self._buckets = digests, buckets

    @classmethod
    def of(cls, buckets: Iterable[Sequence[str]]) -> WordList:
        """Take the words of each bucket, from the most frequent one on."""
        numbered = {digest(word): number for number, bucket in enumerate(buckets) for word in bucket}
        rows = sorted(numbered.items())
        return cls(array("Q", (row[0] for row in rows)), array("H", (row[1] for row in rows)))

    def zipf(self, word: str) -> float:
        """How frequent a word is."""
        at = self._place(word)
        return 0.0 if at is None else 9 - self._buckets[at] / 100

    def __contains__(self, word: str) -> bool:
        return self._place(word) is not None

    def _place(self, word: str) -> int | None:
        wanted = digest(word)
        at = bisect_left(self._digests, wanted)
        return at if at < len(self._digests) and self._digests[at] == wanted else None

    def packed(self) -> bytes:
        """What `unpacked` reads."""
        return b"".join((len(self._digests).to_bytes(8, "big"), bytes(self._digests), bytes(self._buckets)))

    @classmethod
    def unpacked(cls, content: bytes) -> WordList:
        """Read what `packed` gave, without looking at each word."""
        rows, data = int.from_bytes(content[:8], "big"), memoryview(content)[8:]
        return cls(data[: 8 * rows].cast("Q"), data[8 * rows : 10 * rows].cast("H"))


def digest(word: str) -> int:
    """What a list knows of a word: of a million words no two share it but once in forty thousand lists."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")


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
    with contextlib.suppress(OSError):
        content = file.read_bytes()
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


def _write(file: Path, content: bytes, others: str) -> None:
    private_folder(file.parent)
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=file.parent)
    with os.fdopen(handle, "wb") as out:
        out.write(hashlib.sha256(content).digest() + content)
    # Those of other editions are nobody's any more.
    for other in file.parent.glob(others):
        other.unlink(missing_ok=True)
    Path(temporary).replace(file)


def _installed(code: str) -> str:
    """Which lists of a language are installed, without importing what reads them."""
    found = importlib.util.find_spec("wordfreq")
    folder = Path(found.origin).parent / "data" if found and found.origin else Path()
    lists = [(file.name, file.stat()) for file in sorted(folder.glob(f"*_{code}.*"))]
    return " ".join(f"{name} {known.st_size} {known.st_mtime_ns}" for name, known in lists)


def word_folder() -> Path:
    """Where lists of words are kept."""
    return cache_folder() / "words"


def kept_word_lists(folder: Path) -> list[Path]:
    """The lists of words in a folder."""
    return sorted(folder.glob(f"*{SUFFIX}"))
