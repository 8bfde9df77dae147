"""A server that outlives its last user for a while: it stops by itself, and nothing that dies leaves it behind."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from patience import PATIENCE

from hopgate.cli import main
from hopgate.errors import HopgateError
from hopgate.store import lingering
from hopgate.store import server as embedded_server
from hopgate.store.server import EmbeddedServer, running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lingering")
    EmbeddedServer(path).close()
    return path


@pytest.fixture
def folder(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOPGATE_LINGER", "1")
    yield cluster
    for watcher in watchers(cluster):
        watcher.kill()
    assert embedded_server.stop(cluster)


def watchers(directory: Path) -> list[psutil.Process]:
    """The living ones."""
    found = []
    for one in psutil.process_iter(["cmdline", "status"]):
        words = one.info["cmdline"] or []
        if "hopgate.store.lingering" in words and str(directory) in words and one.info["status"] != "zombie":
            found.append(one)
    return found


def wait_for(what: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_it_stays_up_for_the_next_user_and_then_stops_by_itself(folder: Path) -> None:
    first = EmbeddedServer(folder)
    pid = (folder / "pg" / "postmaster.pid").read_text().split()[0]
    first.close()
    assert running(folder)
    with_two = [EmbeddedServer(folder), EmbeddedServer(folder)]
    assert (folder / "pg" / "postmaster.pid").read_text().split()[0] == pid
    wait_for(lambda: len(watchers(folder)) == 1)
    # Longer than it lingers: somebody holds it.
    time.sleep(1.5)
    assert running(folder)
    for server in with_two:
        server.close()
    wait_for(lambda: not running(folder) and not watchers(folder))


def test_a_killed_watcher_is_replaced_and_a_kept_server_stays(folder: Path) -> None:
    EmbeddedServer(folder).close()
    wait_for(lambda: lingering.watched(folder))
    for watcher in watchers(folder):
        watcher.send_signal(signal.SIGKILL)
    wait_for(lambda: not lingering.watched(folder))
    embedded_server.keep(folder, True)
    EmbeddedServer(folder).close()
    assert not lingering.watched(folder)
    embedded_server.keep(folder, False)
    EmbeddedServer(folder).close()
    wait_for(lambda: not running(folder) and not watchers(folder))


def test_a_server_stopped_by_hand_and_a_folder_that_goes_end_the_watch(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lingering, "LOOK_S", 0.05)
    (tmp_path / ".users").touch()
    os.utime(tmp_path / ".users", (0, 0))
    # Nothing runs there: the watch ends at once.
    lingering.watch(tmp_path, 1.0)
    assert not lingering.watched(tmp_path)
    os.utime(tmp_path / ".users")
    watch = threading.Thread(target=lingering.watch, args=(tmp_path, 3600.0))
    watch.start()
    wait_for(lambda: lingering.watched(tmp_path))
    shutil.rmtree(tmp_path)
    watch.join(PATIENCE)
    assert not watch.is_alive()


def test_a_command_leaves_it_up_and_who_says_so_does_not(folder: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["db", "status", "--data", str(folder)])
    assert ended.value.code == 0 and running(folder)
    # As a store in a temporary folder does, whatever the environment says.
    EmbeddedServer(folder, linger=0).close()
    assert not running(folder)


@pytest.mark.parametrize("given", ["soon", "-1", "inf"])
def test_what_is_no_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HOPGATE_LINGER", given)
    with pytest.raises(HopgateError, match="HOPGATE_LINGER must be a number"):
        EmbeddedServer(tmp_path / "store")
    assert not (tmp_path / "store").exists()
