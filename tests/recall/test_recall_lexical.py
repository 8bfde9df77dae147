"""The lexical leg: BM25 in SQL against BM25 in Python, ts_rank against the server's own, any text, scripts, filters."""

import math
import random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate import HopgateError, Memory
from hopgate.kb import KnowledgeBase
from hopgate.recall import lexical
from hopgate.recall.filters import MAX_QUERY_CHARACTERS, Filters, check_query
from hopgate.recall.lexical import LexicalRanker, lexical_leg, lexical_scores, query_words
from hopgate.store import memories

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
ALL = Filters()
RANKERS = get_args(LexicalRanker)
SCOPES = (None, "", "home", "work")


def leg(connection: Any, query: str, filters: Filters = ALL, **options: Any) -> list[tuple[int, float]]:
    return lexical_leg(connection, query_words(connection, query, filters), filters, **options)


def scores(connection: Any, query: str, ids: list[int], filters: Filters = ALL, **options: Any) -> dict[int, float]:
    return lexical_scores(connection, query_words(connection, query, filters), ids, filters.scopes, **options)


def found(kb: KnowledgeBase, query: str, filters: Filters = ALL, **options: Any) -> list[str]:
    with kb.store.transaction() as connection:
        listed = leg(connection, check_query(query), filters, **options)
        names = memories.external_ids(connection, [key for key, _ in listed])
    assert [score for _, score in listed] == sorted((score for _, score in listed), reverse=True)
    return [names[key] for key, _ in listed]


# BM25.


def expected(connection: Any, lexemes: list[str], scope: str | None) -> dict[int, float]:
    """BM25 by the textbook, over the vectors' words; memories without any of the query's words are not in it."""
    rows = connection.execute(
        "SELECT m.id, array_agg(u.lexeme), array_agg(cardinality(u.positions)) FROM memories m "
        "LEFT JOIN LATERAL unnest(m.search_vector) u ON true WHERE %(scope)s::text IS NULL OR m.scope = %(scope)s "
        "GROUP BY m.id",
        {"scope": scope},
    ).fetchall()
    texts = {key: {w: n for w, n in zip(words, counts, strict=True) if w} for key, words, counts in rows}
    mean = sum(sum(text.values()) for text in texts.values()) / max(1, len(texts))
    by_hand: dict[int, float] = {}
    for key, text in texts.items():
        norm = 1.2 * (0.25 + 0.75 * sum(text.values()) / mean) if mean else 1.0
        for lexeme in set(lexemes) & set(text):
            held = sum(lexeme in other for other in texts.values())
            idf = math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
            by_hand[key] = by_hand.get(key, 0) + idf * 2.2 * text[lexeme] / (text[lexeme] + norm)
    return by_hand


