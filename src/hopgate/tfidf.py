"""TF-IDF: texts as rows of weights, one for each of their words that says what sets them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

_WORD = re.compile(r"\w+")


def tfidf(texts: Iterable[str]) -> csr_array:
    """Weigh the words of texts, each row of length 1; a column is a word. One that is there n times counts 1 + log(n).

    Examples
    --------
    >>> rows = tfidf(["red boat", "Red boat sails", "tax form"])
    >>> rows.shape, float((rows @ rows.T).toarray()[0, 2])
    ((3, 5), 0.0)
    """
    columns: dict[str, int] = {}
    ends, places = [0], list[int]()
    for text in texts:
        places += [columns.setdefault(word, len(columns)) for word in _WORD.findall(text.lower())]
        ends.append(len(places))
    rows = csr_array((np.ones(len(places)), places, ends), shape=(len(ends) - 1, len(columns)))
    rows.sum_duplicates()
    rarity = np.log(len(ends) / (1 + np.bincount(rows.indices, minlength=len(columns)))) + 1
    rows.data = (1 + np.log(rows.data)) * rarity[rows.indices]
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    rows.data /= np.sqrt(np.bincount(row_of, rows.data**2, minlength=rows.shape[0]))[row_of]
    return rows.astype(np.float32)
