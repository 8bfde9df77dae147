"""Texts as vectors that need no model: TF-IDF, and its main directions."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

_WORD = re.compile(r"\w+")


def tfidf(texts: Iterable[str]) -> csr_array:
    """Weigh the words of texts, in rows of length 1; a word that is there n times counts 1 + log(n)."""
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


def latent(texts: Iterable[str], dimension: int = 128) -> NDArray[np.float32]:
    """Give texts as rows of length 1: latent semantic analysis (Deerwester et al., JASIS 41(6), 1990)."""
    from scipy.sparse.linalg import svds

    weights = tfidf(texts)
    size = min(dimension, min(weights.shape) - 1)
    if size >= 2:
        start = np.random.default_rng(0).standard_normal(min(weights.shape))
        left, strengths, _ = svds(weights.astype(np.float64), k=size, v0=start)
        vectors = left * strengths
    else:
        vectors = weights.toarray()
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
