"""No two places of src share ten or more lines, to the letter or in their shape.

Blank lines, comments, lone punctuation and imports do not count. Of the same shape are lines that differ in names,
strings and numbers only; a run of those counts when it is more than the rows of a table or the fields of a class.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator

import pytest
from house_source import modules, place, tree

SHARED = 10
# A run of one shape must have so many different lines to be code rather than a table's rows.
DIFFERENT = 5
FIELD = re.compile(r"name : [^=]+( = \S+)?")

Line = tuple[int, str]


def significant(name: str, text: str, *, shape: bool) -> list[Line]:
    """The lines of a module that count, each with its number; as shapes, with names, strings and numbers left out."""
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP) or "STRING" in _kind(token):
            first, *more = token.string.splitlines()
            lines[token.start[0]].append(_shape(token, first) if shape and not more else first.strip())
            for number, line in enumerate(more, start=token.start[0] + 1):
                lines[number].append(line.strip())
    imports = {number for node in ast.walk(tree(name)) for number in _import(node)}
    joined = ((number, " ".join(filter(None, words))) for number, words in sorted(lines.items()))
    counted = ((number, line) for number, line in joined if number not in imports and re.search(r"\w", line))
    return [(number, line) for number, line in counted if not (shape and FIELD.fullmatch(line))]


def _kind(token: tokenize.TokenInfo) -> str:
    return tokenize.tok_name[token.type]


def _shape(token: tokenize.TokenInfo, text: str) -> str:
    if token.type == tokenize.NAME and not keyword.iskeyword(text):
        return "name"
    return {tokenize.NUMBER: "0", tokenize.STRING: "text"}.get(token.type, text)


def _import(node: ast.AST) -> range:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)


def shared(sources: dict[str, list[Line]], *, shape: bool) -> Iterator[str]:
    """Pairs of places with the same run, the first run of each pair of files."""
    runs: dict[tuple[str, ...], list[tuple[str, int, int]]] = defaultdict(list)
    for name, lines in sources.items():
        for at in range(len(lines) - SHARED + 1):
            window = lines[at : at + SHARED]
            runs[tuple(line for _, line in window)].append((name, window[0][0], window[-1][0]))
    told = set()
    for run, places in runs.items():
        if shape and len(set(run)) < DIFFERENT:
            continue
        for at, (one, first, last) in enumerate(places):
            for other, start, end in places[at + 1 :]:
                if (one != other or start > last) and (one, other) not in told:
                    told.add((one, other))
                    yield f"{one}:{first}-{last} ~ {other}:{start}-{end}"


def _source(*, shape: bool) -> dict[str, list[Line]]:
    return {
        place(path): significant(name, path.read_text(encoding="utf-8"), shape=shape)
        for name, path in modules().items()
    }


def test_no_ten_lines_occur_twice() -> None:
    if pairs := list(shared(_source(shape=False), shape=False)):
        pytest.fail("\n".join(pairs))


def test_no_ten_lines_have_the_same_shape() -> None:
    if pairs := list(shared(_source(shape=True), shape=True)):
        pytest.fail("\n".join(pairs))


def test_the_check_itself() -> None:
    body = [f"    total{i} = first{i} + {i} * second(third[{i}], fourth={i})" + i * " + more" for i in range(SHARED)]
    copied = [line.replace("total", "sum").replace("first", "one") for line in body]
    name = "hopgate.errors"
    one = significant(name, "\n".join([8 * "\n", "def f():", *body]), shape=True)
    other = significant(name, "\n".join([20 * "\n", "def g():", *copied]), shape=True)
    assert list(shared({"a": one, "b": other}, shape=True))
    assert not list(shared({"a": one, "b": other[:-2]}, shape=True))
