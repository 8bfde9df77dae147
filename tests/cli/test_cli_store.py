"""`hopgate db`, `embed`, `cache` and `serve`: schema, servers, vectors, and the store in a browser."""

import re
import socket
import subprocess
import sys
import tempfile
import threading
import webbrowser
from pathlib import Path

import httpx
import psycopg
import pytest
from patience import PATIENCE
from word_endpoint import serving

from hopgate.memory import Memory
from hopgate.store.schema import VERSION

CHANGE = ("embed", "--change", "--yes", "--no-backup", "--embedder")


def test_upgrade_status_and_drop(bare, empty_dsn, monkeypatch, tmp_path):
    monkeypatch.setattr("hopgate.store.server.default_directory", lambda: tmp_path)
    where = ("--dsn", empty_dsn)
    assert bare("db", "status", *where, "--json").json["state"] == "absent"
    assert "run hopgate db upgrade" in bare("db", "status", *where).out
    state = bare("db", "upgrade", *where, "--json").json
    assert state["state"] == "current" and state["current"] == state["wanted"] == VERSION
    bare("add", "A note.", *where, "--later")
    dropped = bare("db", "drop", "--yes", *where)
    assert "nothing of hopgate's is left" in dropped.out and "a backup of what there was is in" in dropped.err
    assert bare("db", "status", *where, "--json").json["state"] == "absent"
    bare("db", "upgrade", *where)
    assert bare("recall", "note", *where, "--json").json == []
    assert bare("db", "language", "de", *where).out.strip() == "german"


@pytest.mark.parametrize("by_sql", [True, False])
def test_an_owners_table_is_followed(bare, empty_dsn, by_sql):
    where = ("--dsn", empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE memories (id serial PRIMARY KEY, content text NOT NULL)")
        connection.execute("INSERT INTO memories (content) VALUES ('amber')")
        assert "run hopgate db upgrade" in bare("recall", "amber", *where, status=2).refused()
        assert "--memories public.memories" in bare("db", "upgrade", *where, status=2).refused()
        text = bare("db", "schema", "--memories", "public.memories", *where).out
        if by_sql:
            connection.execute(text.encode())
        else:
            bare("db", "upgrade", "--memories", "public.memories", *where)
    state = bare("db", "status", *where, "--json").json
    assert state["state"] == "current" and state["follows"] == "public.memories"
    assert [hit["content"] for hit in bare("recall", "amber", *where, "--json").json] == ["amber"]


def test_start_leaves_a_server_running_until_stop(bare):
    with tempfile.TemporaryDirectory() as folder:
        where, running = ("--data", str(Path(folder) / "store")), Path(folder) / "store" / "pg" / "postmaster.pid"
        try:
            assert "runs until hopgate db stop" in bare("db", "start", *where).out
            assert bare("recall", "x", "--json", *where).json == [] and running.exists()
        finally:
            assert "is stopped" in bare("db", "stop", *where).out
        assert not running.exists()


@pytest.mark.usefixtures("cache")
def test_embed_change_of_the_embedder_and_the_cache(run, bare, kb, endpoint):
    kb.add(*(Memory(f"m{n}", f"text {n}") for n in range(5)))
    with serving("others") as second:
        assert run("embed", "--embedder", endpoint.spec, "--json").json == {"embedded": 5}
        assert run("embed").out == "embedded 0 memories\n"
        refusal = run("embed", "--embedder", second.spec, status=2).refused()
        assert "embedded by words" in refusal and "hopgate embed --change" in refusal
        assert run(*CHANGE, second.spec, "--json").json == {"embedded": 5}
        assert "embedded by others" in run("embed", "--embedder", endpoint.spec, status=2).refused()
        kept = bare("cache", "info", "--json").json
    # The tokens of late interaction are kept beside the vectors.
    assert kept["vectors"] >= 10 and kept["embedders"]["words"] == kept["embedders"]["others"] == 5
    assert bare("cache", "clear", "--yes", "--json").json["vectors"] == kept["vectors"]
    assert "holds 0 vectors" in bare("cache", "info").out


def test_serve_prints_a_url_once_and_serves_until_it_is_told_to_end(dsn):
    command = [sys.executable, "-m", "hopgate", "serve", "--port", "0", "--dsn", dsn]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"open (http://127\.0\.0\.1:\d+)/\?token=([\w-]{40,})\n", line)
        assert found, line
        with httpx.Client(base_url=found[1]) as client:
            assert client.get("/api/v1/health").status_code == 401
            assert client.get(f"/?token={found[2]}").status_code == 303
            assert client.get("/api/v1/health").json()["status"] == "ok"
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
    assert found[2] not in out + err


def test_what_serve_needs(run, tmp_path):
    path = tmp_path / "token"
    path.write_text("a-token-of-my-own-7")
    path.chmod(0o644)
    assert f"run chmod 600 {path}" in run("serve", "--token-file", str(path), status=2).refused()
    path.chmod(0o600)
    path.write_text("short")
    assert "16 to 512" in run("serve", "--token-file", str(path), status=2).refused()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "choose another --port" in run("serve", "--port", str(taken.getsockname()[1]), status=2).refused()


def test_the_core_says_what_serve_and_mcp_need(dsn):
    code = "import sys; sys.modules['fastapi'] = None; from hopgate.cli import main; main(sys.argv[1:])"
    for command in ("serve", "mcp"):
        given = [sys.executable, "-c", code, command, "--dsn", dsn]
        ran = subprocess.run(given, capture_output=True, text=True, check=False)
        assert ran.returncode == 2 and "pip install 'hopgate[serve]'" in ran.stderr and "Traceback" not in ran.stderr


def test_serve_opens_the_browser(run, monkeypatch):
    opened = threading.Event()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", lambda _: opened.set())
    monkeypatch.setattr("hopgate.serve.launch.serve", interrupted)
    assert run("serve", "--port", "0", "--open").out.splitlines()[-1] == "ended"
    assert opened.wait(PATIENCE)
