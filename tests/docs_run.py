"""Run the code blocks of a page: python ones in one namespace, `$ hopgate …` lines as commands.

A `text` block right below a python one is what that prints.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopgate.cli import main

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    prints: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path, real: Mapping[str, str] | None = None) -> list[Block]:
    """The blocks of a page, what it made up replaced by what is real."""
    text = page.read_text(encoding="utf-8")
    for made_up, there in (real or {}).items():
        text = text.replace(made_up, there)
    found = list(_FENCE.finditer(text))
    result = []
    for at, one in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else None
        shown = after is not None and after[1] == "text" and not text[one.end() : after.start()].strip()
        lines = tuple(filter(str.strip, after[2].splitlines())) if after is not None and shown else ()
        result.append(Block(page, text[: one.start()].count("\n") + 2, one[1], one[2], lines))
    return result


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            assert found, f"{block}: output without a command"
            found[-1][1].append(line)
    return found


def run_python(block: Block, namespace: dict[str, Any]) -> str:
    """Run a block and give what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        # Line numbers of a traceback are those of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(block.page), "exec"), namespace)
    return out.getvalue()


def recalls_in_silence(block: Block) -> list[str]:
    """The recalls of a block that print hits which the page does not show."""
    if block.language == "console":
        return [line for line, shown in commands(block) if line.startswith("hopgate recall") and not shown]
    prints_hits = block.language == "python" and "recall(" in block.text and "print(" in block.text
    return [str(block)] if prints_hits and not block.prints else []


def run_command(line: str) -> str:
    """Run `hopgate …`, with `> FILE` where a page has it, and give what it printed."""
    words = shlex.split(line)
    target = Path(words[words.index(">") + 1]) if ">" in words else None
    if target:
        words = words[: words.index(">")]
    assert words[0] == "hopgate", f"only hopgate's own commands are console blocks: {line}"
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(words[1:])
            status: Any = 0
        except SystemExit as stop:
            status = stop.code or 0
    assert status == 0, f"{line}\n{out.getvalue()}"
    if target:
        target.write_text(out.getvalue(), encoding="utf-8")
    return out.getvalue()


def assert_shown(expected: list[str], printed: str, where: object) -> None:
    """Every line a page shows was printed, in that order; … stands for anything, and space is space."""
    flat = " ".join(printed.split())
    at = 0
    for line in expected:
        pattern = r".*?".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        found = re.compile(pattern.replace(r"\ ", " ")).search(flat, at)
        assert found, f"{where}: not printed: {line}\n{printed}"
        at = found.end()
