"""The source of hopgate, read and never imported: its modules, and which module uses which."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PACKAGE = "hopgate"
# The two packages that users import from: what these hand on is used, by them.
PUBLIC = {PACKAGE: "what a program needs", f"{PACKAGE}.plot": "pictures for one's own notebook"}


@cache
def pyproject() -> dict[str, Any]:
    """The project's settings."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def modules() -> dict[str, Path]:
    """Every module of src by its dotted name."""
    return {_dotted(path): path for path in sorted((SRC / PACKAGE).rglob("*.py"))}


def _dotted(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(name: str) -> ast.Module:
    """A module's syntax tree."""
    return ast.parse(modules()[name].read_text(encoding="utf-8"), str(modules()[name]))


def place(path: Path) -> str:
    """A file as a reader names it: `graph/build/sink.py`."""
    return path.relative_to(SRC / PACKAGE).as_posix()


def is_package(name: str) -> bool:
    return modules()[name].name == "__init__.py"


def is_empty(name: str) -> bool:
    """Whether a module is an `__init__` without code: a docstring, names handed on, `__all__`."""
    return is_package(name) and all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"])
        for node in tree(name).body
    )


@cache
def uses(name: str) -> frozenset[str]:
    """The modules of hopgate that the code of a module uses when it runs.

    Imports inside functions count, and so do modules named in a string (see `_named`). What is imported for types
    alone does not. A name that a package hands on (`from hopgate.recall.fuse import RRF`) is the use of the module
    that defines it, and a package that only hands a name on does not use it.
    """
    bound = dict(_bound(name))
    if is_empty(name) and name not in PUBLIC:
        return frozenset()
    found = {module for module, _ in bound.values()} | _named(name)
    for node in ast.walk(tree(name)):
        # `reach.warnings(…)` after `from hopgate.recall import reach`.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            module, inside = bound[node.value.id]
            if not inside:
                found.add(_home(module, node.attr)[0])
    return frozenset(found & modules().keys() - {name})


def _bound(name: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each name that a module imports from hopgate, with its home: (module, name there); a module's own name is ""."""
    package = name if is_package(name) else name.rpartition(".")[0]
    for node in _running(tree(name)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in modules():
                    yield alias.asname or alias.name.partition(".")[0], (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            if base in modules():
                for alias in node.names:
                    yield alias.asname or alias.name, _home(base, alias.name)


def _home(module: str, name: str) -> tuple[str, str]:
    """Where a name comes from: a module itself, or the module that defines what a package hands on."""
    if f"{module}.{name}" in modules():
        return f"{module}.{name}", ""
    if is_package(module):
        for bound, (home, inside) in _bound(module):
            if bound == name and home != module:
                return (home, inside) if not inside else _home(home, inside)
    return module, name


def _named(name: str) -> set[str]:
    """The modules that a module names in strings: a table for `importlib`, lazy public names."""
    strings: set[str] = set()
    prefixes: set[str] = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
        elif isinstance(node, ast.JoinedStr) and node.values and isinstance(head := node.values[0], ast.Constant):
            prefixes.add(str(head.value))
    words = {text for text in strings if text.isidentifier()}
    # f"hopgate.cli.{module}", with a table of modules in the same file.
    named = {text.replace(":", ".") for text in strings} | {prefix + word for prefix in prefixes for word in words}
    named &= modules().keys()
    return named | {_home(text, word)[0] for text in named if is_package(text) for word in words}


def reachable(starts: set[str]) -> set[str]:
    """The modules that these use, directly or through others."""
    seen: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += uses(name)
    return seen


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below this one, without the branches that only a type checker takes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in child.orelse:
                yield other
                yield from _running(other)
            continue
        yield child
        yield from _running(child)
