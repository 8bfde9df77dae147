"""Hops are told by different memories that share no wording but the bridge concept."""

from __future__ import annotations

import sqlite3
from functools import cache

import pytest

from hopgate.demo import Corpus, corpus

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
SEEDS = [7, 1, 2, 3, 11, 42]


@cache
def stems(text: str) -> frozenset[str]:
    """Content words as FTS5's Porter stemmer leaves them: neither hopgate's nor PostgreSQL's code has a say."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        kept = " ".join(word for word in _words(text) if word not in STOP)
        connection.execute("INSERT INTO t VALUES (?)", (kept,))
        found = frozenset(term for (term,) in connection.execute("SELECT term FROM v"))
    connection.close()
    return found


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


def searchable(world: Corpus) -> dict[str, frozenset[str]]:
    """Everything the lexical leg can match: content, tags, keywords and category."""
    return {
        memory.external_id: stems(
            " ".join((memory.content, *memory.tags, *memory.expanded_keywords, memory.category or ""))
        )
        for memory in world.memories
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_consecutive_hops_share_only_the_bridge(seed):
    world = corpus(seed)
    words = searchable(world)
    chained = [query for query in world.queries if query.metadata["hops"] > 1]
    assert len(chained) > 60
    for query in chained:
        assert len(query.bridges) == len(query.evidence) - 1
        for number, bridge in enumerate(query.bridges):
            for left in query.evidence[number]:
                for right in query.evidence[number + 1]:
                    shared = words[left] & words[right]
                    assert left != right
                    assert shared, (query.text, left, right)
                    assert shared <= stems(bridge), (query.text, left, right, shared - stems(bridge))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_query_shares_no_word_with_any_hop_but_the_first(seed):
    """Nothing is unavoidable here: a later hop is asked for in words that its memories do not use."""
    world = corpus(seed)
    words = searchable(world)
    for query in world.queries:
        first, *later = query.evidence
        assert query.metadata["hops"] == 1 or all(stems(query.text) & words[key] for key in first), query.text
        for hop in later:
            for key in hop:
                assert not stems(query.text) & words[key], (query.text, key, stems(query.text) & words[key])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_paraphrase_avoids_the_words_and_an_exact_query_quotes_them(seed):
    world = corpus(seed)
    words = searchable(world)
    names = {fact.subject for fact in world.facts}
    for query in world.queries:
        ((*keys,), *_) = query.evidence
        if query.metadata["stratum"] == "exact":
            assert all(stems(query.text) <= words[key] for key in keys), (
                query.text,
                stems(query.text) - words[keys[0]],
            )
        if query.metadata["stratum"] == "paraphrase":
            named = frozenset().union(*(stems(name) for name in names if name in query.text))
            assert all(not (stems(query.text) - named) & words[key] for key in keys), (query.text, keys)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chat_query_shares_words_with_the_turn_before_its_answer_and_none_with_that(seed):
    world = corpus(seed)
    words = searchable(world)
    turns = sorted(memory.external_id for memory in world.memories if memory.thread)
    thread = {memory.external_id: (memory.scope, memory.thread) for memory in world.memories}
    for query in world.queries:
        if query.metadata["stratum"] == "chat":
            ((answer,),) = query.evidence
            before = turns[turns.index(answer) - 1]
            assert thread[before] == thread[answer]
            assert not stems(query.text) & words[answer], (query.text, stems(query.text) & words[answer])
            assert len(stems(query.text) & words[before]) >= 2, query.text
            assert max(words, key=lambda key: len(stems(query.text) & words[key])) == before, query.text
