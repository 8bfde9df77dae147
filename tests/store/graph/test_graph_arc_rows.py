"""Neighbours: who is joined to whom, with which weight, and what a hole in a thread does."""

from datetime import UTC, datetime, timedelta

import pytest

from hopgate import Memory
from hopgate.graph.walk.matrix import WHOLE, GraphMatrix, load_matrix
from hopgate.kb import KnowledgeBase
from hopgate.memory import thread_of
from hopgate.store import memories
from hopgate.store.graph.arrays import ARC_KINDS, arcs
from hopgate.store.graph.visible import View

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


def turn(name: str, minute: float, *, thread: str | None = "t", **fields: object) -> Memory:
    return Memory(name, f"turn {name}", created_at=START + timedelta(minutes=minute), thread=thread, **fields)


def filed(name: str, minute: float, category: str = "homelab") -> Memory:
    return turn(name, minute, thread=None, category=category)


def joined(kb: KnowledgeBase) -> dict[str, float]:
    """Weights by pairs; those of answers by a pair with an arrow."""
    with kb.store.transaction() as connection:
        names = memories.external_ids(connection)
        found = arcs(connection)
    rows = zip(found.source.tolist(), found.target.tolist(), found.kind.tolist(), found.weight.tolist(), strict=True)
    signs = {"follows": " ", "replies to": " → "}
    return {f"{names[one]}{signs[ARC_KINDS[kind]]}{names[two]}": round(weight, 3) for one, two, kind, weight in rows}


def loaded(kb: KnowledgeBase, view: View = WHOLE) -> GraphMatrix:
    with kb.store.snapshot() as connection:
        return load_matrix(connection, view)


def pairs(kb: KnowledgeBase, view: View = WHOLE) -> set[str]:
    matrix = loaded(kb, view)
    names = kb.id_map()
    ends = zip(matrix.arcs.source.tolist(), matrix.arcs.target.tolist(), strict=True)
    return {f"{names[int(matrix.memory_ids[one])]} {names[int(matrix.memory_ids[two])]}" for one, two in ends}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            [turn("c", 0), turn("a", 0), turn("b", -1), turn("d", 0)],
            {"b c": 1.199, "c a": 1.2, "a d": 1.2, "b a": 0.72, "c d": 0.72},
            id="turns up to two apart, in the order of time",
        ),
        pytest.param(
            [turn("a", 0, scope="one"), turn("b", 0, scope="two"), turn("c", 0, scope="one", thread="other")],
            {},
            id="scopes and threads are walls",
        ),
        pytest.param(
            [filed("a", 0), filed("b", 1), filed("c", 0, "session_1"), filed("d", 0, "session_1")],
            {"c d": 1.2},
            id="a category is no conversation but where it calls itself one",
        ),
        pytest.param([turn("a", 0), turn("year", 60 * 24 * 400)], {"a year": 0.3}, id="a thread over any gap"),
        pytest.param(
            [*(Memory(name, "a note", category="homelab") for name in "abc"), Memory("t", "x", thread="t"),
             Memory("u", "y", thread="t")],
            {"t u": 1.2},
            id="undated memories of one load are one where a thread is named",
        ),
        pytest.param(
            [turn("a", 0), turn("b", 0, reply_to="a"), turn("c", 0), turn("d", 0, reply_to="a", thread=None)],
            {"b → a": 1.2, "d → a": 1.2, "b c": 1.2, "a c": 0.72},
            id="an answer is joined to what it answers, and only once",
        ),
    ],
)  # fmt: skip
def test_who_is_joined_to_whom(kb, made, expected):
    kb.add(*made)
    assert joined(kb) == pytest.approx(expected)


def test_a_sensitive_turn_is_not_bridged_over_and_a_deleted_one_leaves_no_hole(kb):
    kb.add(*(turn(name, minute) for minute, name in enumerate("abcde")))
    kb.mark_sensitive(["c"])
    assert pairs(kb) == {"a b", "d e"}
    assert pairs(kb, View(known_at=START + timedelta(minutes=1.5))) == {"a b"}
    kb.delete(["c"])
    assert {"a b", "b d", "a d"} <= set(joined(kb))
    kb.add(turn("between", 2))
    assert {"b between", "between d", "a between"} <= set(joined(kb)) and "a d" not in joined(kb)


def test_whatever_changes_neighbours_makes_a_new_version(kb):
    kb.add(turn("a", 0), turn("b", 1, reply_to="a"), turn("c", 1))
    assert [(memory.thread, memory.reply_to) for memory in kb.export()][1] == ("t", "a")
    kb.build("phrases")
    before = loaded(kb).stamp.version
    kb.add(turn("b", 1, thread="another"))
    moved = loaded(kb).stamp.version
    kb.mark_sensitive(["a"])
    assert before < moved < loaded(kb).stamp.version


def test_a_thread_is_the_same_to_the_graph_to_extraction_and_to_who_reads_its_turns(kb):
    """Turns of one time follow each other as they came: what is read with one that turns sensitive must go."""
    categories = ["session_3", "Session 12", "CHAT-7", "thread1", "conversation_2 b", "chat", "my session_3", "s 3", ""]
    asked = [Memory("m", "x", category=category) for category in categories] + [Memory("m", "x", thread="t")]
    kb.add(*(Memory(f"m{number:02}", "a turn", created_at=START, category="session 3") for number in range(14)))
    kb.mark_sensitive(["m10"])
    assert "m10 m11" in joined(kb)
    with kb.store.transaction() as connection:
        threads = "SELECT hopgate_thread(%s, %s)"
        assert [thread_of(memory) for memory in asked] == [
            connection.execute(threads, (memory.thread, memory.category)).fetchone()[0] for memory in asked
        ]
        ids = {name: key for key, name in memories.external_ids(connection).items()}
        before = [memory.external_id for memory in memories.turns_before(connection, ids["m12"], limit=4)]
        after = memories.turns_after(connection, [ids["m09"]])
    assert before == ["m07", "m08", "m09", "m11"]
    assert after == [ids[name] for name in ("m10", "m11", "m12", "m13")]
