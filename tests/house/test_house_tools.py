"""The tools see every folder, what they are told to pass over has a reason, and links lead somewhere."""

from __future__ import annotations

import ast
import fnmatch
import re
from pathlib import Path

import pytest
from house_source import ROOT, SRC, modules, pyproject

PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md")


def test_no_folder_is_left_out_of_the_tests(pytestconfig: pytest.Config) -> None:
    folders = {path.name for root in (SRC, ROOT / "tests") for path in root.rglob("*/") if path.name != "__pycache__"}
    passed_over = pytestconfig.getini("norecursedirs")
    left_out = {name for name in folders if any(fnmatch.fnmatch(name, pattern) for pattern in passed_over)}
    assert not left_out, f"pytest never looks into {sorted(left_out)}"


def test_every_package_is_a_package() -> None:
    bare = {path.parent for path in modules().values()} - {path.parent for path in SRC.rglob("__init__.py")}
    assert not bare, f"no __init__.py in {sorted(map(str, bare))}: a wheel and a type checker would pass it over"


def test_slow_tests_that_start_first_are_there() -> None:
    tree = ast.parse((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    (slow,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and _is_slow(node))
    names = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert slow and set(slow) <= names, f"conftest.py names tests that have gone: {sorted(set(slow) - names)}"


def _is_slow(node: ast.Assign) -> bool:
    return [ast.unparse(target) for target in node.targets] == ["SLOW"]


def test_what_vulture_passes_over_has_a_reason_and_is_still_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in modules().values())
    for line in (Path(__file__).parent / "vulture_allowed.py").read_text(encoding="utf-8").splitlines()[2:]:
        name, _, reason = line.partition("  # ")
        assert reason, f"say why {line} is not unused"
        assert re.search(rf"\b{re.escape(name.removeprefix('_.'))}\b", source), f"{name} has gone: take it off"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_what_is_there(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{page}: {target}"


def test_a_package_index_is_given_whole_addresses() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in pyproject()["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) >= 10
    assert all(link.startswith("https://") for link in links), links
