"""What is over: the memory of today stands above that of yesterday, unless yesterday was asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.recall.present import current_first


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture(scope="module")
def life(module_dsn: str) -> Iterator[KnowledgeBase]:
    with hopgate.open(module_dsn) as kb:
        for _, old, then, new, since in CASES["changes"]:
            kb.add(
                *(Memory(text, text, created_at=day(time), scope="me") for text, time in ((old, then), (new, since)))
            )
        kb.add(Memory("elsewhere", "The NAS runs on atlas.", created_at=day("2022-01-02"), scope="you"))
        kb.embed()
        kb.build()
        yield kb


def ids(hits: list[hopgate.Hit]) -> list[str]:
    return [hit.external_id for hit in hits]


@pytest.mark.parametrize(("question", "old", "_then", "new", "_since"), CASES["changes"])
def test_the_current_memory_stands_above_the_outdated_one(
    life: KnowledgeBase, question: str, old: str, _then: str, new: str, _since: str
) -> None:
    hits = life.recall(question, scope="me", k=5)
    assert ids(hits).index(new) < ids(hits).index(old)
    (over,) = [hit for hit in hits if hit.external_id == old]
    assert over.outdated and any(fact.over and new in fact.ended_by for fact in over.facts)
    assert new in over.over and "over since" in over.over
    assert not next(hit for hit in hits if hit.external_id == new).outdated


def test_the_past_is_answered_with_the_past(life: KnowledgeBase) -> None:
    old = "The NAS runs on atlas."
    for question in ("Where did the NAS run?", "Where did the NAS run in 2023?"):
        hit = next(hit for hit in life.recall(question, scope="me") if hit.external_id == old)
        assert not hit.outdated
    then = life.recall("Where does the NAS run?", scope="me", as_of=day("2023-01-01"))
    hit = next(hit for hit in then if hit.external_id == old)
    assert not hit.outdated and not any(fact.over for fact in hit.facts)


def test_without_facts_nothing_is_moved_and_other_orders_are_kept(life: KnowledgeBase) -> None:
    question, old = "Where does the NAS run?", "The NAS runs on atlas."
    assert not any(hit.facts or hit.outdated for hit in life.recall(question, scope="me", parts=()))
    newest = life.recall(question, scope="me", sort_by="recency")
    assert [hit.memory.created_at for hit in newest] == sorted((hit.memory.created_at for hit in newest), reverse=True)
    # Of another scope's memory nothing has ended, though the sentence is the same.
    (other,) = [hit for hit in life.recall(question, scope="you") if hit.external_id == "elsewhere"]
    assert not other.outdated and old not in str(other.facts)


@given(st.permutations(range(6)), st.dictionaries(st.integers(0, 2), st.sets(st.integers(3, 7), max_size=3)))
def test_what_holds_stands_above_and_all_else_keeps_its_order(order: list[int], ended: dict[int, set[int]]) -> None:
    moved = current_first(order, ended)
    assert sorted(moved) == sorted(order)
    for memory, by in ended.items():
        if memory in order and by & set(order):
            assert set(moved[: moved.index(memory)]) & by
    over = [memory for memory in order if memory in ended]
    assert [memory for memory in moved if memory in ended] == over
