"""The words of a recall are read as typer reads them, or left to it."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any

import pytest
import typer

from hopgate.cli import recall
from hopgate.cli.plain_options import plain_values

READ = [
    ["where is the key"],
    ["where", "--k", "5"],
    ["--k=5", "where", "--explain", "--json"],
    ["where", "--scope", "a", "--scope", "b", "--exclude", "m1"],
    ["where", "--lexical", "0", "--dense", "0.5", "--graph", "2"],
    ["where", "--rerank"],
    ["where", "--no-rerank", "--sort-by", "recency"],
    ["where", "--fuser", "MinMax(graph=4)", "--stages=fuse > rerank"],
    ["where", "--dsn", "postgresql://here", "--min-score", "0.25"],
    ["where", "--data", "a folder"],
    ["", "--scope", ""],
]
LEFT = [
    [],
    ["--help"],
    ["where", "there"],
    ["where", "--k", "five"],
    ["where", "--k", "-5"],
    ["where", "--k"],
    ["where", "--k", "5", "--k", "6"],
    ["where", "--explain=yes"],
    ["where", "--explain", "--explain"],
    ["where", "--rerank", "--no-rerank"],
    ["where", "--lexical", "1e3"],
    ["where", "--as-of", "2024-05-01"],
    ["where", "--sqlite", "file"],
    ["where", "--data", ""],
    ["where", "--no-such"],
    ["where", "-k", "5"],
    ["--", "where"],
]


def by_typer(words: list[str]) -> dict[str, Any]:
    """What typer makes of the words."""
    seen: dict[str, Any] = {}

    @functools.wraps(recall.command)
    def record(**values: Any) -> None:
        seen.update(values)

    app = typer.Typer()
    app.command()(record)
    app(args=words, standalone_mode=False)
    return seen


@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_what_is_plain_is_read_as_typer_reads_it(words: list[str]) -> None:
    values = plain_values(recall.command, words)
    assert values is not None
    expected = by_typer(words)
    assert values == {name: expected[name] for name in values}
    assert not [value for name, value in expected.items() if name not in values and value not in (None, False, [])]


@pytest.mark.parametrize("words", LEFT, ids=" ".join)
def test_the_rest_is_left_to_typer(words: list[str]) -> None:
    assert plain_values(recall.command, words) is None


def test_a_recall_loads_no_adapters_nor_scipy(dsn: str) -> None:
    code = (
        "import sys; from hopgate.cli import main\n"
        f"main(['recall', 'where is the key', '--dsn', {dsn!r}])\n"
        "print({'pydantic', 'scipy', 'sqlalchemy', 'alembic', 'sklearn', 'networkx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()"
