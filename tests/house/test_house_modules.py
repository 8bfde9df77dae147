"""Every module has a caller that a user can reach, one name means one thing, and no file is too long to read."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict

from house_source import PUBLIC, ROOT, is_empty, modules, place, reachable, tree, uses

LONGEST = 350
# `python -m hopgate` and `python -m hopgate.cli`; the command `hopgate` is hopgate.cli.
ENTRIES = {"hopgate.__main__", "hopgate.cli.__main__", "hopgate.cli", *PUBLIC}
# What programs import from a framework's side.
ENTRIES |= {"hopgate.integrations.langchain", "hopgate.integrations.llama_index"}

# A command, a picture and an endpoint are called after the thing they show, and so are files in these rooms.
NAMED_AFTER_WHAT_THEY_SHOW = ("cli/", "plot/", "serve/api/")
# Any other file name that occurs in several rooms: the rooms, and the one thing it means in all of them.
ONE_MEANING = {
    "cache.py": ({"embed", "extract"}, "what a model answered, kept by the text it was asked about"),
    "openai.py": ({"embed", "extract/model"}, "a client of an OpenAI-compatible endpoint"),
    "spec.py": ({"embed", "extract"}, "one line of text such as openai:MODEL@URL -> the thing it names"),
    "parse.py": ({"eval/measures", "recall/fuse"}, "a value from what it prints as"),
    "run.py": ({"eval/audit", "eval/gate"}, "the whole work of its room, from beginning to end"),
    "power.py": ({"eval/audit", "eval/statistics"}, "the smallest effect that a slice could have shown"),
}


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


def test_no_class_name_occurs_twice() -> None:
    found = defaultdict(list)
    for name, path in modules().items():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(place(path))
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert not twice, twice


def test_no_file_is_longer_than_can_be_read_at_once() -> None:
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules().values()}
    long = {name: length for name, length in lengths.items() if length > LONGEST}
    assert not long, f"at most {LONGEST} lines: {long}"


def test_a_file_name_means_one_thing() -> None:
    rooms = defaultdict(set)
    for path in modules().values():
        if path.name not in ("__init__.py", "__main__.py") and not place(path).startswith(NAMED_AFTER_WHAT_THEY_SHOW):
            rooms[path.name].add(place(path.parent))
    several = {name: found for name, found in rooms.items() if len(found) > 1}
    unexplained = {
        name: sorted(found) for name, found in several.items() if not found <= ONE_MEANING.get(name, (set(), ""))[0]
    }
    assert not unexplained, f"rename one of each, or say above what they have in common: {unexplained}"
    assert not (gone := sorted(ONE_MEANING.keys() - several.keys())), f"these occur once by now, take them off: {gone}"
