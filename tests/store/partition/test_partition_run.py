"""Memories in parts by scope: the same store either way, while others write, and wherever a run is stopped."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from patience import PATIENCE
from reliability.oracle import broken, digest
from word_endpoint import serving

import hopgate
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import clearance, memories, vectors
from hopgate.store.frozen import FrozenStore
from hopgate.store.partition import copy_rows, layout, next_table, partition_run, swap

PEOPLE = ("Ada Lovelace", "Grace Hopper", "Alan Turing")
PLACES = ("London", "Leeds", "Paris")
DAY = datetime(2024, 1, 1, tzinfo=UTC)


def notes(count: int = 24) -> list[Memory]:
    return [
        Memory(
            f"n{at}",
            f"{PEOPLE[at % 3]} moved to {PLACES[at % 3]} in {1990 + at}. Word{at} is known.",
            scope=None if at % 6 == 5 else f"scope {at % 6}",
            thread=f"t{at % 4}",
            category="note",
            created_at=DAY + timedelta(at),
        )
        for at in range(count)
    ]


def said(dsn: str) -> dict[str, str]:
    """What a store says, which must also be in order."""
    with psycopg.connect(dsn, options="-c search_path=hopgate,public") as connection:
        assert broken(connection) == {}
        return digest(connection)


def shape(dsn: str) -> list[Any]:
    """The catalogue's account of the tables of hopgate's."""
    with psycopg.connect(dsn) as connection:
        return [
            sorted(connection.execute(statement).fetchall())
            for statement in (
                "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'hopgate'::regnamespace",
                "SELECT pg_get_indexdef(indexrelid), indisvalid FROM pg_index "
                "WHERE indrelid = 'hopgate.memories'::regclass",
                "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
                "WHERE connamespace = 'hopgate'::regnamespace",
                "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'hopgate.memories'::regclass "
                "AND NOT tgisinternal",
                "SELECT attname, format_type(atttypid, atttypmod), attstattarget, attidentity, attgenerated "
                "FROM pg_attribute WHERE attrelid = 'hopgate.memories'::regclass AND attnum > 0 AND NOT attisdropped",
                "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'hopgate'::regnamespace",
            )
        ]


@pytest.fixture(scope="module")
def spec() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint.spec


@pytest.fixture
def parted(other: str) -> Iterator[KnowledgeBase]:
    """A store that was divided while it was empty."""
    with hopgate.open(other) as opened:
        assert opened.upkeep.partition(3) == partition_run.Partitioned(3, 0)
        yield opened


def live(kb: KnowledgeBase, spec: str, folder: Path) -> list[list[tuple[str, float]]]:
    """Do what can be done with a store; give what it was asked."""
    kb.load(iter(notes()))
    kb.embed(spec)
    kb.build()
    kb.add(
        Memory("n1", "Ada Lovelace moved to Rome in 2020.", scope="scope 4", created_at=DAY),
        Memory("n2", notes()[2].text, scope=None, created_at=DAY),
        Memory("late", "Grace Hopper owns a lamp.", scope="scope 1", reply_to="n7", created_at=DAY + timedelta(90)),
    )
    kb.mark_sensitive(["n3", "n8"])
    kb.unmark_sensitive(["n8"])
    kb.delete(["n4", "n10"])
    kb.upkeep.catch_up()
    lines = folder / "more.jsonl"
    fields = {"scope": "scope 2", "created_at": "2024-05-01T00:00:00+00:00"}
    lines.write_text(json.dumps({"_id": "b1", "text": "Alan Turing lives in Wilmslow.", "metadata": fields}) + "\n")
    kb.backfill(lines)
    kb.graph.curate(apply=True)
    kb.language("german")
    kb.language("english")
    queries: list[dict[str, Any]] = [{}, {"scope": "scope 1"}, {"scope": ["scope 2", "scope 4"]}, {"scope": "nobody's"}]
    return [
        [(hit.external_id, hit.score) for hit in kb.recall(text, **query)]
        for text in ("Where did Ada Lovelace move?", "Word7")
        for query in queries
    ]


def test_a_store_in_parts_is_the_same_store(
    kb: KnowledgeBase, dsn: str, parted: KnowledgeBase, other: str, spec: str, tmp_path: Path
) -> None:
    for name in ("one", "three"):
        (tmp_path / name).mkdir()
    assert live(kb, spec, tmp_path / "one") == live(parted, spec, tmp_path / "three")
    assert said(dsn) == said(other)
    assert kb.upkeep.status()["parts"] == 1 and parted.upkeep.status()["parts"] == 3
    with parted.store.transaction() as connection:
        assert connection.execute("SELECT id, external_id FROM memory_keys ORDER BY 1").fetchall() == (
            connection.execute("SELECT id, external_id FROM memories ORDER BY 1").fetchall()
        )
    before = said(other)
    assert parted.upkeep.scrub().tables > 30
    assert said(other) == before


def test_a_backup_fits_either(dsn: str, parted: KnowledgeBase, other: str, tmp_path: Path) -> None:
    parted.load(iter(notes()))
    parted.build()
    whole = said(other)
    parted.upkeep.backup(tmp_path / "parts.hopgate")
    with hopgate.open(dsn) as plain:
        plain.upkeep.restore(tmp_path / "parts.hopgate")
        assert said(dsn) == whole
        plain.upkeep.backup(tmp_path / "one.hopgate")
    parted.delete([memory.external_id for memory in notes()])
    parted.upkeep.restore(tmp_path / "one.hopgate")
    assert said(other) == whole
    with pytest.raises(psycopg.errors.UniqueViolation), parted.store.transaction() as connection:
        connection.execute("INSERT INTO memories (external_id, content, scope) VALUES ('n0', 'x', 'elsewhere')")


def test_rows_are_divided_and_brought_together_again(kb: KnowledgeBase, dsn: str, spec: str) -> None:
    kb.load(iter(notes()))
    kb.embed(spec)
    kb.build()
    before, plain = said(dsn), shape(dsn)
    copied = list[int]()
    with mock.patch.object(copy_rows, "BATCH", 10):
        assert kb.upkeep.partition(4, progress=copied.append) == partition_run.Partitioned(4, 24)
    assert copied == [10, 10, 4]
    assert said(dsn) == before
    kb.add(Memory("next", "an id that was never given"))
    assert kb.upkeep.partition(2).parts == 2 and kb.upkeep.partition(2).copied == 0
    kb.delete(["next"])
    assert kb.upkeep.partition(1).parts == 1
    assert said(dsn) == before
    assert shape(dsn) == plain


def test_what_is_written_meanwhile_is_carried_over(
    kb: KnowledgeBase, dsn: str, parted: KnowledgeBase, other: str
) -> None:
    writes: list[Callable[[KnowledgeBase], object]] = [
        lambda kb: kb.add(
            Memory("n0", "another text", scope="moved", created_at=DAY),
            Memory("new", "a new one", scope="scope 1", created_at=DAY),
        ),
        lambda kb: kb.delete(["n1", "n20"]),
        # The ids of one that has gone and of one that is not copied yet.
        lambda kb: kb.add(
            Memory("n1", "back again", scope="scope 5", created_at=DAY), Memory("n20", "back too", created_at=DAY)
        ),
        lambda kb: kb.mark_sensitive(["n2", "n23"]),
        lambda kb: kb.build(),
    ]
    for store in (kb, parted):
        store.load(iter(notes()))
    for write in writes:
        write(parted)
    left = iter(writes)
    build = next_table.missing_indexes

    def build_slowly(*asked: Any) -> list[str]:
        for write in left:
            write(kb)
        return build(*asked)

    with mock.patch.object(copy_rows, "BATCH", 8), mock.patch.object(next_table, "missing_indexes", build_slowly):
        kb.upkeep.partition(3, progress=lambda _: next(left)(kb))
    assert list(left) == []
    assert said(dsn) == said(other)


def stopped(kb: KnowledgeBase, parts: int) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with mock.patch.object(copy_rows, "BATCH", 8), pytest.raises(KeyboardInterrupt):
        kb.upkeep.partition(parts, progress=stop)


def test_a_run_that_was_stopped_goes_on_or_is_given_up(kb: KnowledgeBase, dsn: str, tmp_path: Path) -> None:
    kb.load(iter(notes()))
    plain = shape(dsn)
    stopped(kb, 3)
    kb.delete(["n0"])
    kb.add(Memory("n1", "another text"))
    kb.mark_sensitive(["n2"])
    with kb.store.transaction() as connection:
        kept = connection.execute(f"SELECT external_id FROM {layout.NEXT} ORDER BY id").fetchall()
    assert [row[0] for row in kept] == ["n3", "n4", "n5", "n6", "n7"]
    assert kb.upkeep.status()["unfinished_parts"] == 3
    with pytest.raises(HopgateError, match="3 parts was not finished"):
        kb.upkeep.partition(4)
    assert kb.upkeep.give_up_partition() and not kb.upkeep.give_up_partition()
    assert shape(dsn) == plain
    with kb.store.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM memory_keys").fetchone() == (0,)
    before = said(dsn)
    stopped(kb, 3)
    with kb.store.transaction() as connection:
        connection.execute("ALTER TABLE memories ADD COLUMN of_mine text")
    assert kb.upkeep.partition(3) == partition_run.Partitioned(3, 23, resumed=True)
    assert said(dsn) == before


def test_a_snapshot_is_never_left_without_its_rows(kb: KnowledgeBase) -> None:
    kb.load(iter(notes()))
    frozen = FrozenStore(kb.store)
    with mock.patch.object(swap, "ATTEMPTS", 1), pytest.raises(HopgateError, match="a gate, a backup or a long load"):
        kb.upkeep.partition(2)
    with frozen.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (24,)
    frozen.close()
    assert kb.upkeep.partition(2) == partition_run.Partitioned(2, 0, resumed=True)


def test_recall_within_a_scope_looks_into_one_part(parted: KnowledgeBase, spec: str) -> None:
    parted.load(iter([*notes(), Memory("long", "a long one " * 400, scope="scope 1")]))
    parted.embed(spec)
    asked = list[tuple[str, Any]]()
    execute = psycopg.Cursor.execute

    def noting(self: Any, query: Any, parameters: Any = None, **options: Any) -> Any:
        asked.append((str(query), parameters))
        return execute(self, query, parameters, **options)

    with mock.patch.object(psycopg.Cursor, "execute", noting):
        assert parted.recall("Where did Grace Hopper move? Word7", scope="scope 1")
    read = [(query, values) for query, values in asked if re.search(r"\bmemories\b", query) and "SELECT" in query]
    assert len(read) >= 5
    with parted.store.transaction() as connection:
        for query, values in read:
            plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {query}", values))
            # Who superseded a memory is looked up by id alone, and may be anywhere.
            plan = plan.partition("SubPlan")[0]
            assert len(set(re.findall(r"memories_3_\d\b", plan))) <= 1, f"{query}\n{plan}"


def test_an_id_is_unique_in_all_parts_and_what_hangs_on_it_goes_with_it(parted: KnowledgeBase, other: str) -> None:
    parted.load(iter(notes()))
    parted.build()
    with parted.store.transaction() as connection:
        for statement in (
            "INSERT INTO memories (external_id, content, scope) VALUES ('n0', 'x', 'elsewhere')",
            "INSERT INTO memories (id, content, scope) SELECT id, 'x', 'elsewhere' FROM memories LIMIT 1",
        ):
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                connection.execute(statement)
        with pytest.raises(psycopg.errors.ForeignKeyViolation), connection.transaction():
            connection.execute("INSERT INTO passages (memory_id, number, starts, ends) VALUES (0, 0, 0, 1)")
        # By whoever writes into the table, as an owner's program does.
        connection.execute("DELETE FROM memories WHERE external_id = 'n0'")
        assert connection.execute("SELECT count(*) FROM extractions").fetchone() == (23,)
        connection.execute("UPDATE memories SET external_id = 'n00' WHERE external_id = 'n1'")
        assert connection.execute("SELECT count(*) FROM memory_keys WHERE external_id = 'n00'").fetchone() == (1,)


def test_a_memory_that_moves_meanwhile_is_looked_at_again(parted: KnowledgeBase) -> None:
    """A row that another transaction moves to another part cannot be waited for."""
    scopes = [f"scope {at}" for at in range(6)]
    parted.load(iter([Memory(f"m{at}", "one", scope=scopes[at]) for at in range(6)]))
    with parted.store.transaction() as connection:
        known = memories.fetch_by_id(connection, memories.all_ids(connection))
    guard = clearance.memory_guard(parted.store, known)
    with psycopg.connect(parted.store.dsn, options="-c search_path=hopgate,public") as mover:
        mover.execute("UPDATE memories SET scope = 'elsewhere', is_sensitive = true")

        def moved(work: Callable[[], object]) -> object:
            """Begin some work, and let the rows be moved once it waits for them."""
            with ThreadPoolExecutor(1) as beside:
                begun = beside.submit(work)
                waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()"
                while not mover.execute(waits).fetchone():
                    time.sleep(0.01)
                mover.commit()
                return begun.result(PATIENCE)

        def hold() -> None:
            with guard.holding():
                pytest.fail("a memory that changed may be read")

        with pytest.raises(HopgateError, match="turned sensitive, changed or was deleted"):
            moved(hold)
        mover.execute("UPDATE memories SET scope = 'scope ' || id % 6, is_sensitive = false")
        moved(lambda: parted.load(Memory(f"m{at}", "two", scope="at last") for at in range(6)))
    assert [memory.text for memory in parted.page()] == ["two"] * 6


def test_vectors_are_indexed_by_part(parted: KnowledgeBase, spec: str) -> None:
    parted.load(iter(notes()))
    with mock.patch.object(vectors, "EXACT_BELOW", 1):
        parted.embed(spec)
    with parted.store.transaction() as connection:
        assert vectors.has_index(connection)
    assert parted.recall("Ada Lovelace", scope="scope 0") and parted.recall("Ada Lovelace")
    parted.upkeep.partition(2)
    with parted.store.transaction() as connection:
        assert vectors.has_index(connection)
        parts = connection.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = 'memories_embedding'::regclass")
        assert parts.fetchone() == (2,)
