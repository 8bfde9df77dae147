"""BM25 in SQL against BM25 in Python over the same words, whatever came, changed and went before."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate import Memory
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters
from hopgate.recall.legs import bm25
from hopgate.recall.legs.lexical import lexical_leg, lexical_scores
from hopgate.recall.legs.query_words import query_words
from hopgate.store import memories

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
SCOPES = (None, "", "home", "work")


def expected(connection: Any, lexemes: list[str], scope: str | None) -> dict[int, float]:
    """BM25 by the textbook, over the vectors' words; memories without any of the query's words are not in it."""
    rows = connection.execute(
        "SELECT m.id, array_agg(u.lexeme), array_agg(cardinality(u.positions)) FROM memories m "
        "LEFT JOIN LATERAL unnest(m.search_vector) u ON true WHERE %(scope)s::text IS NULL OR m.scope = %(scope)s "
        "GROUP BY m.id",
        {"scope": scope},
    ).fetchall()
    texts = {key: {w: n for w, n in zip(words, counts, strict=True) if w} for key, words, counts in rows}
    if not texts:
        return {}
    mean = sum(sum(text.values()) for text in texts.values()) / len(texts)
    scores: dict[int, float] = {}
    for key, text in texts.items():
        norm = 1.2 * (0.25 + 0.75 * sum(text.values()) / mean) if mean else 1.0
        for lexeme in set(lexemes) & set(text):
            held = sum(lexeme in other for other in texts.values())
            idf = math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
            scores[key] = scores.get(key, 0) + idf * 2.2 * text[lexeme] / (text[lexeme] + norm)
    return scores


def check(kb: KnowledgeBase, query: list[str], scope: str | None, depth: int) -> None:
    with kb.store.transaction() as connection:
        filters = Filters(scope=scope)
        found = lexical_leg(connection, " ".join(query), filters, depth=depth)
        every = memories.all_ids(connection)
        real = lexical_scores(connection, " ".join(query), every, filters)
        wanted = expected(connection, [word.rstrip("s") for word in query], scope)
    assert [key for key, _ in found] == [
        key for key, _ in sorted(real.items(), key=lambda one: (-one[1], one[0])) if key in wanted
    ][:depth]
    assert dict(found) == {key: real[key] for key, _ in found}
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    for key, score in wanted.items():
        assert real[key] == pytest.approx(score, rel=1e-9)
    if scope is None:
        assert {key for key in every if real[key] > 0} == wanted.keys()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    steps=st.lists(st.sampled_from(["add", "change", "move", "delete", "mark", "fold", "elsewhere"]), max_size=8),
    query=st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=5),
    scope=st.sampled_from(SCOPES),
    depth=st.integers(1, 12),
    first_look=st.sampled_from([0.001, 1, 40]),
)
def test_against_the_textbook(
    kb: KnowledgeBase, seed: int, steps: list[str], query: list[str], scope: str | None, depth: int, first_look: float
) -> None:
    with kb.store.transaction() as connection:
        connection.execute("TRUNCATE memories CASCADE")
    pick = random.Random(seed)
    numbers = iter(range(10_000))

    def made(key: str) -> Memory:
        words = pick.choices(WORDS, weights=[8, 7, 5, 4, 3, 2, 1, 1], k=pick.randint(0, 12))
        tags = tuple(pick.choices(WORDS, k=pick.randint(0, 2)))
        return Memory(key, " ".join(words), tags=tags, scope=pick.choice(SCOPES))

    known = [f"m{next(numbers)}" for _ in range(12)]
    kb.add(*map(made, known))
    for step in steps:
        chosen = pick.sample(known, min(len(known), 3))
        if step == "add":
            known += (new := [f"m{next(numbers)}" for _ in range(3)])
            kb.add(*map(made, new))
        elif step in ("change", "move"):
            new = [f"m{next(numbers)}"]
            kb.add(*map(made, chosen + new))
            known += new
        elif step == "delete" and chosen:
            kb.delete(chosen)
            known = [key for key in known if key not in chosen]
        elif step == "mark" and chosen:
            kb.mark_sensitive(chosen)
        elif step == "fold":
            with kb.store.transaction() as connection:
                memories.tidy(connection)
        elif step == "elsewhere":
            with kb.store.transaction() as connection:
                connection.execute("INSERT INTO memories (content, scope) VALUES ('amber amber birch', 'home')")
                connection.execute("UPDATE memories SET scope = 'work', content = content || ' dune' WHERE id % 3 = 0")
                connection.execute("DELETE FROM memories WHERE external_id IS NULL AND id % 2 = 0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "FIRST_LOOK", first_look)
        check(kb, query, scope, depth)


def test_a_word_is_counted_however_often_it_stands(kb: KnowledgeBase) -> None:
    kb.add(*(Memory(f"m{n}", "amber " * n + "birch") for n in (*range(1, 253, 9), 254, 255)))
    check(kb, ["amber"], None, 100)


def test_another_scope_changes_nothing(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber birch", scope="home"), Memory("b", "birch cedar dune", scope="home"))
    with kb.store.transaction() as connection:
        before = lexical_leg(connection, "amber birch", Filters(scope="home"))
    kb.add(*(Memory(f"x{n}", "amber amber heath", scope="work", language="german") for n in range(20)))
    with kb.store.transaction() as connection:
        assert lexical_leg(connection, "amber birch", Filters(scope="home")) == before
        assert lexical_leg(connection, "amber birch", Filters()) != before


def test_a_long_memory_does_not_intrude(kb: KnowledgeBase) -> None:
    kb.add(Memory("long", "amber birch " + "cedar dune ember fjord " * 700), Memory("short", "amber birch"))
    hits = kb.recall("amber birch", legs=("lexical",))
    assert [hit.external_id for hit in hits] == ["short", "long"]


def test_scores_of_both_rankers_are_real(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber amber birch"), Memory("b", "birch"), Memory("c", "cedar"))
    with kb.store.transaction() as connection:
        ids = memories.all_ids(connection)
        for ranker in ("bm25", "ts_rank"):
            scores = lexical_scores(connection, "amber birch", ids, ranker=ranker)
            assert scores[ids[0]] > scores[ids[1]] > scores[ids[2]] == 0
            assert lexical_scores(connection, "unheard", ids, ranker=ranker) == dict.fromkeys(ids, 0.0)
            assert lexical_scores(connection, "amber", [], ranker=ranker) == {}


def test_a_word_that_went_is_forgotten(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber"), Memory("b", "birch"))
    kb.delete(["a"])
    with kb.store.transaction() as connection:
        words = query_words(connection, "amber birch", Filters())
    assert (words.memories, words.lexemes, words.unknown) == (1, ("birch",), ("amber",))


def test_many_write_at_once_and_every_word_counts(kb: KnowledgeBase) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def write(n: int) -> None:
        kb.add(*(Memory(f"m{n}-{i}", " ".join(WORDS[: i + 1])) for i in range(len(WORDS))))
        with kb.store.transaction() as connection:
            connection.execute("SELECT hopgate_fold_words()")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(8)))
    check(kb, ["amber", "heath"], None, 50)
