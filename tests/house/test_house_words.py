"""One word a thing, and plain ones: names that need no guessing, the terms of CONTEXT.md, the public names."""

from __future__ import annotations

import ast
import re

import pytest
from house_source import ROOT, modules, place, tree

import hopgate

# Each cost a reader a minute. What to say instead is in CONTRIBUTING.md.
RIDDLES = {
    *("told", "said", "believe", "believed", "stand", "standing", "spot", "spotted", "stroke", "heard", "hear", "lit"),
    *("brought", "fault", "faults"),
}
PUBLIC = {
    *("HopgateError", "Hit", "KnowledgeBase", "Memory", "RRF", "Settings", "TM2C2"),
    *("open", "read_dataset", "run_gate"),
}
SERIALISERS = {"as_dict", "as_json", "from_json", "json", "to_json"}


def parts(name: str) -> set[str]:
    """The words of a name.

    >>> sorted(parts("HopQuestions")), sorted(parts("name_rows"))
    (['hop', 'questions'], ['name', 'rows'])
    """
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}


def public_names() -> list[tuple[str, str]]:
    """Modules, classes and public functions of src, each with its file."""
    found = [(name.rpartition(".")[2], place(path)) for name, path in modules().items()]
    for name, path in modules().items():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith(
                "_"
            ):
                found.append((node.name, place(path)))
    return found


def test_no_name_is_a_riddle() -> None:
    if riddles := sorted({f"{file}: {name}" for name, file in public_names() if parts(name) & RIDDLES}):
        pytest.fail("\n".join(riddles))


def test_a_value_becomes_a_dictionary_by_to_dict_alone() -> None:
    others = []
    for name, path in modules().items():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.FunctionDef) and node.name in SERIALISERS:
                types = [*(argument.annotation for argument in node.args.args), node.returns]
                # JSON as text is another thing, and may be called so.
                if not any(isinstance(kind, ast.Name) and kind.id == "str" for kind in types):
                    others.append(f"{place(path)}: {node.name}")
    if others:
        pytest.fail("\n".join(others))


def terms() -> list[str]:
    text = (ROOT / "CONTEXT.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \*\*(.+?)\*\* \|", text, re.MULTILINE)


def test_every_term_is_explained_once() -> None:
    found = terms()
    assert len(found) >= 25
    assert len(set(found)) == len(found), sorted(term for term in found if found.count(term) > 1)


@pytest.mark.parametrize("term", terms())
def test_a_term_is_used_in_the_code(term: str) -> None:
    # "as of" is `as_of`, "seed concept" is `seed_concept`, `seeds`, or the words themselves in a docstring.
    wanted = re.compile(re.escape(term).replace(r"\ ", r"[\s_]+"), re.IGNORECASE)
    assert any(wanted.search(path.read_text(encoding="utf-8")) for path in modules().values())


def test_the_public_names_are_what_a_program_needs_and_no_more() -> None:
    assert set(hopgate.__all__) - {"__version__"} == PUBLIC
    assert all(getattr(hopgate, name).__doc__ for name in PUBLIC)
