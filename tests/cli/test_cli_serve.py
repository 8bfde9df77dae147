"""`hopgate serve` and `recall --why-not`: what they refuse, what they print, and that they serve."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cli_run import Runner
from patience import PATIENCE

from hopgate.cli.demo import QUESTIONS, questions, show
from hopgate.demo import corpus
from hopgate.eval.data.dataset import read_dataset
from hopgate.kb import KnowledgeBase
from hopgate.serve import ServeSettings

TOKEN = "a-token-of-my-own-7"


def test_others_are_not_let_in_without_a_token_of_ones_own(run: Runner, tmp_path: Path) -> None:
    assert "--token-file" in run("serve", "--host", "0.0.0.0", status=2).refused()
    path = tmp_path / "token"
    assert "cannot be read" in run("serve", "--token-file", str(path), status=2).refused()
    path.write_text(TOKEN)
    path.chmod(0o644)
    assert f"run chmod 600 {path}" in run("serve", "--token-file", str(path), status=2).refused()
    path.chmod(0o600)
    path.write_text("short")
    assert "16 to 512" in run("serve", "--token-file", str(path), status=2).refused()


def test_a_port_that_is_taken_is_said_so(run: Runner) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "choose another --port" in run("serve", "--port", str(taken.getsockname()[1]), status=2).refused()


def test_what_is_not_installed_is_named(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert "pip install 'hopgate[serve]'" in run("serve", status=2).refused()


def test_it_prints_a_url_once_and_serves_until_it_is_told_to_end(dsn: str) -> None:
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


def test_the_browser_is_opened_where_it_is_asked_for(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading
    import webbrowser

    opened = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda _: opened.set())

    def serving(*_: object) -> None:
        assert opened.wait(PATIENCE)
        raise KeyboardInterrupt

    monkeypatch.setattr("hopgate.serve.launch.serve", serving)
    ran = run("serve", "--port", "0", "--open")
    assert ran.status == 0 and ran.out.splitlines()[-1] == "ended"


def test_the_demos_store_is_served_with_its_questions(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[ServeSettings] = []
    monkeypatch.setattr("hopgate.serve.launch.serve", lambda _, settings, __: served.append(settings))
    show(kb, tmp_path)
    assert [settings.questions for settings in served] == [(tmp_path,)]
    assert capsys.readouterr().out.startswith("open http://127.0.0.1:")


def test_the_demos_questions_are_a_data_set_of_its_own(tmp_path: Path) -> None:
    made = corpus()
    read = read_dataset(questions(tmp_path, made), made.memories)
    assert read.folder.name == QUESTIONS and 40 <= len(read.queries) <= 100
    assert set(read.splits) == {"dev", "test"}


def test_recall_says_why_a_memory_is_not_among_the_hits(run: Runner) -> None:
    run("add", "Ada keeps the spare key.", "--id", "m1", "--scope", "home", "--later")
    run("add", "Bea feeds the cat.", "--id", "m2", "--later")
    told = run("recall", "spare key", "--why-not", "m2", "--dense", "0", "--graph", "0").out
    assert told.startswith("m2 is not here: no leg lists it") and "lexical: –: no word of the query is in it" in told
    found = run("recall", "spare key", "--why-not", "m1", "--scope", "work", "--json").json
    assert not found["present"] and found["removed_by"][0].startswith("scope:")
    assert "m1 is hit 1" in run("recall", "spare key", "--why-not", "m1").out
    assert "there is no memory" in run("recall", "spare key", "--why-not", "nobody", status=2).refused()
    assert "leave --why-not out" in run("recall", "x", "--why-not", "m1", "--sqlite", "x.db", status=2).refused()
