"""While the whole graph is derived nobody deletes a memory that is about to be linked."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection, errors

from hopgate.demo import corpus
from hopgate.kb import KnowledgeBase
from hopgate.store.graph import concept_rows


def test_nobody_deletes_a_memory_that_is_being_linked(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner's own program, which knows of no lock of ours, waits."""
    kb.add(*corpus().memories[:60])
    real, tried = concept_rows.link_all_mentions, []

    def link(connection: Connection[Any]) -> None:
        with psycopg.connect(kb.store.dsn) as owner:
            kb.store.find_tables(owner)
            owner.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(errors.LockNotAvailable):
                owner.execute("DELETE FROM memories WHERE id = (SELECT min(memory_id) FROM mentions)")
            tried.append(True)
            owner.rollback()
        real(connection)

    monkeypatch.setattr(concept_rows, "link_all_mentions", link)
    kb.build()
    assert tried
