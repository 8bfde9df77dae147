"""What is stated of a hub is found without reading what is merely said beside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.graph import fact_rows, name_rows, relation_rows
from hopgate.store.graph.fact_rows import FactGroup, FactRow

DAY = datetime(2024, 1, 1, tzinfo=UTC)
BESIDE = 500


def _read(connection: Connection[Any]) -> int:
    row = connection.execute(
        "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_all_tables "
        "WHERE relname = 'facts'"
    ).fetchone()
    return int(row[0]) if row else 0


def test_a_hub_of_which_nothing_is_stated_costs_nothing(kb: KnowledgeBase) -> None:
    kb.add(Memory("m", "x", created_at=DAY))
    with kb.store.transaction() as connection:
        (key,) = connection.execute("SELECT id FROM memories").fetchone() or (0,)
        wanted: dict[tuple[str, str], tuple[str, str | None]] = {
            ("", f"place {at}"): (f"place {at}", None) for at in range(BESIDE)
        }
        rows = name_rows.ensure(connection, {("", "hub"): ("hub", None), **wanted}, {})
        relation_rows.ensure_relations(connection, [("", "located in")])
        relation_rows.declare_single_valued(connection, ["located in"])
        hub = rows["", "hub"]
        beside = [FactRow(key, hub.id, "located in", rows[name].id, 0.0, None, None, DAY) for name in wanted]
        fact_rows.add_facts(connection, beside)
        connection.execute("ANALYZE facts, concept_names, relations")
    group = FactGroup(hub.concept_id, "located in", None)
    with kb.store.transaction() as connection:
        before = _read(connection)
        assert fact_rows.facts_of_groups(connection, [group]) == []
        assert _read(connection) - before < 10
    with kb.store.transaction() as connection:
        fact_rows.add_facts(connection, [replace(beside[7], weight=1.0, valid_from=DAY)])
        assert len(fact_rows.facts_of_groups(connection, [group])) == BESIDE + 1
