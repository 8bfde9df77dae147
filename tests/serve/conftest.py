"""One small store for all tests of the server that only read it: two scopes, a graph, vectors, and a canary."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from psycopg.conninfo import conninfo_to_dict
from serve_store import fill
from serving import Running, serving

import hopgate
from hopgate.kb import KnowledgeBase

NewDatabase = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="package")
def filled(new_database: NewDatabase) -> Iterator[str]:
    """The name of a filled database, which is copied: nobody may be connected to it then."""
    with new_database() as dsn:
        with hopgate.open(dsn) as kb:
            fill(kb)
        yield str(conninfo_to_dict(dsn)["dbname"])


@pytest.fixture
def own_kb(new_database: NewDatabase, filled: str) -> Iterator[KnowledgeBase]:
    """A copy that a test may change."""
    with new_database(filled) as dsn, hopgate.open(dsn) as kb:
        yield kb


@pytest.fixture(scope="package")
def shared_kb(new_database: NewDatabase, filled: str) -> Iterator[KnowledgeBase]:
    """One copy for all tests that only read."""
    with new_database(filled) as dsn, hopgate.open(dsn) as kb:
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
