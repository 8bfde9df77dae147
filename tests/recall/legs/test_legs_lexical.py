"""The lexical leg: filters and any text as a query; by ts_rank every word first, then any word above a rank."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import MAX_QUERY_CHARACTERS, Filters, check_query
from hopgate.recall.legs.lexical import RANKERS, lexical_leg
from hopgate.recall.legs.ts_rank import MIN_RANK

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord")


def ids(kb: KnowledgeBase, query: str, filters: Filters = Filters(), **options: Any) -> list[str]:  # noqa: B008
    with kb.store.transaction() as connection:
        leg = lexical_leg(connection, query, filters, **options)
        names = dict(connection.execute("SELECT id, external_id FROM memories").fetchall())
    assert [score for _, score in leg] == sorted((score for _, score in leg), reverse=True)
    return [names[key] for key, _ in leg]


@pytest.fixture
def small(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        Memory("one", "amber"),
        Memory("both", "amber birch", scope="home"),
        Memory("two", "birch birch birch birch"),
        Memory("tag", "nothing here", tags=("amber",)),
        Memory("kind", "nothing either", category="amber"),
    )
    return kb


def test_every_word_comes_before_any_word(small: KnowledgeBase) -> None:
    assert ids(small, "amber birch", ranker="ts_rank")[0] == "both"
    assert set(ids(small, "amber birch", ranker="ts_rank")) == {"both", "one", "two", "tag", "kind"}


def test_any_word_is_not_asked_when_every_word_fills_the_leg(small: KnowledgeBase) -> None:
    assert ids(small, "amber birch", depth=1, ranker="ts_rank") == ["both"]


def test_weights_of_content_keywords_tags_category(kb: KnowledgeBase) -> None:
    kb.add(
        Memory("d", "x", category="amber"),
        Memory("c", "x", tags=("amber",)),
        Memory("b", "x", expanded_keywords=("amber",)),
        Memory("a", "amber"),
    )
    assert ids(kb, "amber", ranker="ts_rank") == ["a", "b", "c", "d"]


def test_a_row_below_the_least_rank_is_left_out(kb: KnowledgeBase) -> None:
    kb.add(Memory("far", "x", category="amber"), Memory("near", "amber"))
    query = "amber " + " ".join(f"unheard{n}" for n in range(30))
    assert ids(kb, query, ranker="ts_rank") == ["near"]
    assert ids(kb, query, min_rank=0.0, ranker="ts_rank") == ["near", "far"]
    assert MIN_RANK > 0


def test_an_unknown_ranker_is_refused(small: KnowledgeBase) -> None:
    with pytest.raises(HopgateError, match="lexical_ranker is one of bm25, ts_rank, not 'tfidf'"):
        ids(small, "amber", ranker="tfidf")


def test_filters_hold_in_both_steps(small: KnowledgeBase) -> None:
    assert ids(small, "amber birch", Filters(scope="home")) == ["both"]
    assert ids(small, "amber birch", Filters(scope="elsewhere")) == []
    with small.store.transaction() as connection:
        (both,) = connection.execute("SELECT id FROM memories WHERE external_id = 'both'").fetchone() or (0,)
    assert "both" not in ids(small, "amber birch", Filters(exclude=(both,)))
    assert len(ids(small, "amber birch", Filters(exclude=(both,)), depth=2)) == 2


def test_superseded_and_later_memories_are_not_recalled(kb: KnowledgeBase) -> None:
    kb.add(
        Memory("old", "amber", created_at=datetime(2020, 1, 1, tzinfo=UTC)),
        Memory("new", "amber", created_at=datetime(2022, 1, 1, tzinfo=UTC)),
    )
    with kb.store.transaction() as connection:
        connection.execute("UPDATE memories SET superseded_at = '2022-01-01Z' WHERE external_id = 'old'")
    assert ids(kb, "amber") == ["new"]
    assert ids(kb, "amber", Filters(superseded=True)) == ["old", "new"]
    # In 2021 the old one stood and nobody knew the new one; a time without a zone is UTC.
    assert ids(kb, "amber", Filters(known_at=datetime(2021, 1, 1))) == ["old"]
    assert ids(kb, "amber", Filters(known_at=datetime(2023, 1, 1, tzinfo=UTC))) == ["new"]


@pytest.mark.parametrize(
    "query",
    ["'", '"', "%", "%s", ":*", "'; drop table memories; --", "a & | ! b", "\\", "<->", "😀", "שלום עולם", "the of and",
     "a\0b", "x" * 5000, "http://a.b/c?d=e&f=g", "well-known e-mail@example.org 10.0.0.7 -1.5e3"],
)  # fmt: skip
def test_any_text_is_a_query(small: KnowledgeBase, query: str) -> None:
    for ranker in RANKERS:
        assert set(ids(small, check_query(query), ranker=ranker)) <= {"one", "both", "two", "tag", "kind"}
    assert len(small) == 5


def test_signs_between_words_do_not_reach_the_operators(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "read-only file at http://host/a&b/c"), Memory("b", "only this"))
    assert ids(kb, "read-only http://host/a&b/c")[0] == "a"


@pytest.mark.parametrize("query", ["", "  \n", "x" * (MAX_QUERY_CHARACTERS + 1), "half \ud800"])
def test_what_is_no_query_is_refused(query: str) -> None:
    with pytest.raises(HopgateError, match="query"):
        check_query(query)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=12),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
    depth=st.integers(1, 6),
)
def test_against_brute_force(kb: KnowledgeBase, texts: list[list[str]], query: list[str], depth: int) -> None:
    """A word's rank grows with its count, so the order is known only in part: step, then the server's own rank."""
    with kb.store.transaction() as connection:
        connection.execute("TRUNCATE memories CASCADE")
    kb.add(*(Memory(f"{n:02}", " ".join(words)) for n, words in enumerate(texts)))
    found = ids(kb, " ".join(query), depth=depth, ranker="ts_rank")
    every = [f"{n:02}" for n, words in enumerate(texts) if set(query) <= set(words)]
    some = [f"{n:02}" for n, words in enumerate(texts) if set(query) & set(words)]
    assert len(found) == len(set(found)) == min(depth, len(some))
    assert set(found[: len(every)]) <= set(every)
    assert set(found) <= set(some)
    with kb.store.transaction() as connection:
        ranked = connection.execute(
            "SELECT external_id, ts_rank(search_vector, to_tsquery('english', %s)) FROM memories ORDER BY 2 DESC, id",
            (" | ".join(query),),
        ).fetchall()
    rest = [key for key, _ in ranked if key in some and key not in every]
    if len(every) < depth:
        assert found[len(every) :] == rest[: depth - len(every)]
