"""Neighbours: who is joined to whom, with which weight, and what a hole in a thread does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hopgate import Memory
from hopgate.graph.walk.matrix import WHOLE, GraphMatrix, load_matrix
from hopgate.kb import KnowledgeBase
from hopgate.store import memories
from hopgate.store.graph.arc_rows import ARC_KINDS, THREAD_LEAST, arcs
from hopgate.store.graph.visible import View

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


def turn(name: str, minute: float, *, thread: str | None = "t", **fields: object) -> Memory:
    return Memory(name, f"turn {name}", created_at=START + timedelta(minutes=minute), thread=thread, **fields)  # type: ignore[arg-type]


def joined(kb: KnowledgeBase) -> dict[tuple[str, str], tuple[str, float]]:
    with kb.store.transaction() as connection:
        names = memories.external_ids(connection, memories.all_ids(connection))
        found = arcs(connection).joined_once()
    rows = zip(found.source.tolist(), found.target.tolist(), found.kind.tolist(), found.weight.tolist(), strict=True)
    return {(names[one], names[two]): (ARC_KINDS[kind], round(weight, 3)) for one, two, kind, weight in rows}


def loaded(kb: KnowledgeBase, view: View = WHOLE) -> GraphMatrix:
    with kb.store.snapshot() as connection:
        return load_matrix(connection, view)


def pairs(kb: KnowledgeBase, view: View = WHOLE) -> set[tuple[str, str]]:
    matrix = loaded(kb, view)
    names = kb.id_map()
    ends = zip(matrix.arc_source.tolist(), matrix.arc_target.tolist(), strict=True)
    return {(names[int(matrix.memory_ids[one])], names[int(matrix.memory_ids[two])]) for one, two in ends}


def test_turns_up_to_two_apart_are_joined_in_the_order_of_time(kb: KnowledgeBase) -> None:
    kb.add(turn("c", 0), turn("a", 0), turn("b", -1), turn("d", 0))
    assert joined(kb) == {
        ("b", "c"): ("follows", 1.199),
        ("c", "a"): ("follows", 1.2),
        ("a", "d"): ("follows", 1.2),
        ("b", "a"): ("follows", 0.72),
        ("c", "d"): ("follows", 0.72),
    }


def test_scopes_and_threads_are_walls(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0, scope="one"), turn("b", 0, scope="two"), turn("c", 0, scope="one", thread="other"))
    assert joined(kb) == {}


def test_a_category_is_a_thread_only_within_hours(kb: KnowledgeBase) -> None:
    kb.add(
        turn("a", 0, thread=None, category="homelab"),
        turn("b", 60, thread=None, category="homelab"),
        turn("next day", 24 * 60, thread=None, category="homelab"),
    )
    assert joined(kb) == {("a", "b"): ("follows", 0.6)}


def test_a_named_thread_holds_over_any_gap(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("next year", 60 * 24 * 400))
    assert joined(kb)["a", "next year"][1] == pytest.approx(1.2 * THREAD_LEAST)


def test_undated_memories_of_one_load_are_no_thread(kb: KnowledgeBase) -> None:
    kb.add(*(Memory(str(number), "a note", category="homelab") for number in range(3)))
    assert joined(kb) == {}
    kb.add(*(Memory(f"t{number}", "a turn", thread="t") for number in range(2)))
    assert set(joined(kb)) == {("t0", "t1")}


def test_an_answer_is_joined_to_what_it_answers_and_only_once(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("b", 0, reply_to="a"), turn("c", 0), turn("d", 0, reply_to="a", thread=None))
    found = joined(kb)
    assert found["b", "a"] == found["d", "a"] == ("replies to", 1.2)
    assert ("a", "b") not in found
    assert ("b", "c") in found


def test_a_sensitive_turn_is_neither_walked_through_nor_bridged_over(kb: KnowledgeBase) -> None:
    kb.add(*(turn(name, 0) for name in "abcde"))
    kb.mark_sensitive(["c"])
    assert pairs(kb) == {("a", "b"), ("d", "e")}


def test_a_deleted_turn_leaves_no_hole_and_a_new_one_takes_its_place(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("b", 1), turn("c", 2))
    kb.delete(["b"])
    assert set(joined(kb)) == {("a", "c")}
    kb.add(turn("between", 1))
    assert set(joined(kb)) == {("a", "between"), ("between", "c"), ("a", "c")}


def test_views_leave_out_what_was_not_known_and_what_is_not_wanted(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("b", 1), turn("c", 2, reply_to="a"))
    assert pairs(kb, View(known_at=START + timedelta(minutes=1.5))) == {("a", "b")}


def test_thread_and_answer_come_back_as_they_went_in(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("b", 1, reply_to="a"))
    [_, second] = kb.export()
    assert (second.thread, second.reply_to) == ("t", "a")


def test_whatever_changes_neighbours_makes_a_new_version(kb: KnowledgeBase) -> None:
    kb.add(turn("a", 0), turn("b", 1), turn("c", 1))
    kb.build("phrases")
    before = loaded(kb).stamp.version
    kb.add(turn("b", 1, thread="another"))
    moved = loaded(kb).stamp.version
    kb.mark_sensitive(["a"])
    assert before < moved < loaded(kb).stamp.version
