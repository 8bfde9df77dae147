"""Recall answered from a replica: a real standby of an embedded server, which follows it or is held back."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from cli_run import Runner
from word_endpoint import serving

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store import replica
from hopgate.store.server import binaries
from hopgate.store.server.process import EmbeddedServer, socket_directory
from hopgate.store.store import Store

# A standby follows within a second; on a loaded machine it may take long.
FOLLOWS_S = 120


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[str, str]]:
    """The addresses of a server and of its standby."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hopgate.open(folder / "primary").close()
        primary = EmbeddedServer(folder / "primary")
        stack.callback(primary.close)
        sockets, cluster = socket_directory(folder / "primary"), folder / "standby" / "pg"
        cluster.parent.mkdir()
        # As root the servers run as a user of their own, and the standby's reaches the primary by its socket.
        for path in (folder, folder / "primary", sockets):
            path.chmod(0o711)
        program = binaries.binaries() / "pg_basebackup"
        arguments = ["-h", sockets, "-U", "hopgate", "-D", cluster, "-X", "stream", "-c", "fast"]
        subprocess.run([program, *arguments], check=True, capture_output=True)
        with (cluster / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = 'host={sockets} user=hopgate'\n")
        (cluster / "standby.signal").touch()
        (cluster / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
        who = binaries.account()
        if who.uid is not None and who.gid is not None:
            for path in (cluster, *cluster.rglob("*")):
                os.chown(path, who.uid, who.gid)
        standby = EmbeddedServer(folder / "standby")
        stack.callback(standby.close)
        yield primary.dsn, standby.dsn


def _followed(primary: str, standby: str) -> None:
    deadline = time.monotonic() + FOLLOWS_S
    with Store(primary) as one, Store(standby) as other:
        while replica.lag(one, other).bytes:
            assert time.monotonic() < deadline, "the standby does not follow"
            time.sleep(0.05)


def test_recall_reads_the_replica_and_status_says_how_far_behind_it_is(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, standby = pair
    with serving() as endpoint, hopgate.open(primary, read_dsn=standby) as kb:
        kb.add(Memory("m1", "Ada Lovelace works at Atlas."), Memory("m2", "Atlas is in Leeds."))
        kb.embed(endpoint.spec)
        kb.build()
        _followed(primary, standby)
        assert {hit.external_id for hit in kb.recall("where is Atlas?")} == {"m1", "m2"}
        assert kb.upkeep.status()["replica"] == {"bytes": 0, "seconds": 0.0, "told": "up to date"}
        with psycopg.connect(standby, autocommit=True) as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
            kb.add(Memory("m3", "Atlas moved to York."))
            assert kb.get("m3") is not None
            assert "m3" not in {hit.external_id for hit in kb.recall("where is Atlas?")}
            behind = kb.upkeep.status()["replica"]
            assert behind["bytes"] > 0 and "behind" in behind["told"]
            monkeypatch.setenv("HOPGATE_READ_STORE", standby)
            assert "replica       " in Runner(capsys, "--dsn", primary)("status").out
            connection.execute("SELECT pg_wal_replay_resume()")
        _followed(primary, standby)
        kb.build()
        _followed(primary, standby)
        assert "m3" in {hit.external_id for hit in kb.recall("where is Atlas?")}


def test_an_address_that_is_no_replica_is_refused(pair: tuple[str, str], dsn: str) -> None:
    with pytest.raises(HopgateError, match="not a replica of this store"):
        hopgate.open(pair[0], read_dsn=dsn)
    with pytest.raises(HopgateError, match="PostgreSQL"):
        hopgate.open(pair[0], read_dsn="mysql://there")
