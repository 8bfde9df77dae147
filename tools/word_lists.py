"""Write the lists of words that hopgate ships, from wordfreq's: `pip install wordfreq; python tools/word_lists.py`.

wordfreq's data are CC BY-SA 4.0 (src/hopgate/extract/rules/word_lists/LICENSE.txt), and so are these lists.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

from wordfreq import get_frequency_list

from hopgate.extract.rules.words import CODES

# Rarer words than this count as unknown: zipf.
RAREST = {"en": 1.0, "de": 1.2}
FOLDER = Path(__file__).parents[1] / "src/hopgate/extract/rules/word_lists"


def buckets(code: str, size: str) -> list[list[str]]:
    """Words from the most frequent on, by hundredths of a decade."""
    rows: list[list[str]] = get_frequency_list(code, size)
    return rows[: round((9 - RAREST.get(code, 2.0)) * 100) + 1]


def packed(buckets: Iterable[Sequence[str]]) -> bytes:
    """Write the words of each bucket, from the most frequent one on, as `hopgate.extract.rules.words` reads them."""
    numbered = {word.encode(): number for number, bucket in enumerate(buckets) for word in bucket}
    words = sorted(numbered)
    places = array("H", map(numbered.__getitem__, words))
    if sys.byteorder == "big":
        places.byteswap()
    rows = len(words).to_bytes(4, "little")
    return zlib.compress(rows + bytes(map(len, words)) + places.tobytes() + b"".join(words), 9)


if __name__ == "__main__":
    for code in CODES:
        (FOLDER / f"{code}.words").write_bytes(packed(buckets(code, "best")))
    common = {word for code in CODES for bucket in buckets(code, "small") for word in bucket}
    (FOLDER / "common.words").write_bytes(packed([sorted(common)]))
