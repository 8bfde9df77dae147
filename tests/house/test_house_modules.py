"""Every module has a caller that a user can reach, and every picture is shown somewhere."""

from __future__ import annotations

import ast
import json
import re

from house_source import PUBLIC, ROOT, is_empty, modules, reachable, tree, uses

# `python -m hopgate` and `python -m hopgate.cli`; the command `hopgate` is hopgate.cli.
ENTRIES = {"hopgate.__main__", "hopgate.cli.__main__", "hopgate.cli", *PUBLIC}
# What programs import from a framework's side.
ENTRIES |= {"hopgate.integrations.langchain", "hopgate.integrations.llama_index"}


def test_every_module_is_reached_from_the_command_line_or_a_public_name() -> None:
    reached = reachable(ENTRIES)
    lost = sorted(name for name in modules() if name not in reached and not is_empty(name))
    assert not lost, f"no command and no public name leads to {lost}: give them a caller that a user reaches, or remove"


def test_every_module_has_a_caller_in_production() -> None:
    used = {other for name in modules() for other in uses(name)}
    alone = sorted(name for name in modules() if name not in used | ENTRIES and not is_empty(name))
    assert not alone, f"no other module of src uses {alone}"


def test_every_picture_is_drawn_in_a_notebook_or_in_the_guide() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pages += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shown = set(re.findall(r"\w+", "\n".join(pages)))
    named = {
        alias.name for node in tree("hopgate.plot").body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    functions = {name for name in named - {"annotations"} if name[0].islower()}
    assert functions <= shown, f"nothing shows how to draw {sorted(functions - shown)}"
