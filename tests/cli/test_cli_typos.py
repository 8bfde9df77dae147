"""A typo must not destroy: what is no address is refused, and what destroys names its store and asks."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from cli_run import Runner

import hopgate
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store.connect import located

WRONG = [
    "postgressql://me:hush@host/notes",
    "mysql://me:hush@host/notes",
    "notaurl",
    "",
    " ",
    "hush=1",
    "postgresql:notes",
]


@pytest.fixture
def default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the default store, where nothing may appear."""
    monkeypatch.setenv("HOPGATE_STORE", str(tmp_path / "default"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("dsn", WRONG)
@pytest.mark.parametrize("command", [["db", "drop", "--yes"], ["db", "status"], ["recall", "x"]])
def test_what_is_no_address_is_refused(bare: Runner, default: Path, dsn: str, command: list[str]) -> None:
    sentence = bare(*command, "--dsn", dsn, status=2).refused()
    assert "not a PostgreSQL address" in sentence and "hush" not in sentence
    assert not list(default.iterdir())


@pytest.mark.parametrize("data", ["", " ", "a=b", "postgressql://x/y", "postgresql://x/y"])
@pytest.mark.parametrize("command", [["db", "drop", "--yes"], ["recall", "x"]])
def test_a_folder_is_only_ever_a_folder(bare: Runner, default: Path, data: str, command: list[str]) -> None:
    assert "--data" in bare(*command, "--data", data, status=2).refused()
    assert not list(default.iterdir())


@pytest.mark.parametrize("where", [("--dsn", "postgressql://me:hush@host/notes"), ("--data", "postgresql//host/notes")])
@pytest.mark.parametrize(
    "command",
    [
        ["backfill", "shards.jsonl"],
        ["build", "--rebuild"],
        ["curate", "--apply"],
        ["db", "scrub", "--yes"],
        ["delete", "m"],
        ["undo", "1", "--yes"],
        ["mcp", "--http"],
        ["embed", "--change", "--embedder", "bge-small", "--yes"],
        ["restore", "a.hopgate"],
        ["sensitive", "m", "--undo", "--yes"],
        ["serve", "--port", "0"],
        ["watch"],
    ],
    ids=" ".join,
)
def test_no_command_takes_another_store_instead(
    bare: Runner, default: Path, command: list[str], where: tuple[str, str]
) -> None:
    sentence = bare(*command, *where, status=2).refused()
    assert "address" in sentence and "hush" not in sentence
    assert not list(default.iterdir())


@pytest.mark.parametrize(
    "where", ["postgressql://me:hush@host/notes", "mysql://me@host/notes", "", "hush=1", "postgres//h/n"]
)
def test_so_is_it_in_python(default: Path, where: str) -> None:
    with pytest.raises(HopgateError) as caught:
        hopgate.open(where)
    assert "hush" not in str(caught.value) and not list(default.iterdir())


def test_a_path_is_a_folder_whatever_it_is_called(tmp_path: Path) -> None:
    assert located(tmp_path / "a=b") == tmp_path / "a=b"
    assert located("host=/tmp dbname=notes") == "host=/tmp dbname=notes"


MANY = [f"m{number}" for number in range(11)]


CHANGE = ["embed", "--change", "--embedder", "bge-small"]


@pytest.mark.parametrize("command", [["db", "drop"], ["delete", *MANY], CHANGE])
def test_what_destroys_is_refused_on_a_pipe_and_asked_on_a_terminal(
    run: Runner, dsn: str, command: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(*(Memory(key, "a note") for key in MANY))
    name = dsn.partition("dbname=")[2]
    sentence = run(*command, status=2).refused()
    assert name in sentence and "add --yes" in sentence

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    asked = run(*command, status=2)
    assert name in asked.err and "nothing was changed" in asked.err
    with hopgate.open(dsn) as kb:
        assert len(kb) == len(MANY)


def test_few_are_deleted_without_asking(run: Runner, dsn: str) -> None:
    with hopgate.open(dsn) as kb:
        kb.add(*(Memory(key, "a note") for key in MANY))
    assert run("delete", *MANY[:10], "--json").json == {"deleted": 10}


def test_a_backup_is_written_first(run: Runner, dsn: str, other: str, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("hopgate.store.server.default_directory", lambda: tmp_path)
    with hopgate.open(dsn) as kb:
        kb.add(*(Memory(key, "a note") for key in MANY))
    told = run("delete", *MANY, "--yes", "--json")
    assert told.json == {"deleted": 11}
    (kept,) = (tmp_path / "backups").iterdir()
    assert str(kept) in told.err and kept.stat().st_mode & 0o077 == 0
    with hopgate.open(other) as kb:
        kb.upkeep.restore(kept)
        assert len(kb) == 11
    run("db", "drop", "--yes", "--no-backup")
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_the_cache_is_not_emptied_by_a_slip(bare: Runner) -> None:
    assert "add --yes" in bare("cache", "clear", status=2).refused()
