"""What a command line is expected to do: standard input, formats, no store out of a typo."""

import io
import json
import sys

import pytest

from hopgate.cli import output

LEXICAL = ("--dense", "0", "--late", "0", "--graph", "0")


@pytest.fixture(autouse=True)
def _light_embedder(endpoint, monkeypatch):
    monkeypatch.setenv("HOPGATE_EMBEDDER", endpoint.spec)


def test_a_dash_is_standard_input(run, monkeypatch):
    def piped(text):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    piped("The cat sleeps.\n")
    assert run("add", "-").out.startswith("added add#")
    piped(json.dumps([{"role": "user", "content": "Who feeds the dog?"}, {"role": "assistant", "content": "Bea."}]))
    assert run("add", "-", "--thread", "t", "--json").json["embedded"] == 2
    for command in (("recall", "-", *LEXICAL), ("context", "-")):
        piped("where is the cat")
        assert "The cat sleeps." in run(*command).out
    assert [row["text"] for row in run("list", "--json").json] == ["The cat sleeps.", "Who feeds the dog?", "Bea."]
    piped("")
    assert "nothing to remember" in run("add", "-", status=2).refused()


def test_a_pipe_gets_lines_of_cells_and_a_terminal_a_table(run, monkeypatch):
    run("add", "The cat\tsleeps\nlong.", "--id", "a", "--later", "--scope", "home", "--at", "2024-05-01")
    line = "a\t2024-05-01\thome\tThe cat sleeps long.\n"
    assert run("list").out == run("list", "--format", "tsv").out == line
    [cells] = [row.split("\t") for row in run("recall", "cat", *LEXICAL).out.splitlines()]
    assert cells[:2] == ["1", "a"] and cells[3] == "The cat sleeps long."
    assert "memories\t1" in run("status").out.splitlines()
    monkeypatch.setenv("COLUMNS", "40")
    drawn = run("list", "--format", "text").out.splitlines()
    assert "content" in drawn[1] and len(drawn) > 4 and max(map(len, drawn)) <= 40
    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "content" in run("list").out and "\x1b[3" not in run("list").out
    assert run("list", "--format", "json").json == run("list", "--json").json


READS = ["recall x", "context x", "list", "show m1", "status", "export", "edges Ada", "settings", "backup b", "watch"]


@pytest.mark.parametrize("line", [*READS, "delete m1", "db status", "db drop --yes", "serve --read-only"])
def test_a_typo_makes_no_store(bare, line, tmp_path):
    folder = tmp_path / "typo"
    assert f"there is no store in {folder}" in bare(*line.split(), "--data", str(folder), status=2).refused()
    assert not folder.exists()


def test_what_writes_makes_a_store(bare, tmp_path):
    folder = str(tmp_path / "new")
    bare("add", "The cat sleeps.", "--later", "--data", folder)
    assert "memories 1" in " ".join(bare("status", "--data", folder).out.split())
