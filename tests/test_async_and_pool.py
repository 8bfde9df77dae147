"""A program's own event loop and its own pool of connections."""

import asyncio
import threading

import psycopg
import pytest
from patience import PATIENCE
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory


def test_recall_and_add_do_not_block_the_loop(kb, monkeypatch):
    recall, turned = kb.recall, threading.Event()

    def waiting(*arguments: object, **options: object) -> object:
        # Set by the loop: were it blocked by this, it never would be.
        assert turned.wait(PATIENCE)
        return recall(*arguments, **options)

    monkeypatch.setattr(kb, "recall", waiting)

    async def both() -> list[str]:
        written = await kb.aadd(Memory("m1", "Ada keeps the spare key."))
        assert written.added == 1
        asked = asyncio.create_task(kb.arecall("spare key", legs=("lexical",)))
        await asyncio.sleep(0)
        turned.set()
        return [hit.external_id for hit in await asked]

    assert asyncio.run(both()) == ["m1"]


def test_many_calls_hold_few_threads(kb):
    kb.add(Memory("m1", "Ada keeps the spare key."))
    before = threading.active_count()

    async def all_at_once():
        calls = [asyncio.create_task(kb.arecall(f"spare key {number}")) for number in range(64)]
        await asyncio.sleep(0.05)
        held = threading.active_count() - before
        return held, [[hit.external_id for hit in await call] for call in calls]

    held, answers = asyncio.run(all_at_once())
    assert held <= 8 and answers == [["m1"]] * 64
    assert asyncio.run(kb.arecall_many(["spare key", "Ada"], k=1))[0][0].external_id == "m1"


def test_an_own_pool_is_used_as_it_is_and_stays_open(dsn):
    options = {"autocommit": True, "row_factory": dict_row}
    with ConnectionPool(dsn, kwargs=options, min_size=1, max_size=4) as pool:
        with hopgate.open(pool=pool) as kb:
            kb.add(Memory("m1", "Ada Lovelace lives in London."))
            kb.build()
            assert [hit.external_id for hit in kb.recall("London", legs=("lexical", "graph"))] == ["m1"]
            with pytest.raises(HopgateError), kb.store.transaction() as connection:
                connection.execute("DELETE FROM memories")
                raise HopgateError("and back")
            assert len(kb) == 1
            change = kb.graph.merge("London", "Ada Lovelace", dry_run=True)
            assert change is not None and len(kb.graph.edges()) == 1
        with pool.connection() as connection:
            assert connection.autocommit and connection.row_factory is dict_row
            assert connection.execute("SHOW search_path").fetchone() == {"search_path": '"$user", public'}
            assert connection.execute("SELECT count(*) AS n FROM memories").fetchone() == {"n": 1}
        with pytest.raises(HopgateError, match="leave the address out"):
            hopgate.open(dsn, pool=pool)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (1,)
