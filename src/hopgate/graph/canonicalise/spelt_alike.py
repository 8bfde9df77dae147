"""TF-IDF of the character 3-grams of names: what scikit-learn's vectoriser gives, without the seconds it loads for.

A name's words stand between spaces, and no 3-gram reaches over two words. Rows have unit length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SIZE = 3


def ngram_rows(names: Sequence[str], most: int) -> csr_array[np.float32] | None:
    """Give a row a name and a column a 3-gram that at most `most` names have; None where there is no such.

    Examples
    --------
    >>> rows = ngram_rows(["ann lee", "anna lee", "bob"], 3)
    >>> [round(float(likeness), 2) for likeness in (rows @ rows.T).toarray()[0]]
    [1.0, 0.66, 0.0]
    """
    from scipy.sparse import csr_array

    column: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    of_word: dict[str, list[int]] = {}
    for name in names:
        for word in name.split():
            known = of_word.get(word)
            if known is None:
                held = f" {word} "
                starts = range(max(1, len(held) - SIZE + 1))
                known = [column.setdefault(held[at : at + SIZE], len(column)) for at in starts]
                of_word[word] = known
            columns += known
        ends.append(len(columns))
    # In the order of the alphabet: sums do not depend on which name came first.
    order = np.argsort(np.array(list(column), dtype=object)) if column else np.zeros(0, np.int64)
    place = np.empty(len(column), np.int64)
    place[order] = np.arange(len(column))
    counts = csr_array(
        (np.ones(len(columns), np.float32), place[columns] if columns else np.zeros(0, np.int64), np.array(ends)),
        shape=(len(names), len(column)),
    )
    counts.sum_duplicates()
    holding = np.bincount(counts.indices, minlength=len(column))
    kept = np.flatnonzero(holding <= most)
    if not len(kept):
        return None
    rows: csr_array[np.float32] = counts[:, kept]
    rows.data *= (np.log((1 + len(names)) / (1 + holding[kept])) + 1).astype(np.float32)[rows.indices]
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows.data /= np.repeat(np.where(length > 0, length, 1), np.diff(rows.indptr)).astype(np.float32)
    return rows
