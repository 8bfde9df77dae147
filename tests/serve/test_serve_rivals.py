"""Servers that are bound to different scopes and change the same id at once: neither touches the other's memory."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from patience import PATIENCE
from serving import serving

from hopgate.errors import TakenError, UnknownMemoryError
from hopgate.memory import Memory
from hopgate.serve.mcp import AssistantStore
from hopgate.serve.settings import Bounds


def meanwhile(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], object]) -> None:
    """Let something happen between what a server looks at and what it writes."""
    write = getattr(owner, name)

    def paused(*given: Any, **options: Any) -> Any:
        monkeypatch.setattr(owner, name, write)
        act()
        return write(*given, **options)

    monkeypatch.setattr(owner, name, paused)


def test_what_comes_between_the_look_and_the_write_is_refused_as_if_it_had_been_there(own_kb, monkeypatch):
    def taken(key: str) -> Callable[[], object]:
        return lambda: own_kb.load([Memory(key, "text of B", scope="B")])

    with serving(own_kb, scopes=("A",)) as server:
        meanwhile(monkeypatch, own_kb, "add", taken("new"))
        racing = server.post("memories", {"id": "new", "text": "text of A", "link": False})
        after = server.post("memories", {"id": "new", "text": "text of A", "link": False})
        assert (racing.status_code, racing.json()) == (after.status_code, after.json())
        assert racing.status_code == 409

        changes: dict[str, tuple[Any, str, Callable[[], Any]]] = {
            "d1": (own_kb, "delete", lambda: server.client.delete("/api/v1/memories/d1")),
            "d2": (own_kb, "mark_sensitive", lambda: server.post("memories/d2/sensitive", {"sensitive": True})),
            "d3": (own_kb, "unmark_sensitive", lambda: server.post("memories/d3/sensitive", {"sensitive": False})),
        }
        for key, (owner, name, change) in changes.items():
            own_kb.add(Memory(key, "text of A", scope="A"))
            meanwhile(monkeypatch, owner, name, taken(key))
            racing, after = change(), change()
            assert (racing.status_code, racing.json()) == (after.status_code, after.json()), key
            assert racing.status_code == 404
            stored = own_kb.get(key)
            assert stored is not None and (stored.scope, stored.text, stored.is_sensitive) == ("B", "text of B", False)


def test_an_assistant_remembers_under_another_id_where_its_own_is_taken(own_kb, monkeypatch):
    bound = AssistantStore(own_kb, Bounds(scopes=("A",)))
    first = bound.remember("text of A")
    own_kb.delete([first.id])
    meanwhile(monkeypatch, own_kb, "add", lambda: own_kb.load([Memory(first.id, "text of B", scope="B")]))
    second = bound.remember("text of A")
    assert second.new and second.id != first.id
    stored = own_kb.get(first.id)
    assert stored is not None and stored.text == "text of B"


def test_a_write_waits_for_the_rival_and_looks_again(own_kb):
    """The rival has the id and has not committed: no look beforehand could have seen it."""
    with ThreadPoolExecutor(1) as other:
        with own_kb.store.transaction() as connection:
            connection.execute("INSERT INTO memories (external_id, content, scope) VALUES ('w', 'text of B', 'B')")
            writing = other.submit(own_kb.add, Memory("w", "text of A", scope="A"), within=["A"])
            with pytest.raises(TimeoutError):
                writing.result(0.3)
        with pytest.raises(TakenError, match="'w' is taken: choose another"):
            writing.result(PATIENCE)
    own_kb.add(Memory("v", "text of B", scope="B"), within=["B"])
    with pytest.raises(UnknownMemoryError, match="no memory 'v'"):
        own_kb.mark_sensitive(["v"], within=["A"])
    assert own_kb.add(Memory("v", "new text of B", scope="B"), within=["A", "B"]).added == 0
