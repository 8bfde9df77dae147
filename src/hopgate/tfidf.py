"""TF-IDF: documents as rows of weights, one for each of their terms that says what sets them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import csr_array

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Give the words of a text in small letters."""
    return _WORD.findall(text.lower())


def trigrams(text: str) -> Iterator[str]:
    """Give the three letters in a row of each word, its edges among them: " ad", "ada", "da " of "Ada"."""
    for word in text.lower().split():
        padded = f" {word} "
        yield from (padded[at : at + 3] for at in range(len(padded) - 2))


def tfidf(documents: Iterable[Iterable[str]], *, most: int | None = None, damped: bool = False) -> csr_array:
    """Weigh the terms of documents, each row of length 1; a column is a term.

    Parameters
    ----------
    documents : iterable of iterables of str
        The terms of each document, as often as they are in it.
    most : int, optional
        Terms of more documents than this count for nothing.
    damped : bool
        Whether a term that is there n times counts 1 + log(n).

    Examples
    --------
    >>> rows = tfidf([["red", "boat"], ["red", "boat", "sails"], ["tax", "form"]])
    >>> rows.shape, float((rows @ rows.T).toarray()[0, 2])
    ((3, 5), 0.0)
    """
    columns: dict[str, int] = {}
    ends, terms = [0], list[int]()
    for document in documents:
        terms += [columns.setdefault(term, len(columns)) for term in document]
        ends.append(len(terms))
    rows = csr_array((np.ones(len(terms), np.float64), terms, ends), shape=(len(ends) - 1, len(columns)))
    rows.sum_duplicates()
    frequency = np.bincount(rows.indices, minlength=len(columns))
    rarity = np.log(len(ends) / (1 + frequency)) + 1
    if most is not None:
        rarity[frequency > most] = 0
    counts = 1 + np.log(rows.data) if damped else rows.data
    rows.data = counts * rarity[rows.indices]
    rows.eliminate_zeros()
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    rows.data /= np.sqrt(np.bincount(row_of, rows.data**2, minlength=rows.shape[0]))[row_of]
    return rows.astype(np.float32)
