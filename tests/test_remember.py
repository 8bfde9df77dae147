"""`kb.remember` and `kb.update`: a text or a conversation, with ids made, embedded and linked at once."""

import json
from typing import Any

import pytest

import hopgate
from hopgate.errors import HopgateError
from hopgate.sources.read import read_source

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where does Ada Lovelace live?"},
    {"role": "assistant", "content": [{"type": "text", "text": "In London."}]},
    {"role": "user", "content": "ok"},
    {"role": "tool", "content": "{}"},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "ok", "created_at": "2024-05-02"},
]


def test_a_text_is_one_memory_however_often(kb, other):
    first = kb.remember("Ada Lovelace lives in London.", scope="home", at="2024-05-01", tags=("people",))
    assert (first.added, first.embedded, first.linked) == (1, 1, 1)
    again = kb.remember("Ada Lovelace lives in London.", scope="home", tags=("people",), link=False)
    assert (again.ids, again.added, again.embedded) == (first.ids, 0, 0)
    [memory] = kb.list(scope="home")
    assert memory.created_at is not None and memory.created_at.date().isoformat() == "2024-05-01"
    assert [edge.evidence for edge in kb.graph.edges("London")] == [first.ids]
    assert kb.remember("Ada Lovelace lives in London.", scope="work", id="mine").ids == ("mine",)
    with hopgate.open(other) as stranger:
        assert stranger.remember("Ada Lovelace lives in London.", scope="home").ids != first.ids
    with pytest.raises(HopgateError, match="nothing to remember"):
        kb.remember(" ")


def test_messages_keep_role_order_and_thread(kb):
    done = kb.remember(CHAT, scope="home", thread="t1", at="2024-05-01", category="chat")
    made = kb.list(scope="home")
    assert [memory.text for memory in made] == ["Where does Ada Lovelace live?", "In London.", "ok", "ok"]
    assert [memory.extra["role"] for memory in made] == ["user", "assistant", "user", "user"]
    assert {(memory.thread, memory.category) for memory in made} == {("t1", "chat")}
    assert [f"{memory.created_at:%d}" for memory in made] == ["01", "01", "01", "02"]
    assert (done.ids, done.embedded) == (tuple(memory.external_id for memory in made), 4)
    # A conversation goes on: what was there is known.
    assert kb.remember([*CHAT, {"role": "user", "content": "Thanks."}], scope="home", thread="t1").added == 1
    assert kb.remember(CHAT).added == 4 and kb.remember(CHAT).added == 0
    for wrong in ([{"role": "user", "content": 5}], [{"content": "x"}]):
        with pytest.raises(HopgateError, match="a message has a role and a content"):
            kb.remember(wrong)


def test_a_message_that_is_marked_is_sensitive_and_a_mark_that_is_not_read_is_refused(kb):
    done = kb.remember([{"role": "user", "content": "The PIN is 4711.", "is_sensitive": True}])
    assert done.embedded == 0 and kb.get(done.ids[0]).is_sensitive
    for mark in (
        {"private": True},
        {"metadata": {"is_sensitive": True}},
        {"is_sensitive": None},
        {"isSensitive": True},
    ):
        with pytest.raises(HopgateError, match=r"is not read: write is_sensitive|is_sensitive is empty"):
            kb.remember([{"role": "user", "content": "The PIN is 4712.", **mark}])
    assert len(kb) == 1


def test_a_file_of_messages_is_recognised(tmp_path):
    path = tmp_path / "chat.json"
    for whole in (CHAT, {"messages": CHAT}):
        path.write_text(json.dumps(whole))
        source = read_source(path)
        assert source.name == "messages" and len(list(source.memories)) == 4
    path.write_text(json.dumps({"messages": CHAT, "private": True}))
    with pytest.raises(HopgateError, match="'private'"):
        list(read_source(path).memories)
    path.write_text(json.dumps([*CHAT, {"role": 7}]))
    source = read_source(path)
    assert len(list(source.memories)) == 4 and "message 8: a message has" in str(source.rejected[0])


def test_update_changes_what_is_named(kb):
    kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London.", tags=("people",)))
    kb.build()
    assert kb.update("m1", text="Ada Lovelace lives in Paris.", created_at="2024-05-01").embedded == 1
    memory = kb.get("m1")
    assert memory is not None and memory.tags == ("people",) and f"{memory.created_at:%Y-%m}" == "2024-05"
    assert [edge.target for edge in kb.graph.edges("Ada Lovelace")] == ["Paris"]
    with pytest.raises(HopgateError, match="no memory 'm2'"):
        kb.update("m2", text="x")
    with pytest.raises(HopgateError, match="'colour' is no field to update: there are text"):
        kb.update("m1", colour="red")


def test_a_knowledge_base_says_where_it_is(kb, tmp_path):
    assert repr(kb).startswith("<KnowledgeBase: the database test_")
    with hopgate.open(tmp_path / "s") as other:
        assert repr(other) == f"<KnowledgeBase: the store in {tmp_path / 's'}>"


@pytest.mark.parametrize("extra", [{"is_sensitive": True}, {"value": {"meta": [{"private": True}]}}])
def test_a_mark_where_nobody_looks_is_refused_however_it_comes(kb, extra):
    """From Python as from files; LangGraph's items keep their values there."""
    kb.add(hopgate.Memory("m1", "Ada lives in London."))
    for write in (lambda: kb.update("m1", extra=extra), lambda: kb.add(hopgate.Memory("m2", "PIN 99", extra=extra))):
        with pytest.raises(HopgateError, match="in extra is not read: write is_sensitive at the top level"):
            write()
    assert len(kb) == 1 and not kb.get("m1").extra
