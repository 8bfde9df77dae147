"""Servers that die, processes that are killed, numbers and variables that mean somebody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest
from patience import PATIENCE

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store import connect
from hopgate.store import server as embedded_server
from hopgate.store.lingering import alive
from hopgate.store.server import EmbeddedServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One initialised store for the module: initdb is the slow part."""
    path = tmp_path_factory.mktemp("faults")
    hopgate.open(path).close()
    return path


def _server(folder: Path) -> int:
    return int((folder / "pg" / "postmaster.pid").read_text().split()[0])


def test_a_server_that_dies_is_started_again_by_the_next_call(folder: Path) -> None:
    with hopgate.open(folder) as kb:
        kb.add(Memory("before", "a note"))
        os.kill(_server(folder), signal.SIGKILL)
        psutil.wait_procs(
            [psutil.Process(pid) for pid in [_server(folder)] if psutil.pid_exists(pid)], timeout=PATIENCE
        )
        kb.add(Memory("after", "another note"))
        assert len(kb) == 2
        kb.delete(["before", "after"])


def test_what_a_killed_process_asked_for_ends_too(folder: Path) -> None:
    with hopgate.open(folder) as kb, psycopg.connect(kb.store.dsn, autocommit=True) as connection:
        script = "import psycopg, sys; psycopg.connect(sys.argv[1]).execute('SELECT pg_sleep(3600)')"
        asker = subprocess.Popen([sys.executable, "-c", script, kb.store.dsn])
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"

        def wait_for(count: int) -> bool:
            ends = time.monotonic() + PATIENCE
            while connection.execute(running).fetchone() != (count,) and time.monotonic() < ends:
                time.sleep(0.1)
            return time.monotonic() < ends

        assert wait_for(1)
        asker.kill()
        asker.wait()
        assert wait_for(0)


def test_a_server_of_ones_own_that_is_gone_is_named_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "PATIENCE_S", 0.1)
    monkeypatch.setattr(connect, "QUEUE_S", 100_000)  # the test would never end
    server = EmbeddedServer(folder)
    with hopgate.open(server.dsn) as kb:
        assert len(kb) == 0
        server.close()
        with pytest.raises(HopgateError, match=r"cannot connect to PostgreSQL|went down in the middle|does not answer"):
            len(kb)
        with pytest.raises(HopgateError, match="cannot connect to PostgreSQL"):
            len(kb)


SCRIPT = textwrap.dedent(
    """
    import sys, time
    import hopgate, hopgate.cli
    from hopgate.store.server import throwaway_folder

    def application(_):
        with throwaway_folder() as folder, hopgate.open(folder) as kb:
            print(folder, flush=True)
            time.sleep(600)

    hopgate.cli.application = application
    hopgate.cli.main([])
    """
)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A command with a temporary store, and where that is: a short path, which a socket's name has room in."""
    with tempfile.TemporaryDirectory(prefix="h-") as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield from _busy({**os.environ, "TMPDIR": folder})


def _busy(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, env=environment
    ) as command:
        assert command.stdout is not None
        yield command, Path(command.stdout.readline().strip())
        command.kill()


def test_sigterm_ends_the_temporary_server_and_store(busy: tuple[subprocess.Popen[str], Path]) -> None:
    command, store = busy
    server = _server(store)
    command.terminate()
    assert command.wait(PATIENCE) == 128 + signal.SIGTERM
    assert not store.parent.exists()
    assert not alive(server)


def test_what_a_killed_command_left_goes_with_the_next(busy: tuple[subprocess.Popen[str], Path], folder: Path) -> None:
    command, store = busy
    server = _server(store)
    assert embedded_server.sweep() == 0  # it is in use
    command.kill()
    command.wait(PATIENCE)
    assert alive(server)
    hopgate.open(folder).close()
    assert not store.parent.exists()
    assert not alive(server)


@pytest.mark.parametrize("number", ["-17", "0", "1", "{other}", "{innocent}"])
def test_a_number_that_is_somebody_elses_harms_nobody(folder: Path, server: EmbeddedServer, number: str) -> None:
    with subprocess.Popen(["sleep", "600"]) as innocent:
        known = {"other": _server(server.directory), "innocent": innocent.pid}
        file = folder / "pg" / "postmaster.pid"
        file.write_text(number.format(**known) + "\n")
        assert embedded_server.stop(folder)
        file.write_text(number.format(**known) + "\n")
        EmbeddedServer(folder).close()
        assert innocent.poll() is None and alive(known["other"])
        innocent.kill()


@pytest.mark.parametrize("there", [["PG_VERSION"], ["notes.txt"], ["base/1"]])
def test_a_folder_that_is_half_a_cluster_is_refused(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / "pg" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pg" / name).write_text("16")
    with pytest.raises(HopgateError, match="is not a whole PostgreSQL cluster: move it away"):
        hopgate.open(tmp_path)


VARIABLES = {
    "PGPORT": "1", "PGHOSTADDR": "203.0.113.1", "PGHOST": "203.0.113.1", "PGOPTIONS": "-c nonsense=1",
    "PGDATESTYLE": "nonsense", "PGTZ": "nonsense/zone", "PGGEQO": "nonsense", "PGSSLMODE": "verify-full",
    "PGSERVICE": "nonsense", "PGSERVICEFILE": "/nowhere", "PGREQUIREPEER": "nobody", "PGUSER": "nobody",
    "PGDATABASE": "nothing", "PGPASSFILE": "/nowhere", "PGTARGETSESSIONATTRS": "read-only", "PGCLIENTENCODING": "none",
    "PGCHANNELBINDING": "require", "PGREQUIREAUTH": "scram-sha-256", "PGGSSENCMODE": "require", "PGDATA": "/nowhere",
    "PGCONNECT_TIMEOUT": "nonsense", "PGAPPNAME": "x", "PGSSLROOTCERT": "/nowhere", "PGLOADBALANCEHOSTS": "nonsense",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_a_variable_for_another_server_does_not_reach_the_embedded_one(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, VARIABLES[name])
    with connect.connect(server.dsn) as connection:
        assert connection.execute("SHOW DateStyle").fetchone() == ("ISO, MDY",)
    assert os.environ[name] == VARIABLES[name]


def test_nor_do_all_of_them_when_it_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    with hopgate.open(folder) as kb:
        kb.add(Memory("m", "a note"))
        assert [hit.external_id for hit in kb.recall("note", legs=("lexical",))] == ["m"]
        kb.delete(["m"])


def test_more_connections_than_there_are_wait_for_one(folder: Path) -> None:
    with hopgate.open(folder) as kb:
        held: list[psycopg.Connection[object]] = []
        asked = threading.Event()
        with ThreadPoolExecutor(4) as pool:
            while True:
                try:
                    held.append(psycopg.connect(kb.store.dsn))
                except psycopg.OperationalError:
                    break
            kb.store._connections().close()  # so that even the first must wait
            kb.store._pool = None

            def use(number: int) -> int:
                asked.set()
                with hopgate.open(kb.store.dsn) as another:
                    another.add(Memory(f"m{number}", "a note"))
                    return len(another)

            waiting = [pool.submit(use, number) for number in range(4)]
            asked.wait(PATIENCE)
            assert not any(one.done() for one in waiting)
            for one in held:
                one.close()
            assert max(one.result(PATIENCE) for one in waiting) == 4
        assert len(kb) == 4
