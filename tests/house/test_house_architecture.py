"""docs/architecture.md is true: what its table and its two ways name is there, and the ways go down only."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from house_source import PACKAGE, ROOT, SRC, definitions, modules, pyproject, tree

PAGE = ROOT / "docs" / "architecture.md"
BEHAVIOURS = 30


@dataclass(frozen=True)
class Step:
    """A line of a drawn way: how deep it is indented, its file and the name in it."""

    depth: int
    file: str
    name: str

    @property
    def path(self) -> Path:
        return SRC / PACKAGE / self.file

    @property
    def module(self) -> str:
        return next(name for name, path in modules().items() if path == self.path)

    def __str__(self) -> str:
        return f"{self.file} {self.name}"


def _section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^##+ {re.escape(title)}.*?\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE.name} has no section {title!r}"
    return found[1]


def rows() -> list[tuple[str, str, str]]:
    """The table "where is …": behaviour, file, name."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in _section("Where is").splitlines() if line
    ]
    return [(what, file.strip("`"), name.strip("`")) for what, file, name in filter(lambda row: len(row) == 3, cells)][
        2:
    ]


def way(title: str) -> list[Step]:
    """The steps of a way: `file  name  what it does`, what a step calls below it and two spaces in."""
    drawn = re.search(r"```text\n(.*?)```", _section(title), re.DOTALL)
    assert drawn, f"nothing is drawn in {title!r}"
    lines = re.findall(r"^( *)(\S+\.py) +(\S+)", drawn[1], re.MULTILINE)
    return [Step(len(indent) // 2, file, name) for indent, file, name in lines]


WAYS = ("The way of a query", "The way of a memory")


def _layer(module: str) -> int:
    """How high a module is among the layers of the import contract; 0 is the highest."""
    layers = pyproject()["tool"]["importlinter"]["contracts"][0]["layers"]
    for height, layer in enumerate(layers):
        if any(module == room or module.startswith(f"{room}.") for room in re.split(r"[ |:]+", layer)):
            return height
    raise AssertionError(f"{module} is in no layer of the import contract")


def test_the_table_has_enough_behaviours_and_none_twice() -> None:
    asked = [what for what, _, _ in rows()]
    assert len(asked) >= BEHAVIOURS
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(("what", "file", "name"), rows(), ids=lambda value: value)
def test_a_behaviour_is_where_the_table_says(what: str, file: str, name: str) -> None:
    path = SRC / PACKAGE / file
    assert path.is_file(), f"{what}: there is no {file}"
    assert name in set(definitions(path)), f"{what}: {file} defines no {name}"


@pytest.mark.parametrize("title", WAYS)
def test_each_step_of_a_way_is_a_name_that_exists(title: str) -> None:
    steps = way(title)
    assert len(steps) >= 10
    missing = [str(step) for step in steps if not step.path.is_file() or step.name not in set(definitions(step.path))]
    assert not missing, missing


@pytest.mark.parametrize("title", WAYS)
def test_each_step_calls_the_next_and_none_goes_back_up(title: str) -> None:
    callers: list[Step] = []
    for step in way(title):
        del callers[step.depth :]
        if callers:
            caller = callers[-1]
            assert len(callers) == step.depth, f"{step} is indented too far"
            assert _layer(caller.module) <= _layer(step.module), f"{caller} is below {step} and calls it"
            assert step.name.rpartition(".")[2] in _identifiers(caller) | _constructed(step), (
                f"{caller} never names {step}"
            )
        callers.append(step)


def _constructed(step: Step) -> set[str]:
    """`Class.__init__` and `Class.__call__` are called by the class's name or an object's."""
    return {step.name.rpartition(".")[2]} if step.name.endswith("__") else set()


def _identifiers(step: Step) -> set[str]:
    """Every name that the body of a step's function uses, with those of its module's private helpers."""
    body = tree(step.module)
    return {node.id for node in ast.walk(body) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute)
    }
