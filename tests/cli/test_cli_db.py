"""`hopgate db`: status, upgrade, schema, drop, and the embedded server's start and stop."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from cli_run import Runner

from hopgate.store.schema import VERSION


def test_status_of_a_current_database(run: Runner) -> None:
    told = run("db", "status", "--json").json
    assert told["state"] == "current" and told["current"] == told["wanted"] == VERSION
    assert "nothing to do" in run("db", "status").out


def test_upgrade_and_drop(bare: Runner, empty_dsn: str) -> None:
    where = ("--dsn", empty_dsn)
    assert bare("db", "status", *where, "--json").json["state"] == "absent"
    assert "run hopgate db upgrade" in bare("db", "status", *where).out
    assert bare("db", "upgrade", *where, "--json").json["state"] == "current"
    assert "add --yes" in bare("db", "drop", *where, status=2).refused()
    bare("add", "A note.", *where)
    dropped = bare("db", "drop", "--yes", *where)
    assert "nothing of hopgate's is left" in dropped.out and "a backup of what there was is in" in dropped.err
    assert bare("db", "status", *where, "--json").json["state"] == "absent"
    bare("db", "upgrade", *where)
    assert bare("recall", "note", *where, "--json").json == []


def test_the_sql_of_an_upgrade_makes_the_same_store(bare: Runner, empty_dsn: str) -> None:
    where = ("--dsn", empty_dsn)
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("CREATE TABLE notes (id serial PRIMARY KEY, content text)")
        connection.execute("INSERT INTO notes (content) VALUES ('amber')")
    text = bare("db", "schema", "--memories", "public.notes", *where).out
    assert bare("db", "status", *where, "--json").json["state"] == "absent"
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute(text.encode())
    told = bare("db", "status", *where, "--json").json
    assert told["state"] == "current" and told["follows"] == "public.notes"
    assert [hit["content"] for hit in bare("recall", "amber", *where, "--json").json] == ["amber"]


def test_the_stores_language(run: Runner) -> None:
    assert run("db", "language").out.strip() == "english"
    assert run("db", "language", "de").out.strip() == "german"
    assert run("db", "language").out.strip() == "german"
    assert "no text search for 'klingon'" in run("db", "language", "klingon", status=2).refused()


def test_another_schema_is_refused(run: Runner, dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE hopgate.schema_version SET version = 9999")
    for command in (["recall", "x"], ["export"], ["db", "upgrade"]):
        assert "ingest here" in run(*command, status=2).refused()
    assert run("db", "status", "--json").json["state"] == "other"


def test_an_owners_table_waits_for_an_upgrade(bare: Runner, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as connection:
        connection.execute("CREATE TABLE memories (id bigserial PRIMARY KEY, content text NOT NULL)")
        connection.execute("INSERT INTO memories (content) VALUES ('amber')")
    where = ("--dsn", empty_dsn)
    assert "run hopgate db upgrade" in bare("recall", "amber", *where, status=2).refused()
    assert "--memories public.memories" in bare("db", "upgrade", *where, status=2).refused()
    bare("db", "upgrade", "--memories", "public.memories", *where)
    assert [hit["content"] for hit in bare("recall", "amber", *where, "--json").json] == ["amber"]


@pytest.mark.parametrize("command", ["start", "stop"])
def test_a_directory_that_cannot_be_one(bare: Runner, tmp_path: Path, command: str) -> None:
    path = tmp_path / "file"
    path.write_text("")
    ran = bare("db", command, "--data", str(path), status=None)
    assert ran.status == 2 and len(ran.err.strip().splitlines()) == 1


def test_start_leaves_a_server_running_until_stop(bare: Runner) -> None:
    def hopgate(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "hopgate", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        where = ("--data", str(Path(folder) / "store"))
        try:
            assert "runs until hopgate db stop" in hopgate("db", "start", *where)
            assert (Path(folder) / "store" / "pg" / "postmaster.pid").exists()
            assert bare("recall", "x", "--json", *where).json == []
            assert (Path(folder) / "store" / "pg" / "postmaster.pid").exists()
        finally:
            assert "is stopped" in hopgate("db", "stop", *where)
        assert not (Path(folder) / "store" / "pg" / "postmaster.pid").exists()
