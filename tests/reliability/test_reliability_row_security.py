"""Row-level security by scope: two roles of one server, each with its own scope."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from canary import CANARY
from cli_run import Runner
from model_server import ModelServer

import hopgate
from hopgate import Memory
from hopgate.kb import KnowledgeBase


@pytest.fixture
def roles(dsn: str) -> Iterator[tuple[str, str]]:
    names = ("alice_reads", "bob_reads")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE ROLE {name} LOGIN")
        yield names
        for name in names:
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")


def test_each_role_sees_its_scope_and_nothing_else(
    kb: KnowledgeBase, dsn: str, roles: tuple[str, str], models: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    alice, bob = roles
    kb.add(
        Memory("a1", f"Ada Byron told {CANARY.title()} about Atlas.", scope="alice"),
        Memory("b1", "Ada Byron works at Atlas Labs.", scope="bob"),
        Memory("n1", "Nobody's note about Atlas."),
    )
    kb.embed(models.embedder)
    kb.build()
    Runner(capsys)("db", "upgrade", "--row-security", "--dsn", dsn)
    with kb.store.transaction() as connection:
        connection.execute("SELECT hopgate_allow(%s, 'alice'), hopgate_allow(%s, 'bob')", (alice, bob))
    for scope in (None, "alice", "bob"):
        kb.graph.clusters(scope=scope)
    as_bob = dsn.replace("user=hopgate", f"user={bob}")
    with psycopg.connect(as_bob, options="-c search_path=hopgate,public") as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "
            "AND relnamespace = 'hopgate'::regnamespace"
        )
        for (table,) in tables.fetchall():
            found = connection.execute(f"SELECT x::text FROM {table} x").fetchall()
            # As a word: hashes hold any two letters.
            assert CANARY not in str(found).lower() and not re.search(r"\ba1\b", str(found)), table
        assert connection.execute("SELECT external_id FROM memories").fetchall() == [("b1",)]
        assert connection.execute("SELECT count(*) FROM mentions").fetchone() != (0,)
        for forbidden in (
            "DELETE FROM memories",
            "SELECT hopgate_allow('bob_reads', 'alice')",
            "INSERT INTO scope_roles VALUES ('bob_reads', 'alice')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(forbidden)
    with hopgate.open(as_bob) as reading:
        assert [hit.external_id for hit in reading.recall("Ada Byron Atlas", explain=True)] == ["b1"]
        assert reading.get("a1") is None
        own = reading.graph.clusters(scope="bob")
        assert [hit.external_id for hit in reading.recall("Ada", scope="bob", cluster=own.of("Ada Byron").id)] == ["b1"]
        assert CANARY not in str(reading.graph.clusters().to_dict(None)).lower()
    with hopgate.open(dsn.replace("user=hopgate", f"user={alice}")) as reading:
        assert [hit.external_id for hit in reading.recall("Ada Byron Atlas")] == ["a1"]
    assert {hit.external_id for hit in kb.recall("Atlas")} == {"a1", "b1", "n1"}
