"""The embedded server: shared, private, and plain about what is wrong."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import psycopg
import pytest
from patience import PATIENCE

import hopgate
from hopgate.errors import HopgateError
from hopgate.store import server as embedded_server
from hopgate.store.server import EmbeddedServer, running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One initialised cluster for the module: initdb is the slow part."""
    path = tmp_path_factory.mktemp("embedded")
    EmbeddedServer(path).close()
    return path


def test_listens_on_no_port_and_its_socket_is_private(folder: Path) -> None:
    server = EmbeddedServer(folder)
    try:
        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        sockets = embedded_server.socket_directory(folder)
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert (sockets / embedded_server.SOCKET_NAME).exists()
    finally:
        server.close()


def test_two_holders_share_one_server_and_the_last_stops_it(folder: Path) -> None:
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    first.close()
    assert running(folder)
    second.close()
    assert not running(folder)


def test_another_process_shares_it(folder: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from hopgate.store.server import EmbeddedServer
        server = EmbeddedServer(Path(sys.argv[1]))
        print("ready", flush=True)
        sys.stdin.read()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "ready\n"
        pid = (folder / "pg" / "postmaster.pid").read_text().split()[0]
        ours = EmbeddedServer(folder)
        assert (folder / "pg" / "postmaster.pid").read_text().split()[0] == pid
        ours.close()
        assert running(folder)
        other.stdin.close()
        other.wait(PATIENCE)
    assert not running(folder)


def test_a_killed_process_and_a_killed_server_are_recovered_from(folder: Path) -> None:
    server = EmbeddedServer(folder)
    pid = int((folder / "pg" / "postmaster.pid").read_text().split()[0])
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    os.kill(pid, signal.SIGKILL)
    again = EmbeddedServer(folder)
    with psycopg.connect(again.dsn) as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    again.close()
    server.close()


@pytest.mark.parametrize("stale", ["{living}\n", "999999\n", "nonsense\n", ""])
def test_a_stale_pid_file_is_no_obstacle(folder: Path, stale: str) -> None:
    (folder / "pg" / "postmaster.pid").write_text(stale.format(living=os.getpid()))
    server = EmbeddedServer(folder)
    assert running(folder)
    server.close()


def test_a_long_path_gets_a_short_private_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    assert embedded_server.socket_directory(deep).parent != deep
    with hopgate.open(deep) as kb:
        assert len(kb) == 0
        assert stat.S_IMODE(embedded_server.socket_directory(deep).stat().st_mode) == 0o700


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s, "a" $(touch oops) `x` \\ é'
    for _ in range(2):
        with hopgate.open(odd) as kb:
            kb.add(hopgate.Memory("m", "text"))
            assert len(kb) == 1
    assert not embedded_server.running(odd)
    assert not list(tmp_path.rglob("oops"))


def test_a_file_in_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HopgateError, match="is a file: give --data a directory"):
        hopgate.open(tmp_path / "file")
    with pytest.raises(HopgateError, match="cannot be written"):
        hopgate.open(tmp_path / "file" / "below")


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small file system")
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
@pytest.mark.parametrize(("options", "sentence"), [("size=8m", "is full"), ("size=8m,ro", "cannot be written")])
def test_a_full_disk_and_a_read_only_one(tmp_path: Path, options: str, sentence: str) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this sandbox does not allow mounting")
    try:
        with pytest.raises(HopgateError, match=sentence):
            hopgate.open(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
