"""Recall hides nothing: what a leg could not see is found all the same, and what a leg has first is in the answer."""

from __future__ import annotations

import logging
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import hopgate
from hopgate import HopgateError, Memory
from hopgate.cli.recall import why
from hopgate.demo import corpus
from hopgate.kb import KnowledgeBase
from hopgate.plot.concepts import fill
from hopgate.recall.completion import pooled
from hopgate.recall.fuse import RRF, TM2C2, MinMax, StretchedRRF, active

FUSERS = ("MinMax", MinMax(lexical=0.015, dense=0.035, graph=5), RRF(graph=1.4), StretchedRRF(graph=1.4), TM2C2())


@pytest.fixture(scope="module")
def example(server: Any, template: str) -> Any:
    """The synthetic corpus with its graph, and two notes that came after: neither embedded nor linked."""
    import psycopg

    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE fair_example TEMPLATE {template}")
    with hopgate.open(server.dsn.replace("dbname=postgres", "dbname=fair_example")) as kb:
        fill(kb)
        kb.add(Memory("new", "The purple umbrella of the neighbour leans behind the shed."))
        yield kb


def place(kb: KnowledgeBase, query: str, key: str, **options: Any) -> int:
    hits = kb.recall(query, **options)
    return next((hit.rank for hit in hits if hit.external_id == key), 99)


@pytest.mark.parametrize("fuser", FUSERS, ids=str)
def test_sensitive_memories_are_found_by_their_first_words_with_the_graph_as_without(
    example: KnowledgeBase, fuser: Any
) -> None:
    """They ranked 35 to 45 with the graph on, and 2 to 14 without."""
    sensitive = [memory for memory in corpus().memories if memory.is_sensitive]
    assert len(sensitive) >= 10
    for memory in sensitive:
        query = " ".join(memory.content.split()[:6])
        assert place(example, query, memory.external_id, fuser=fuser) <= 3
        assert place(example, query, memory.external_id, fuser=fuser, graph=0) <= 3


@pytest.mark.parametrize("fuser", FUSERS, ids=str)
def test_a_note_that_is_not_embedded_nor_linked_yet_is_found(example: KnowledgeBase, fuser: Any) -> None:
    assert place(example, "purple umbrella behind the shed", "new", fuser=fuser) == 1


def test_a_note_that_both_base_legs_have_first_is_not_lost_for_want_of_a_link(kb: KnowledgeBase) -> None:
    """It came out twelfth."""
    kb.add(*(Memory(f"n{n:02}", f"Quillon looks after the Immich server number {n}.") for n in range(20)))
    kb.build()
    kb.add(Memory("late", "The key of the Immich server hangs in Quillon's attic."))
    kb.embed()
    query = "Where does the key of Quillon's Immich server hang? In the attic?"
    for leg in ("lexical", "dense"):
        assert kb.recall(query, legs=(leg,), k=1)[0].external_id == "late"
    assert kb.recall(query)[0].external_id == "late"


def test_a_turn_that_has_neighbours_and_no_vector_yet_is_not_lost_by_the_graph(kb: KnowledgeBase) -> None:
    """Its thread puts it into the graph at once; what stands around the first hit must not push it out of sight."""
    noon = datetime(2025, 5, 1, 12, tzinfo=UTC)
    said = ["The dishwasher on the third floor is broken again.", "A teaspoon sits in its pump.", "Repaired."]
    said += ["Lunch?", "In ten minutes.", "Bring an umbrella."]
    for number, text in enumerate(said):
        kb.add(Memory(f"a{number}", text, thread="a", created_at=noon + timedelta(minutes=number)))
    kb.add(Memory("b0", "Who has the ladder?", thread="b", created_at=noon))
    kb.embed()
    kb.build()
    kb.add(Memory("b1", "Nobody on the third floor.", thread="b", created_at=noon + timedelta(minutes=1)))
    query = "broken dishwasher third floor"
    assert place(kb, query, "b1", graph=0) == 2
    hit = next(hit for hit in kb.recall(query, explain=True) if hit.external_id == "b1")
    assert hit.in_graph and set(hit.unseen) == {"dense"}
    assert hit.rank <= 3 and hit.lifted


