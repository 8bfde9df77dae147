"""What indexes over vectors are built with: as much memory as they need, and workers only where these can share it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from hopgate.embed import Identity
from hopgate.kb import KnowledgeBase
from hopgate.store import connect, vector_index, vectors
from hopgate.store import server as embedded_server
from hopgate.store.graph import graph_vectors
from hopgate.store.server import EmbeddedServer

# More than any machine can share; asked for at once, as workers do.
TOO_MUCH = 900 << 30


@pytest.fixture
def embedded(kb: KnowledgeBase) -> KnowledgeBase:
    """A store with vectors, whose indexes are built by workers however small they are."""
    with kb.store.transaction() as connection:
        kind = connection.execute("SHOW dynamic_shared_memory_type").fetchone()
        if kind != ("posix",):
            pytest.skip("this server shares memory by files, which would be written")
        vectors.claim(connection, Identity("tiny", 4, spec="tiny"))
        for table in ("memories (external_id, content, embedding)", "concepts (canonical_name, aliases, embedding)"):
            second = "'text'" if "content" in table else "array['c' || n]"
            connection.execute(
                f"INSERT INTO {table} SELECT 'c' || n, {second}, ('[' || n || ',1,2,3]')::halfvec "
                "FROM generate_series(1, 2000) n"
            )
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET min_parallel_table_scan_size = 0')
    return kb


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "LEAST", TOO_MUCH)


def test_workers_that_cannot_share_so_much_fail(embedded: KnowledgeBase) -> None:
    """What `build` is for: otherwise the tests below would show nothing."""
    with connect.connect(embedded.store.dsn) as connection, pytest.raises(errors.DiskFull):
        connection.execute(f"SET maintenance_work_mem = '{TOO_MUCH >> 30}GB'")
        connection.execute("CREATE INDEX ON memories USING hnsw (embedding halfvec_cosine_ops)")


@pytest.mark.usefixtures("much")
def test_an_index_is_built_where_workers_cannot_share_memory(embedded: KnowledgeBase) -> None:
    with embedded.store.transaction() as connection:
        connection.execute("SET LOCAL min_parallel_table_scan_size = 0")
        graph_vectors.ensure_index(connection)
    with connect.connect(embedded.store.dsn) as connection:
        connection.autocommit = True
        before = connection.execute("SHOW maintenance_work_mem").fetchone()
        vector_index.build_index(connection)
        assert connection.execute("SHOW maintenance_work_mem").fetchone() == before
        assert connection.execute("SHOW max_parallel_maintenance_workers").fetchone() == ("2",)
    with embedded.store.transaction() as connection:
        rows = connection.execute(
            "SELECT relname, indisvalid FROM pg_index JOIN pg_class c ON c.oid = indexrelid "
            "WHERE relname = ANY(%s) ORDER BY 1",
            ([vectors.INDEX, graph_vectors.INDEX],),
        ).fetchall()
    assert rows == [(graph_vectors.INDEX, True), (vectors.INDEX, True)]


@pytest.mark.usefixtures("much")
def test_tables_are_scrubbed_where_workers_cannot_share_memory(embedded: KnowledgeBase) -> None:
    with connect.connect(embedded.store.dsn) as connection:
        connection.autocommit = True
        vector_index.build_index(connection)
    embedded.upkeep.scrub()
    with embedded.store.transaction() as connection:
        assert vectors.space(connection).indexed  # type: ignore[union-attr]


def test_a_container_with_little_shared_memory_shares_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "LEAST_SHARED", 1 << 62)
    server = EmbeddedServer(tmp_path / "store")
    try:
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SHOW dynamic_shared_memory_type").fetchone() == ("mmap",)
    finally:
        server.close()
