"""The late leg: how well each token of the query is matched in every candidate, by its own tokens or over arcs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from hopgate.recall.hit import WordMatch
from hopgate.recall.query_time import asked_time

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.recall.evidence import Evidence
    from hopgate.recall.filters import Query
    from hopgate.recall.lexical import Leg
    from hopgate.store.vectors import MemoryTokens

# A word explains nothing that is matched by less than this beyond the usual, or by less than this part of the best one.
LEAST, LEAST_PART = 0.05, 0.4


class LateReading(NamedTuple):
    """The candidates that have tokens, and the evidence of the query's words in them."""

    words: tuple[str, ...]
    memories: list[int]
    evidence: Evidence

    def scored(self) -> Leg:
        """Give each candidate's score, best first; rounded, as the last bits go by where its tokens lie in memory."""
        scores = zip(self.memories, self.evidence.scores.astype(float).round(5).tolist(), strict=True)
        return sorted(scores, key=lambda hit: (-hit[1], hit[0]))

    def similarities(self) -> dict[int, float]:
        """Give how well the query's words are matched by each candidate's own tokens, on average."""
        words = [row for row, word in enumerate(self.words) if any(map(str.isalnum, word))]
        means = self.evidence.own[words].mean(axis=0) if words else self.evidence.own.mean(axis=0)
        return dict(zip(self.memories, means.astype(float).round(4).tolist(), strict=True))

    def matches(self, memory: int, names: Mapping[int, str]) -> tuple[WordMatch, ...]:
        """Say which words of the query speak for a memory, in the query's order; a word counts by its best token.

        Parameters
        ----------
        names : mapping of the store's id to the external id
            Of all candidates.
        """
        if memory not in self.memories:
            return ()
        best: dict[str, WordMatch] = {}
        for token, score, by, part in self.evidence.matches(self.memories.index(memory)):
            word = self.words[token]
            if any(map(str.isalnum, word)) and score >= max(LEAST, best[word].score if word in best else 0.0):
                best[word] = WordMatch(word, round(score, 4), names[self.memories[by]], part)
        least = LEAST_PART * max((match.score for match in best.values()), default=0.0)
        told = [match for match in best.values() if match.score >= least]
        return tuple(sorted(told, key=lambda match: self.words.index(match.word)))


def late_reading(
    query: Query, kept: Mapping[int, MemoryTokens], matrix: GraphMatrix | None = None
) -> LateReading | None:
    """Match the query's tokens in the candidates', over the arcs of a graph where one is given.

    A time that the query asks about is one token more, which the date of a memory matches. None where the query or no
    candidate has tokens.
    """
    if query.tokens is None or not kept:
        return None
    import numpy as np

    from hopgate.embed.late import joined, late_matches
    from hopgate.recall.evidence import Evidence, arcs_between

    memories, words = sorted(kept), query.tokens.words
    matches = late_matches(query.tokens.rows, *joined([kept[memory].rows for memory in memories]))
    if asked := asked_time(query.text):
        dates = [kept[memory].made_at for memory in memories]
        near = [asked.nearness(date) if date else 0.0 for date in dates]
        matches, words = np.vstack([matches, np.asarray(near, matches.dtype)]), (*words, asked.words)
    return LateReading(words, memories, Evidence(matches, arcs_between(matrix, memories) if matrix else None))
