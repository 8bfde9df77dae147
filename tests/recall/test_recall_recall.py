"""Recall as a whole: which legs run, what they may return, and that all of them obey the same filters."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from word_endpoint import WordEndpoint, serving

from hopgate import HopgateError, Memory
from hopgate.kb import BarredLegWarning, KnowledgeBase
from hopgate.recall.fuse import RRF
from hopgate.recall.fuse.exact import rare_words
from hopgate.store.connect import POOL_SIZE

pytestmark = pytest.mark.filterwarnings("ignore::hopgate.kb.BarredLegWarning")


@pytest.fixture
def endpoint() -> Iterator[WordEndpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def filled(kb: KnowledgeBase, endpoint: WordEndpoint) -> KnowledgeBase:
    kb.add(
        Memory("key", "The spare key hangs in the cellar", scope="home", importance=0.9),
        Memory("cat", "The cat sleeps in the cellar", scope="home", importance=0.1),
        Memory("job", "The backup job runs on atlas", scope="work"),
        Memory("pin", "The PIN of the cellar door is 4711", is_sensitive=True, scope="home"),
    )
    kb.embed(endpoint.spec)
    return kb


def found(kb: KnowledgeBase, query: str, **options: Any) -> list[str]:
    return [hit.external_id for hit in kb.recall(query, **options)]


def test_fused_hits_of_both_legs(filled: KnowledgeBase) -> None:
    hits = filled.recall("where is the spare key", explain=True, graph=0)
    assert hits[0].external_id == "key"
    assert set(hits[0].legs) == {"lexical", "dense"}
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("legs", [("lexical",), ("dense",), ("lexical", "dense"), None])
def test_scope_and_exclude_hold_in_every_leg(filled: KnowledgeBase, legs: tuple[str, ...] | None) -> None:
    query = "the spare key of the cellar"
    assert "job" not in found(filled, query, legs=legs, scope="home")
    assert found(filled, query, legs=legs, scope="nowhere") == []
    assert "key" not in found(filled, query, legs=legs, exclude=["key", "unknown"])
    assert "key" in found(filled, query, legs=legs, exclude=["cat"])


def test_exclusion_does_not_starve_the_pool(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    kb.add(*(Memory(f"m{n:02}", "amber birch") for n in range(30)))
    kb.embed(endpoint.spec)
    for options in (
        {"legs": ("lexical",)},
        {"legs": ("dense",)},
        {"graph": 0},
    ):
        context = [f"m{n:02}" for n in range(10)]
        assert found(kb, "amber", depth=5, k=5, exclude=context, **options) == [f"m{n:02}" for n in range(10, 15)]


def test_weight_0_skips_the_work_and_lets_nothing_in(filled: KnowledgeBase, endpoint: WordEndpoint) -> None:
    asked = len(endpoint.bodies)
    assert "job" not in found(filled, "cellar", dense=0, graph=0)
    assert len(endpoint.bodies) == asked
    assert found(filled, "atlas", lexical=0, dense=0, graph=0) == []
    assert len(endpoint.bodies) == asked
    # The dense leg ranks everything; the lexical one would have found the sensitive memory too.
    assert "pin" not in found(filled, "cellar", lexical=0, graph=0)
    assert len(endpoint.bodies) == asked + 1


def test_no_embedder_is_made_for_a_lexical_query(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    kb.add(Memory("a", "amber"))
    kb.embed(endpoint.spec)
    import hopgate

    with hopgate.open(kb.store.dsn) as other:
        other.recall("amber", dense=0, graph=0)
        assert other._embedding._embedder is None


def test_a_store_without_vectors_recalls_lexically(kb: KnowledgeBase) -> None:
    assert kb.recall("anything") == []
    kb.add(Memory("a", "amber"))
    assert found(kb, "amber") == ["a"]
    assert found(kb, "amber", legs=("dense",)) == []


def test_sensitive_memories_are_found_by_words_alone(filled: KnowledgeBase) -> None:
    assert "pin" in found(filled, "cellar door PIN")
    assert "pin" not in found(filled, "cellar door PIN", legs=("dense",))


def test_orders(kb: KnowledgeBase) -> None:
    from datetime import UTC, datetime

    kb.add(
        Memory("a", "amber amber amber", importance=0.2, created_at=datetime(2020, 1, 1, tzinfo=UTC)),
        Memory("b", "amber", importance=0.9, created_at=datetime(2019, 1, 1, tzinfo=UTC)),
        Memory("c", "amber birch", importance=0.9, created_at=datetime(2021, 1, 1, tzinfo=UTC)),
    )
    assert found(kb, "amber", prior=1)[0] == "a"
    # The fused order, though the prior is on; importance breaks ties (spec §5).
    assert found(kb, "amber", sort_by="importance") == found(kb, "amber", prior=1)
    assert found(kb, "amber", sort_by="recency") == ["c", "a", "b"]


def test_unknown_leg_and_setting_are_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(HopgateError, match="no leg 'lexicl'"):
        kb.recall("x", legs=("lexicl",))
    with pytest.raises(HopgateError, match="no setting 'colour'"):
        kb.recall("x", colour=1)
    with pytest.raises(HopgateError, match="empty"):
        kb.recall(" ")


def test_further_legs_of_a_fuser_may_be_silenced(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber"))
    assert found(kb, "amber", fuser=RRF(others={"title": 1}), legs=("lexical",)) == ["a"]


def test_a_barred_leg_warns_once(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            kb.recall("amber", fuser=RRF(graph=0.1), prior=1, k=2)
            kb.recall("amber", fuser=RRF(graph=0.1), prior=1)
        kb.recall("amber", dense=0, graph=0)
    barred = [str(one.message) for one in caught if one.category is BarredLegWarning]
    assert len(barred) == 1 and "graph leg is barred" in barred[0]


def test_exact_match_is_for_rare_words_and_quotes(filled: KnowledgeBase) -> None:
    filled.add(*(Memory(f"n{n}", "cellar note") for n in range(12)))
    with filled.store.transaction() as connection:
        assert rare_words(connection, "the spare key in the cellar, mispeled") == ["spare", "key"]
        assert rare_words(connection, 'a "spare key"') == []
    hits = {hit.external_id: hit for hit in filled.recall("spare key cellar", exact_match=1, graph=0, k=30)}
    assert hits["key"].bonus > 0
    assert {name for name, hit in hits.items() if hit.bonus} == {"key"}
    quoted = filled.recall('cellar "backup job"', exact_match=1, graph=0)
    assert [hit.external_id for hit in quoted if hit.bonus] == ["job"]


def test_what_the_gate_measures_is_the_bonus_that_recall_ships(filled: KnowledgeBase) -> None:
    filled.add(*(Memory(f"n{n}", "cellar note") for n in range(12)))
    for query in ("spare key cellar", 'cellar "backup job"', "the cats in the cellar", "cellar"):
        hits = filled.recall(query, exact_match=1, graph=0, k=30)
        matched = {hit.external_id for hit in hits if hit.bonus}
        assert filled.exact_matches(query, [hit.external_id for hit in hits]) == matched


def test_a_memory_deleted_between_leg_and_answer_leaves_no_gap(
    filled: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hopgate.recall import recall as module

    real = module.run_legs

    def then_delete(*arguments: Any, **options: Any) -> Any:
        answer = real(*arguments, **options)
        if filled.get("key"):
            filled.delete(["key"])
        return answer

    monkeypatch.setattr(module, "run_legs", then_delete)
    hits = filled.recall("spare key cellar")
    assert "key" not in [hit.external_id for hit in hits]
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_another_process_may_change_the_embedder(filled: KnowledgeBase, endpoint: WordEndpoint) -> None:
    """A vector of the old embedder must never meet those of the new one, though they be as long."""
    import hopgate

    assert found(filled, "spare key")[0] == "key"
    with serving("others") as second, hopgate.open(filled.store.dsn) as elsewhere:
        elsewhere.reembed(second.spec)
        asked, asked_second = len(endpoint.bodies), len(second.bodies)
        assert found(filled, "spare key")[0] == "key"
        assert len(endpoint.bodies) == asked
        assert len(second.bodies) == asked_second + 1


def test_more_queries_at_once_than_connections(filled: KnowledgeBase) -> None:
    start = threading.Barrier(3 * POOL_SIZE)

    def ask(number: int) -> list[str]:
        start.wait()
        return found(filled, ("spare key", "backup job")[number % 2], graph=0)

    with ThreadPoolExecutor(3 * POOL_SIZE) as many:
        answers = list(many.map(ask, range(3 * POOL_SIZE)))
    assert {answer[0] for answer in answers[::2]} == {"key"}
    assert {answer[0] for answer in answers[1::2]} == {"job"}


def test_a_broken_embedder_is_told_and_leaves_the_kb_usable(filled: KnowledgeBase, endpoint: WordEndpoint) -> None:
    endpoint.vector = lambda _: [0.0] * 64
    with pytest.raises(HopgateError, match="zeros"):
        filled.recall("spare key")
    endpoint.vector = lambda _: [1.0] * 3
    with pytest.raises(HopgateError, match="dimension"):
        filled.recall("spare key")
    asked = len(endpoint.bodies)
    assert found(filled, "spare key", dense=0)[0] == "key"
    # There is no graph to walk, so its weight of 1 asks for no vector either.
    assert len(endpoint.bodies) == asked


def test_legs_alone(filled: KnowledgeBase) -> None:
    legs, importance = filled.legs("spare key cellar", scope="home", exact=True)
    lists = legs.found
    assert {"lexical", "dense"} <= set(lists)
    assert set(importance) == {key for leg in lists.values() for key, _ in leg}
    assert sorted(importance.values())[-1] == 0.9
