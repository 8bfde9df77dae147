"""Hops are told by different memories that share no wording but the bridge concept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache

import pytest

from hopgate.demo import corpus

# The English stop words of the Snowball project, which PostgreSQL's `english` configuration drops too.
_STOP = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves what which who whom this that these those am is are was were be been
being have has had having do does did doing a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further
then once here there when where why how all any both each few more most other some such no nor not only own same so
than too very s t can will just don should now
"""
STOP = frozenset(_STOP.split())
SEEDS = [7, 1, 2]


@cache
def stems(text: str) -> frozenset[str]:
    """Content words as FTS5's Porter stemmer leaves them: neither hopgate's nor PostgreSQL's code has a say."""
    words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        connection.execute("INSERT INTO t VALUES (?)", (" ".join(word for word in words if word not in STOP),))
        return frozenset(term for (term,) in connection.execute("SELECT term FROM v"))


@cache
def searchable(seed: int) -> dict[str, frozenset[str]]:
    """Everything the lexical leg can match: content, tags, keywords and category."""
    return {
        one.external_id: stems(" ".join((one.content, *one.tags, *one.expanded_keywords, one.category or "")))
        for one in corpus(seed).memories
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_hops_share_only_the_bridge(seed: int) -> None:
    words = searchable(seed)
    chained = [query for query in corpus(seed).queries if query.metadata["hops"] > 1]
    assert len(chained) > 60
    for query in chained:
        assert len(query.bridges) == len(query.evidence) - 1
        for number, bridge in enumerate(query.bridges):
            for left in query.evidence[number]:
                for right in query.evidence[number + 1]:
                    shared = words[left] & words[right]
                    assert left != right and shared and shared <= stems(bridge), (query.text, left, right)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_query_shares_words_with_the_first_hop_alone_and_a_paraphrase_none_but_names(seed: int) -> None:
    world, words = corpus(seed), searchable(seed)
    names = {fact.subject for fact in world.facts}
    for query in world.queries:
        asked, (first, *later), stratum = stems(query.text), query.evidence, query.metadata["stratum"]
        assert not any(asked & words[key] for hop in later for key in hop), query.text
        assert not later or all(asked & words[key] for key in first), query.text
        if stratum == "exact":
            assert all(asked <= words[key] for key in first), query.text
        if stratum == "paraphrase":
            named = frozenset().union(*(stems(name) for name in names if name in query.text))
            assert all(not (asked - named) & words[key] for key in first), query.text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chat_query_shares_words_with_the_turn_before_its_answer_and_none_with_that(seed: int) -> None:
    world, words = corpus(seed), searchable(seed)
    thread = {one.external_id: (one.scope, one.thread) for one in world.memories if one.thread}
    turns = sorted(thread)
    for query in world.queries:
        if query.metadata["stratum"] == "chat":
            ((answer,),) = query.evidence
            before, asked = turns[turns.index(answer) - 1], stems(query.text)
            assert thread[before] == thread[answer]
            assert not asked & words[answer] and len(asked & words[before]) >= 2, query.text
            assert max(words, key=lambda key: len(asked & words[key])) == before, query.text
