"""One embedded PostgreSQL for the whole run, or for each worker of a parallel one; a fresh database for every test."""

import contextlib
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import coverage
import psycopg
import pytest
from cli_run import Runner
from hypothesis import HealthCheck, settings
from word_endpoint import WordEndpoint, serving

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.store import schema, setting_rows
from hopgate.store.server import EmbeddedServer

_numbers = itertools.count()
_CRASHED = pytest.StashKey[bool]()

# On a machine that others use an example may take seconds: that is no failure.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")

# Files that take longest, longest first: workers take whole files in this order, and none is left with one at the end.
SLOW = (
    "test_explorer.py",
    "test_gate.py",
    "test_docs.py",
    "test_sync.py",
    "test_sources_odd_files.py",
    "test_verdict.py",
    "test_scale_engine.py",
    "test_scale_backfill.py",
    "test_recall_recall.py",
    "test_reliability_forgotten.py",
    "test_mcp.py",
    "test_model_llama.py",
    "test_walk_cache.py",
    "test_store_server.py",
    "test_cli_graph.py",
)


# They run what other tests run, again and again: tracing the lines takes several times as long as running them.
UNTRACED = ("tests/reliability/", "tests/scale/", "tests/serve/test_explorer.py", "tests/eval/test_gate.py")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Trace no line of what is untraced, nor of its fixtures, which the marker `no_cover` does not reach."""
    tracing = coverage.Coverage.current() if any(path in item.path.as_posix() for path in UNTRACED) else None
    if tracing is not None:
        tracing.stop()
    try:
        return (yield)
    finally:
        if tracing is not None:
            tracing.start()


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: Any) -> None:
    """Remember that a worker died: the tests that it had before it are not run by another."""
    sched.config.stash[_CRASHED] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End with a status of its own where a worker died, so that nobody takes the rest of the run for the whole."""
    if session.config.stash.get(_CRASHED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow files; the order within a file, and of the others, stays."""
    items.sort(key=lambda item: SLOW.index(item.path.name) if item.path.name in SLOW else len(SLOW))


@pytest.fixture(scope="session", autouse=True)
def _own_places() -> Iterator[None]:
    """No test touches the user's store, settings or caches; only embeddings are kept between runs, being pure."""
    for name in list(os.environ):
        if name.startswith("HOPGATE_") and name not in ("HOPGATE_DATA", "HOPGATE_CACHE"):
            del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOPGATE_STORE"] = str(Path(folder) / "store")
        # The user's count of looks at questions lies here.
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        # No server outlives its test.
        os.environ["HOPGATE_LINGER"] = "0"
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    with tempfile.TemporaryDirectory() as folder:
        running = EmbeddedServer(Path(folder) / "store")
        with psycopg.connect(running.dsn, autocommit=True) as connection:
            # What lives as long as this run need not survive a power cut: fresh databases take half the time.
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield running
        running.close()


@pytest.fixture(scope="session")
def template(server: EmbeddedServer) -> str:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE hopgate_template")
    address = _database(server, "hopgate_template")
    schema.upgrade(address)
    with psycopg.connect(address, autocommit=True) as connection:
        # Its model takes half a second: the tests of late interaction set it.
        connection.execute("SET search_path TO hopgate, public")
        setting_rows.write(connection, {setting_rows.LATE: "off"}, "tests")
    return "hopgate_template"


NewDatabase = Callable[..., contextlib.AbstractContextManager[str]]


@pytest.fixture(scope="session")
def new_database(server: EmbeddedServer, template: str) -> NewDatabase:
    """Makes a database for a block, with hopgate's schema and no rows, or like another."""

    @contextlib.contextmanager
    def new(like: str = template) -> Iterator[str]:
        name = f"test_{next(_numbers)}"
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY file_copy")
            try:
                yield _database(server, name)
            finally:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    return new


def _address(scope: Literal["function", "module"] = "function", *like: str) -> Any:
    """A fixture that gives the address of a database, with hopgate's schema and no rows, or like another."""

    @pytest.fixture(scope=scope)
    def address(new_database: NewDatabase) -> Iterator[str]:
        with new_database(*like) as made:
            yield made

    return address


def _store(address: str, scope: Literal["function", "module"] = "function") -> Any:
    """A fixture that opens the store at such an address."""

    @pytest.fixture(scope=scope)
    def store(request: pytest.FixtureRequest) -> Iterator[KnowledgeBase]:
        with hopgate.open(request.getfixturevalue(address)) as opened:
            yield opened

    return store


# A test has up to two stores of its own; `module_kb` is one that the tests of a file share.
dsn, kb = _address(), _store("dsn")
other, second = _address(), _store("other")
module_dsn, module_kb = _address("module"), _store("module_dsn", "module")
empty_dsn = _address("function", "template1")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dsn: str) -> Runner:
    """Commands on a fresh database."""
    return Runner(capsys, "--dsn", dsn)


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str]) -> Runner:
    """Commands without a store."""
    return Runner(capsys)


@pytest.fixture
def endpoint() -> Iterator[WordEndpoint]:
    """An embeddings server."""
    with serving() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own."""
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _database(server: EmbeddedServer, name: str) -> str:
    return server.dsn.replace("dbname=postgres", f"dbname={name}")
