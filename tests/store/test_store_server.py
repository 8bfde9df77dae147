"""The embedded server: shared, private, plain about what is wrong, and started or stopped whatever died before."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
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
from hopgate.store.server import EmbeddedServer, pid_of, running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One initialised store for the module: initdb is the slow part."""
    path = tmp_path_factory.mktemp("embedded")
    hopgate.open(path).close()
    return path


def process_of(folder: Path) -> int:
    return pid_of(folder / "pg")


def alive(pid: int) -> bool:
    """Who died and was not collected yet has a number still."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


# ---- Where it is, and who shares it ----------------------------------------------------------------------------------


HOLDER = """
import sys
from pathlib import Path
from hopgate.store.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
"""


def test_processes_share_it_privately_and_the_last_stops_it(folder):
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "ready\n"
        pid = process_of(folder)
        first, second = EmbeddedServer(folder), EmbeddedServer(folder)
        assert process_of(folder) == pid
        with psycopg.connect(first.dsn) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert " requirepeer=" in first.dsn
        first.close()
        second.close()
        assert running(folder)
        other.stdin.close()
        other.wait(PATIENCE)
    assert not running(folder)


def test_a_folder_may_have_any_name_and_gets_a_short_private_socket(tmp_path):
    odd = tmp_path / ("d" * 60) / ('it\'s, "a" $(touch oops) `x` \\ é' + "e" * 60)
    sockets = embedded_server.socket_directory(odd)
    assert sockets.parent != odd
    for _ in range(2):
        with hopgate.open(odd) as kb:
            kb.add(Memory("m", "text"))
            assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    assert not running(odd) and not list(tmp_path.rglob("oops"))
    assert not sockets.exists(), "it goes with the server"


def test_what_is_no_folder_for_a_store_is_refused(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "half" / "pg").mkdir(parents=True)
    (tmp_path / "half" / "pg" / "PG_VERSION").write_text("16")
    for place, reason in (
        ("file", "is a file: give --data a directory"),
        ("file/below", "cannot be written"),
        ("half", "is not a whole PostgreSQL cluster: move it away"),
    ):
        with pytest.raises(HopgateError, match=reason):
            hopgate.open(tmp_path / place)


# ---- Who died --------------------------------------------------------------------------------------------------------


def test_a_server_that_dies_is_started_again_by_the_next_call(folder):
    with hopgate.open(folder) as kb:
        kb.add(Memory("before", "a note"))
        server = process_of(folder)
        # Its children outlive it by a moment, and one may end in the middle of a statement.
        processes = [server, *(child.pid for child in psutil.Process(server).children())]
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: not any(map(alive, processes)))
        kb.add(Memory("after", "another note"))
        assert len(kb) == 2
        kb.delete(["before", "after"])


def test_a_server_of_ones_own_that_is_gone_is_named_at_once(folder, monkeypatch):
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


@pytest.mark.parametrize("number", ["999999", "nonsense", "", "-17", "0", "1", "{other}", "{innocent}"])
def test_a_pid_file_that_names_somebody_else_harms_nobody(folder, server, number):
    with subprocess.Popen(["sleep", "600"]) as innocent:
        known = {"other": process_of(server.directory), "innocent": innocent.pid}
        file = folder / "pg" / "postmaster.pid"
        file.write_text(number.format(**known) + "\n")
        assert embedded_server.stop(folder)
        file.write_text(number.format(**known) + "\n")
        EmbeddedServer(folder).close()
        assert innocent.poll() is None and alive(known["other"])
        innocent.kill()


TEMPORARY = """
import time
import hopgate, hopgate.cli
from hopgate.store.server import throwaway_folder

def main(*_, **__):
    with throwaway_folder() as folder, hopgate.open(folder, linger=1):
        print(folder, flush=True)
        time.sleep(600)