def check(kb: KnowledgeBase, query: list[str], scope: str | None, depth: int) -> None:
    with kb.store.transaction() as connection:
        listed = leg(connection, " ".join(query), Filters(scope=scope), depth=depth)
        every = list(memories.external_ids(connection))
        real = scores(connection, " ".join(query), every, Filters(scope=scope))
        wanted = expected(connection, [word.rstrip("s") for word in query], scope)
    best = sorted(real.items(), key=lambda hit: (-hit[1], hit[0]))
    assert listed == [hit for hit in best if hit[0] in wanted][:depth]
    assert {key: real[key] for key in wanted} == pytest.approx(wanted, rel=1e-9)
    if scope is None:
        assert {key for key in every if real[key] > 0} == wanted.keys()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    steps=st.lists(st.sampled_from(["add", "change", "delete", "mark", "fold", "elsewhere"]), max_size=8),
    query=st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=5),
    scope=st.sampled_from(SCOPES),
    depth=st.integers(1, 12),
    first_look=st.sampled_from([0.001, 1, 40]),
)
def test_against_the_textbook_whatever_came_changed_and_went_before(kb, seed, steps, query, scope, depth, first_look):
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
        if step in ("add", "change"):
            new = [f"m{next(numbers)}"]
            kb.add(*map(made, (chosen if step == "change" else []) + new))
            known += new
        elif step == "delete" and chosen:
            kb.delete(chosen)
            known = [key for key in known if key not in chosen]
        elif step == "mark" and chosen:
            kb.mark_sensitive(chosen)
        with kb.store.transaction() as connection:
            if step == "fold":
                memories.tidy(connection)
            elif step == "elsewhere":
                connection.execute("INSERT INTO memories (content, scope) VALUES ('amber amber birch', 'home')")
                connection.execute("UPDATE memories SET scope = 'work', content = content || ' dune' WHERE id % 3 = 0")
                connection.execute("DELETE FROM memories WHERE external_id IS NULL AND id % 2 = 0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "FIRST_LOOK", first_look)
        check(kb, query, scope, depth)


def test_a_word_is_counted_however_often_it_stands(kb):
    kb.add(*(Memory(f"m{n}", "amber " * n + "birch") for n in (*range(1, 253, 9), 254, 255)))
    check(kb, ["amber"], None, 100)


@pytest.fixture
def small(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        Memory("one", "amber"),
        Memory("both", "amber birch", scope="home"),
        Memory("two", "birch birch birch birch"),
        Memory("keyword", "nothing here", expanded_keywords=("amber",)),
        Memory("tag", "nothing here", tags=("amber",)),
        Memory("kind", "nothing either", category="amber"),
    )
    return kb


def test_every_word_comes_before_any_word_then_the_weight_of_where_it_stands(small):
    assert found(small, "amber birch", ranker="ts_rank")[0] == "both"
    assert set(found(small, "amber birch", ranker="ts_rank")) == {"both", "one", "two", "keyword", "tag", "kind"}
    assert found(small, "amber birch", depth=1, ranker="ts_rank") == ["both"]
    assert found(small, "amber", ranker="ts_rank") == ["one", "both", "keyword", "tag", "kind"]
    # The least rank that counts.
    assert "kind" not in found(small, "amber " + " ".join(f"unheard{n}" for n in range(30)), ranker="ts_rank")


def test_scores_are_real_and_what_is_excluded_leaves_room(small):
    with small.store.transaction() as connection:
        one, both = memories.ids_of(connection, ["one", "both"])
        for ranker in RANKERS:
            real = scores(connection, "amber birch", [one, both], ranker=ranker)
            assert real[both] > real[one] > 0
            assert scores(connection, "unheard", [one], ranker=ranker) == {one: 0.0}
            assert scores(connection, "amber", [], ranker=ranker) == {}
            listed = leg(connection, "amber birch", Filters(exclude=(both,)), depth=2, ranker=ranker)
            assert len(listed) == 2 and both not in dict(listed)


@pytest.mark.parametrize("query", [*CASES["queries"], "x" * 5000])
def test_any_text_is_a_query(small, query):
    for ranker in RANKERS:
        assert set(found(small, query, ranker=ranker)) <= {"one", "both", "two", "keyword", "tag", "kind"}
    assert len(small) == 6


@pytest.mark.parametrize("query", ["", "  \n", "x" * (MAX_QUERY_CHARACTERS + 1), "half \ud800"])
def test_what_is_no_query_is_refused(query):
    with pytest.raises(HopgateError, match="query"):
        check_query(query)


# Languages and scripts.


@pytest.mark.parametrize(("text", "query"), CASES["found"])
def test_is_found(kb, text, query):
    kb.add(Memory("it", text), Memory("other", "nothing of the kind 別物 其他"))
    for ranker in RANKERS:
        assert found(kb, query, ranker=ranker)[:1] == ["it"]


def test_two_characters_are_not_found_by_one_of_them_and_a_query_may_mix_scripts(kb):
    kb.add(Memory("a", "绿色的树"), Memory("b", "红茶很好"), Memory("zh", "服务器在地下室"))
    kb.add(Memory("de", "Der Drucker steht im Keller"))
    assert found(kb, "绿茶") == []
    assert set(found(kb, "地下室 or Keller")) == {"zh", "de"}


def test_the_stores_language_and_a_memorys_own(kb):
    kb.add(Memory("a", "Die Häuser am Hafen"), Memory("b", "The houses at the harbour", language="en"))
    assert found(kb, "Haus") == []
    assert kb.language() == "english"
    assert kb.language("de") == "german" == kb.language()
    assert found(kb, "Haus") == ["a"]
    assert found(kb, "house harbours") == ["b"]
    kb.add(Memory("c", "Das Häuschen und das Haus"), Memory("d", "les maisons", language="french"))
    assert set(found(kb, "Häuser")) == {"a", "c"}
    assert found(kb, "maison") == ["d"]
    memory = kb.get("b")
    assert memory and memory.language == "english"


def test_a_text_of_the_largest_size_is_searched_in_any_script(kb):
    characters = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(85_000))
    kb.add(Memory("zh", characters), Memory("accents", "é" * 3 + " ".join(f"ä{n}" for n in range(25_000))))
    assert found(kb, characters[100:104]) == ["zh"]
    assert found(kb, "a24000") == ["accents"]