def test_an_explanation_says_which_legs_could_not_see_a_hit(example: KnowledgeBase) -> None:
    hit = example.recall("purple umbrella behind the shed", explain=True)[0]
    assert set(hit.legs) == {"lexical", "graph"} and set(hit.unseen) == {"dense"} and not hit.in_graph
    assert hit.scale == pytest.approx(5.05 / 5.015)
    assert {"unseen", "scale", "lifted", "in_graph"} <= set(hit.to_dict())
    assert "dense could not see it" in why(hit) and "scaled ×1.01" in why(hit)
    assert "the graph does not have it" in why(hit)


@pytest.mark.parametrize("fuser", FUSERS, ids=str)
def test_what_a_leg_has_first_is_within_the_top_k(example: KnowledgeBase, fuser: Any) -> None:
    pick = random.Random(3)
    memories = [memory for memory in corpus().memories if len(memory.content.split()) > 8]
    for memory in pick.sample(memories, 15):
        query = " ".join(pick.sample(memory.content.split(), 4))
        k = pick.choice([3, 4, 10])
        settings = example.settings(fuser=fuser, k=k)
        legs, _ = example.legs(query, settings=settings)
        ids = example.id_map()
        hits = example.recall(query, fuser=fuser, k=k, explain=True)
        top = {hit.external_id for hit in hits}
        lists, _ = pooled(legs.found, legs.scores, active(settings.fuser))
        for leg in lists.values():
            tied = {ids[key] for key, score in leg if score == leg[0][1]}
            assert tied & top, (query, k)
        if k > 3 and "graph" in lists:
            best = example.recall(query, fuser=MinMax(lexical=0.3, dense=0.7, graph=0), k=k)[0].external_id
            assert best in {hit.external_id for hit in hits[:3]}
        scores = [hit.score for hit in hits if not hit.lifted]
        assert scores == sorted(scores, reverse=True)


def test_several_scopes_at_once(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    kb.add(*(Memory(f"m{scope}", "amber", scope=scope) for scope in "abc"))
    assert {hit.external_id for hit in kb.recall("amber", scope=["a", "b"])} == {"ma", "mb"}
    assert [hit.external_id for hit in kb.recall("amber", scope=("c",))] == ["mc"]
    with caplog.at_level(logging.WARNING, "hopgate.recall"):
        assert kb.recall("amber", scope="nowhere") == []
    assert "no memory has the scope 'nowhere'" in caplog.text
    for wrong in ([], [1], 7):
        with pytest.raises(HopgateError, match="scope is a text or a list of texts"):
            kb.recall("amber", scope=wrong)  # type: ignore[arg-type]


def test_a_minimum_score(kb: KnowledgeBase) -> None:
    kb.add(Memory("a", "amber amber birch", importance=1.0), Memory("b", "amber"), Memory("c", "birch"))
    hits = kb.recall("amber birch")
    assert len(hits) == 3
    kept = kb.recall("amber birch", min_score=hits[0].score)
    assert [hit.external_id for hit in kept] == [hit.external_id for hit in hits if hit.score >= hits[0].score]


def test_what_waits_is_said_once_and_again_when_it_changed(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    kb.add(Memory("a", "Ada keeps the amber."), Memory("s", "secret amber", is_sensitive=True))
    with caplog.at_level(logging.WARNING, "hopgate.recall"):
        kb.recall("amber", dense=0)
        assert caplog.messages == []
        kb.recall("amber")
        kb.recall("amber")
        assert caplog.messages == ["1 memory waits for a vector: run hopgate embed"]
        kb.embed()
        kb.build()
        kb.add(Memory("b", "amber of Bea"), Memory("c", "amber of Cid"))
        caplog.clear()
        kb.recall("amber")
        kb.recall("amber")
    assert caplog.messages == [
        "2 memories wait for a vector: run hopgate embed",
        "2 memories wait for the graph: run hopgate build",
    ]


def test_wrong_types_get_one_sentence(kb: KnowledgeBase) -> None:
    with pytest.raises(HopgateError, match="add takes memories, not str"):
        kb.add("text")  # type: ignore[arg-type]
    with pytest.raises(HopgateError, match="a query is a text, not int"):
        kb.recall(7)  # type: ignore[arg-type]


def test_use_after_close_raises_at_once(dsn: str) -> None:
    kb = hopgate.open(dsn)
    kb.add(Memory("a", "amber"))
    kb.close()
    for use in (lambda: kb.recall("amber"), lambda: kb.add(Memory("b", "birch")), lambda: len(kb), kb.embed):
        with pytest.raises(HopgateError, match="was closed"):
            use()
    kb.close()
