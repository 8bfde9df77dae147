"""What no tool checks: the public names, every module has a caller, names are plain, terms are used, links lead on."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hopgate

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SRC / "hopgate").rglob("*.py"))
}
# What programs and frameworks import, and what Python runs.
FRAMEWORKS = ("langchain", "langgraph", "llama_index")
ENTRIES = {"hopgate", *(f"hopgate.integrations.{framework}" for framework in FRAMEWORKS)}
# Each cost a reader a minute. What to say instead is in CONTRIBUTING.md.
RIDDLES = {
    *("told", "said", "believe", "believed", "stand", "standing", "spot", "spotted", "stroke", "heard", "hear", "lit"),
    *("brought", "fault", "faults"),
}


def test_every_module_is_imported_or_named_by_another():
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    alone = []
    for name, path in MODULES.items():
        if name in ENTRIES or path.name in ("__init__.py", "__main__.py"):
            continue
        package, _, last = name.rpartition(".")
        called = re.compile(
            rf"\b{re.escape(name)}\b|from {re.escape(package)} import \(?[^)]*?\b{last}\b|\"{last}\"|'{last}'"
        )
        if not any(called.search(text) for other, text in texts.items() if other != name):
            alone.append(name)
    assert not alone, f"no other module of src uses {alone}: give them a caller that a user reaches, or remove them"


def test_no_name_is_a_riddle():
    named = [(name.rpartition(".")[2], name) for name in MODULES]
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
                named.append((node.name, name))
    words = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
    assert not [found for found in named if {word.lower() for word in words.findall(found[0])} & RIDDLES]


def test_every_term_is_explained_once_and_used():
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "CONTEXT.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) >= 25 and len(set(terms)) == len(terms)
    source = "\n".join(path.read_text(encoding="utf-8") for path in MODULES.values())
    # "as of" is `as_of`, "seed concept" is `seed_concept`, or the words themselves in a docstring.
    unused = [term for term in terms if not re.search(re.escape(term).replace(r"\ ", r"[\s_]+"), source, re.IGNORECASE)]
    assert not unused


def test_every_package_is_a_package():
    bare = {path.parent for path in MODULES.values()} - {path.parent for path in SRC.rglob("__init__.py")}
    assert not bare, f"no __init__.py in {sorted(map(str, bare))}: a wheel and a type checker would pass it over"


def test_what_vulture_passes_over_has_a_reason_and_is_still_there():
    source = "\n".join(path.read_text(encoding="utf-8") for path in MODULES.values())
    for line in (Path(__file__).parent / "vulture_allowed.py").read_text(encoding="utf-8").splitlines()[2:]:
        names, _, reason = line.partition("  # ")
        assert reason, f"say why {line} is not unused"
        for name in names.split(", "):
            assert re.search(rf"\b{re.escape(name.removeprefix('_.'))}\b", source), f"{name} has gone: take it off"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md"])
def test_links_lead_to_what_is_there(page):
    path = ROOT / page
    for target in re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{page}: {target}"


PUBLIC = {
    "open", "Memory", "KnowledgeBase", "Hit", "Settings", "RRF", "TM2C2", "run_gate", "read_dataset", "HopgateError",
}  # fmt: skip


def test_the_public_names_and_no_more():
    assert set(hopgate.__all__) == PUBLIC
    assert set(dir(hopgate)) >= PUBLIC | {"__version__"}
    for name in PUBLIC:
        assert getattr(hopgate, name).__name__ == name
        assert getattr(hopgate, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'recall_all'"):
        _ = hopgate.recall_all


def test_importing_the_package_loads_none_of_its_rooms():
    code = (
        "import sys, hopgate; print(*sorted(name for name in sys.modules if name.partition('.')[0] == 'hopgate'))\n"
        "hopgate.RRF; assert not {'numpy', 'psycopg', 'scipy'} & set(sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {name.split(".")[1] for name in loaded if "." in name} - {"errors", "memory", "times"}
