"""Writers side by side: one order of locks, kept by all; who meets another all the same begins again."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from patience import PATIENCE
from reliability.watch import AFTER_COMMIT, LOCKS, ROLLBACK, taken, watched
from word_endpoint import serving

import hopgate
from hopgate.errors import ConflictError, HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import memories

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
NOTES = [
    Memory("a", "Immich runs on cedar."),
    Memory("b", "Immich moved to alder."),
    Memory("c", "Ada Lovelace lives in London."),
    Memory("d", "Ada owns the NAS."),
]


def transactions(work: Callable[[], object]) -> list[list[str]]:
    """The locks that each transaction of some work takes, in its order."""
    open_, done = defaultdict[int, list[str]](list), list[list[str]]()

    def note(connection: psycopg.Connection[Any], statement: str) -> None:
        if statement in (AFTER_COMMIT, ROLLBACK):
            done.append(open_.pop(id(connection), []))
        else:
            open_[id(connection)] += taken(statement)

    with watched(note):
        work()
    return [locks for locks in [*done, *open_.values()] if locks]


def test_every_writer_keeps_the_order_that_is_written_down(kb):
    section = PAGE.read_text(encoding="utf-8").partition("## The order of locks")[2].partition("\n## ")[0]
    assert re.findall(r"^\d+\. \*\*(.+?)\*\*", section, re.MULTILINE) == list(LOCKS)
    with serving() as first, serving("others") as second:
        work: dict[str, Callable[[], object]] = {
            "load": lambda: kb.load(iter(NOTES)),
            "add": lambda: kb.add(Memory("e", "Bea feeds the cat.")),
            "embed": lambda: kb.embed(first.spec),
            "build": kb.build,
            "change a text": lambda: kb.add(Memory("a", "Immich runs on birch."), Memory("b", "Immich is on alder.")),
            "build what is new": kb.build,
            "declare": lambda: kb.build(single_valued=["lives in"]),
            "rebuild": lambda: kb.build(rebuild=True),
            "merge": lambda: kb.graph.merge("London", "Ada Lovelace"),
            "split": lambda: kb.graph.split("London"),
            "curate": lambda: kb.graph.curate(apply=True),
            "reembed": lambda: kb.reembed(second.spec),
            "mark": lambda: kb.mark_sensitive(["c"]),
            "delete": lambda: kb.delete(["d", "a"]),
            "language": lambda: kb.language("german"),
            "set": lambda: kb.store_settings.set({"k": 5}),
        }
        seen = set[str]()
        for name, one in work.items():
            for locks in transactions(one):
                seen |= set(locks)
                first_of_each = list(dict.fromkeys(locks))
                assert first_of_each == sorted(first_of_each, key=list(LOCKS).index), f"{name}: {first_of_each}"
                if "graph's rows" in locks:
                    assert "graph" in locks, f"{name} changes the graph without its lock"
        assert seen == set(LOCKS)


def _swap(kb: KnowledgeBase, met: threading.Barrier, order: list[str]) -> int:
    attempts = 0

    def work(connection: psycopg.Connection[Any]) -> None:
        nonlocal attempts
        attempts += 1
        connection.execute("SET LOCAL deadlock_timeout = '20ms'")
        for at, key in enumerate(order):
            connection.execute("UPDATE memories SET category = 'x' WHERE external_id = %s", (key,))
            if at == 0 and attempts == 1:
                met.wait(PATIENCE)

    kb.store.run(work)
    return attempts


def test_two_that_deadlock_begin_again(kb):
    kb.add(*NOTES[:2])
    met = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(_swap, kb, met, order) for order in (["a", "b"], ["b", "a"])]
        assert sorted(one.result(PATIENCE) for one in done) == [1, 2]


@pytest.mark.parametrize("state", ["40P01", "40001"])
def test_a_conflict_is_not_taken_for_a_server_that_is_down(kb, state):
    raised = f"DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(ConflictError, match="other writers") as caught, kb.store.transaction() as connection:
        connection.execute(raised)
    assert "running" not in str(caught.value)


@pytest.mark.parametrize("setting", ["statement_timeout", "lock_timeout"])
def test_nor_is_a_timeout_of_the_servers(kb, setting):
    kb.add(NOTES[0])
    with kb.store.transaction() as holder:
        holder.execute("SELECT FROM memories FOR UPDATE")
        with pytest.raises(HopgateError, match="ended a statement early"), kb.store.transaction() as connection:
            connection.execute(f"SET LOCAL {setting} = '20ms'")
            connection.execute("UPDATE memories SET category = 'x'")


# What another deletes between two statements of ours.


@pytest.mark.parametrize("gone", [["a"], ["a", "b"]])
def test_a_memory_goes_while_it_is_about_to_be_embedded(kb, endpoint, gone, monkeypatch):
    kb.add(*NOTES[:2])
    fetch = memories.fetch_by_id

    def meanwhile(connection, ids):
        monkeypatch.setattr(memories, "fetch_by_id", fetch)  # once: who deletes reads memories too
        with hopgate.open(kb.store.dsn) as other:
            other.delete(gone)
        return fetch(connection, ids)

    monkeypatch.setattr(memories, "fetch_by_id", meanwhile)
    assert kb.embed(endpoint.spec) == 2 - len(gone)


def test_a_path_through_what_is_gone_is_left_out(kb, monkeypatch):
    kb.add(*NOTES[:2])
    kb.build()
    explain = kb.graph_leg.explain

    def meanwhile(trace, memory_id):
        if len(kb):
            assert explain(trace, memory_id)
            kb.delete(["a", "b"])
        return explain(trace, memory_id)

    monkeypatch.setattr(kb.graph_leg, "explain", meanwhile)
    hits = kb.recall("Immich", legs=("lexical", "graph"), explain=True)
    assert hits and all(hit.path == () for hit in hits)
