"""The words of a recall are read as typer reads them, or left to it."""

from __future__ import annotations

import functools
import inspect
import itertools
import subprocess
import sys
import types
from typing import Any, get_args, get_type_hints

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.cli import recall
from hopgate.cli.plain_options import plain_values
from hopgate.cli.recall_answer import answer

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
    ["where", "--as-of", "2024-05-01", "--known-at", "2024-05-01T12:30+02:00"],
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
    ["where", "--as-of", "gestern"],
    ["where", "--sqlite", "file"],
    ["where", "--data", ""],
    ["where", "--no-such"],
    ["where", "-k", "5"],
    ["--", "where"],
]


NAMES = [f"--{name.replace('_', '-')}" for name in inspect.signature(answer).parameters]
SEEN: list[dict[str, Any]] = []


@functools.cache
def typer_command() -> Any:
    @functools.wraps(recall.command)
    def record(**values: Any) -> None:
        SEEN.append(values)

    app = typer.Typer()
    app.command()(record)
    return typer.main.get_command(app)


def by_typer(words: list[str]) -> dict[str, Any]:
    """What typer makes of the words, without what was left out."""
    SEEN.clear()
    typer_command().main(args=words, standalone_mode=False)
    return {name: value for name, value in SEEN[0].items() if value is not None and value is not False and value != []}


def said(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not False}


@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_what_is_plain_is_read_as_typer_reads_it(words: list[str]) -> None:
    values = plain_values(answer, words)
    assert values is not None
    by_both = by_typer(words)
    assert said(values) == by_both
    assert values.get("rerank") is (False if "--no-rerank" in words else by_both.get("rerank"))


@pytest.mark.parametrize("words", LEFT, ids=" ".join)
def test_the_rest_is_left_to_typer(words: list[str]) -> None:
    assert plain_values(answer, words) is None


VALUES = [
    "where",
    "0",
    "5",
    "007",
    "2.50",
    ".5",
    "5.",
    "1_0",
    "٣",
    "1e3",
    "nan",
    "yes",
    "2024-05",
    "",
    " ",
    "a=b",
    "--k",
    "-",
    "-1",
]
FLAGS = ["--json", "--explain", "--rerank", "--no-rerank", "--no-explain", "--k=5", "-k", "--"]
PIECES = st.one_of(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)).map(lambda pair: ("=".join(pair),)),
    st.tuples(st.sampled_from(FLAGS)),
    st.tuples(st.sampled_from(VALUES)),
)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=3), st.lists(PIECES, max_size=2), st.sampled_from([["where"], ["where"], []]))
def test_whatever_is_read_is_read_as_typer_reads_it(
    before: list[tuple[str, ...]], after: list[tuple[str, ...]], query: list[str]
) -> None:
    """Nothing that typer refuses is taken, and nothing is taken otherwise."""
    words = [*itertools.chain(*before), *query, *itertools.chain(*after)]
    values = plain_values(answer, words)
    if values is not None:
        assert said(values) == by_typer(words)


def test_what_is_answered_takes_the_options_of_the_command() -> None:
    options, parameters = inspect.signature(recall.command).parameters, inspect.signature(answer).parameters
    assert {name: one.default for name, one in options.items()} == {
        name: one.default for name, one in parameters.items()
    }
    kinds = get_type_hints(recall.command), get_type_hints(answer)
    assert {name: set(_kinds(kind)) for name, kind in kinds[0].items()} == {
        name: set(_kinds(kind)) for name, kind in kinds[1].items()
    }


def _kinds(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def test_a_plain_recall_loads_neither_typer_nor_what_it_does_not_need(dsn: str) -> None:
    code = (
        "import sys; from hopgate.cli import main\n"
        f"main(['recall', 'where is the key', '--dsn', {dsn!r}])\n"
        "heavy = {'typer', 'rich', 'pydantic', 'scipy', 'sklearn', 'networkx', 'numba'}\n"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "set()"