hopgate.cli.application.main = main
hopgate.cli.main()
"""


def test_sigterm_ends_the_temporary_server_and_store():
    # A short path, which a socket's name has room in.
    with tempfile.TemporaryDirectory(prefix="h-") as place:
        command, environment = [sys.executable, "-c", TEMPORARY], {**os.environ, "TMPDIR": place}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running_command:
            assert running_command.stdout is not None
            store = Path(running_command.stdout.readline().strip())
            server = process_of(store)
            running_command.terminate()
            assert running_command.wait(PATIENCE) == 128 + signal.SIGTERM
        assert not store.parent.exists() and not alive(server)


# ---- What is meant for other servers, and waiting for a connection ---------------------------------------------------


def test_variables_for_other_servers_do_not_reach_it(folder, monkeypatch):
    for name in ("PORT", "HOST", "HOSTADDR", "OPTIONS", "TZ", "SSLMODE", "SERVICE", "REQUIREPEER", "USER", "DATA",
                 "TARGETSESSIONATTRS", "REQUIREAUTH"):  # fmt: skip
        monkeypatch.setenv(f"PG{name}", "nonsense")
    with hopgate.open(folder) as kb:
        kb.add(Memory("m", "a note"))
        assert [hit.external_id for hit in kb.recall("note", legs=("lexical",))] == ["m"]
        kb.delete(["m"])


def test_more_connections_than_there_are_wait_for_one(folder):
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

            def use(number: int) -> None:
                asked.set()
                with hopgate.open(kb.store.dsn) as another:
                    another.add(Memory(f"m{number}", "a note"))

            waiting = [pool.submit(use, number) for number in range(4)]
            asked.wait(PATIENCE)
            assert not any(one.done() for one in waiting)
            for one in held:
                one.close()
            for one in waiting:
                one.result(PATIENCE)
        assert len(kb) == 4


# ---- A server that stays up for a while ------------------------------------------------------------------------------


@pytest.fixture
def lingers(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOPGATE_LINGER", "1")
    # Commands are run in folders of strangers: nothing of these may be run.
    (tmp_path / "contextlib.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    yield folder
    for watcher in watchers(folder):
        watcher.kill()
    assert embedded_server.stop(folder)


def watchers(directory: Path) -> list[psutil.Process]:
    """The living ones."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if {"hopgate.store.server", str(directory)} <= {*(process.info["cmdline"] or [])}
        and process.info["status"] != "zombie"
    ]


def test_it_stays_up_for_the_next_user_and_then_stops_by_itself(lingers):
    first = EmbeddedServer(lingers)
    pid = process_of(lingers)
    first.close()
    assert running(lingers)
    with_two = [EmbeddedServer(lingers), EmbeddedServer(lingers)]
    assert process_of(lingers) == pid
    wait_for(lambda: len(watchers(lingers)) == 1)
    # Longer than it lingers: somebody holds it.
    time.sleep(1.5)
    assert running(lingers)
    for server in with_two:
        server.close()
    wait_for(lambda: not running(lingers) and not watchers(lingers))


def test_a_killed_watcher_is_replaced_and_a_kept_server_stays(lingers):
    EmbeddedServer(lingers).close()
    wait_for(lambda: embedded_server.watched(lingers))
    for watcher in watchers(lingers):
        watcher.send_signal(signal.SIGKILL)
    wait_for(lambda: not embedded_server.watched(lingers))
    embedded_server.keep(lingers, True)
    EmbeddedServer(lingers).close()
    assert not embedded_server.watched(lingers)
    embedded_server.keep(lingers, False)
    EmbeddedServer(lingers).close()
    wait_for(lambda: not running(lingers) and not watchers(lingers))


def test_a_server_stopped_by_hand_and_a_folder_that_goes_end_the_watch(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_server, "LOOK_S", 0.05)
    (tmp_path / ".users").touch()
    (tmp_path / ".linger").touch()
    os.utime(tmp_path / ".users", (0, 0))
    # Nothing runs there: the watch ends at once.
    embedded_server.watch(tmp_path, 1.0)
    os.utime(tmp_path / ".users")
    with ThreadPoolExecutor(1) as pool:
        watch = pool.submit(embedded_server.watch, tmp_path, 3600.0)
        wait_for(lambda: embedded_server.watched(tmp_path))
        shutil.rmtree(tmp_path)
        watch.result(PATIENCE)
