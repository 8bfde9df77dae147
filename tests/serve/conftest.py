"""One small store for all tests of the server that only read it: two scopes, a graph, vectors, and a canary."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from serve_store import fill
from serving import Running, serving

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.store.server import EmbeddedServer


@pytest.fixture(scope="package")
def filled_dsn(server: EmbeddedServer, template: str) -> str:
    """The address of a filled database, which is copied: nobody may be connected to it then."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE serve_filled TEMPLATE {template}")
    dsn = server.dsn.replace("dbname=postgres", "dbname=serve_filled")
    with hopgate.open(dsn) as kb:
        fill(kb)
    return dsn


@pytest.fixture
def own_kb(server: EmbeddedServer, filled_dsn: str) -> Iterator[KnowledgeBase]:
    """A copy that a test may change."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE serve_copy TEMPLATE serve_filled")
        try:
            with hopgate.open(filled_dsn.replace("serve_filled", "serve_copy")) as kb:
                yield kb
        finally:
            connection.execute("DROP DATABASE serve_copy WITH (FORCE)")


@pytest.fixture(scope="package")
def shared_kb(server: EmbeddedServer, filled_dsn: str) -> Iterator[KnowledgeBase]:
    """One copy for all tests that only read."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE serve_shared TEMPLATE serve_filled")
    with hopgate.open(filled_dsn.replace("serve_filled", "serve_shared")) as kb:
        yield kb


@pytest.fixture(scope="package")
def reading(shared_kb: KnowledgeBase) -> Iterator[Running]:
    """That copy, served."""
    with serving(shared_kb) as running:
        yield running


@pytest.fixture
def writing(own_kb: KnowledgeBase) -> Iterator[Running]:
    """A copy that a test may change, served."""
    with serving(own_kb) as running:
        yield running
