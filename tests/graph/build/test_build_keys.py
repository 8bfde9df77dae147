"""A first build does not let the server look up keys that were just looked up: every key is right all the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from graph_content import content
from psycopg import Connection, errors

import hopgate
from hopgate.demo import corpus
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import concept_rows, plain_edges

SOME = corpus().memories[:60]
_KEYS = (
    "SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text, b.attname FROM pg_constraint c "
    "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
    "JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] "
    "WHERE c.contype = 'f' AND c.conparentid = 0 "
    "AND c.conrelid::regclass::text ~ 'mentions|facts|edges|memory_concepts|concept_names|extractions'"
)


@contextlib.contextmanager
def every_key_checked(connection: Connection[Any]) -> Iterator[bool]:
    """What `keys_known` does for a user who may not leave the checks out."""
    yield False


def test_every_key_is_there(kb: KnowledgeBase, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.add(*SOME)
    kb.build()
    with kb.store.transaction() as connection:
        keys = connection.execute(_KEYS).fetchall()
        assert len(keys) >= 9
        for table, column, of, key in keys:
            lost = connection.execute(
                f"SELECT {column} FROM {table} t WHERE {column} IS NOT NULL "
                f"AND NOT EXISTS (SELECT FROM {of} o WHERE o.{key} = t.{column})"
            )
            assert lost.fetchall() == [], table
        assert connection.execute("SELECT count(*) FROM waiting_links").fetchone() == (0,)
    for module in (plain_edges, concept_rows):
        monkeypatch.setattr(module, "keys_known", every_key_checked)
    with hopgate.open(other) as second:
        second.add(*SOME)
        second.build()
        assert content(kb) == content(second)


def test_nobody_deletes_a_memory_that_is_being_linked(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner's own program, which knows of no lock of ours: it waits, as it did for the check of the key."""
    kb.add(*SOME)
    tried = []

    @contextlib.contextmanager
    def meanwhile(connection: Connection[Any]) -> Iterator[bool]:
        with psycopg.connect(kb.store.dsn) as owner:
            kb.store.find_tables(owner)
            owner.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(errors.LockNotAvailable):
                owner.execute("DELETE FROM memories WHERE id = (SELECT min(memory_id) FROM mentions)")
            tried.append(True)
            owner.rollback()
        with keys_known(connection) as unrecorded:
            yield unrecorded

    keys_known = concept_rows.keys_known
    monkeypatch.setattr(concept_rows, "keys_known", meanwhile)
    kb.build()
    assert tried
