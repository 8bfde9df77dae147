"""What commands print: JSON or lines, tables, and progress on a terminal alone."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hopgate.memory import Memory
    from hopgate.progress import Advance

# What a command gives to be shown besides a plain value: its lines, and the exit status where that is not 0.
Shown = tuple[Any, str | Iterable[object]] | tuple[Any, str | Iterable[object], int]
FORMATS = ("text", "tsv", "json")
# Control characters but for line ends and tabs, and those that turn the direction of writing.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in columns below their heads; one with a title is part of a report."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    right: Collection[str] = ()  # the heads of the columns that stand to the right


def choose_format(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Note how the command prints, for `--format` and `--json`."""
    if value:
        context.meta["hopgate.format"] = "json" if parameter.name == "json" else value


def chosen_format() -> str:
    """How this command prints: as it was told; else text on a terminal, and lines of tab-separated cells on a pipe."""
    context = click.get_current_context(silent=True)
    default = "text" if sys.stdout.isatty() else "tsv"
    return str(context.meta.get("hopgate.format", default)) if context else default


def show(value: Any, lines: str | Iterable[object] | None = None, status: int = 0) -> None:
    """Print a result and end with a status that is not 0.

    It is printed as one JSON value, or for a person as its lines: by default the names and values of a mapping, or what
    the value says of itself.
    """
    if chosen_format() == "json":
        print_json(value)
    else:
        if lines is None:
            lines = (
                pairs(value, tabs=chosen_format() == "tsv") if isinstance(value, Mapping) else str(value).splitlines()
            )
        for line in [lines] if isinstance(lines, str) else lines:
            say(line)
    if status:
        sys.exit(status)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output; dataclasses are their fields, or what their `to_dict` gives."""
    sys.stdout.write(json_line(value))


def json_line(value: Any) -> str:
    """Write a value as a line of JSON."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)


def say(line: object) -> None:
    """Print a line or a table for a person; what a terminal would obey is shown."""
    if not isinstance(line, Table):
        sys.stdout.write(printable(str(line)) + "\n")
    elif not line.title and chosen_format() == "tsv":
        for row in line.rows:
            say("\t".join(" ".join(cell.split()) for cell in row))
    else:
        _draw(line)


def _draw(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    title = table.title or None
    drawn = Drawing(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for head in table.heads:
        drawn.add_column(head, overflow="fold", justify="right" if head in table.right else "left")
    for row in table.rows:
        drawn.add_row(*(Text(printable(text)) for text in row))
    # A pipe has no width.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(width=None if known else 120, highlight=False).print(drawn)


def printable(text: str) -> str:
    """Show control characters by their numbers: they could move a terminal's cursor or change its title."""
    return _OBEYED.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def counted(count: int, one: str, several: str = "") -> str:
    """A number and what there are so many of, one or several.

    Examples
    --------
    >>> counted(1, "memory"), counted(1200, "memory"), counted(0, "edge"), counted(2, "matrix", "matrices")
    ('1 memory', '1,200 memories', '0 edges', '2 matrices')
    """
    many = several or (one.removesuffix("y") + "ies" if one.endswith("y") else one + "s")
    return f"{count:,} {one if count == 1 else many}"


def pairs(values: Mapping[str, Any], *, tabs: bool = False) -> Iterator[str]:
    """Lines of a name and a value, in columns or parted by tabs; what is empty is left out."""
    filled = {name: text for name, value in values.items() if (text := _worded(value))}
    width = max(map(len, filled), default=0) + 2
    for name, text in filled.items():
        yield name.replace("_", " ") + ("\t" if tabs else " " * (width - len(name))) + text


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        words = {str(name).replace("_", " "): _worded(part) for name, part in value.items()}
        return ", ".join(f"{name} {word}" for name, word in words.items() if word)
    if isinstance(value, list | tuple):
        return ", ".join(map(_worded, value))
    return "" if value is None else str(value)


def one_line(memory: Memory) -> str:
    """A memory on one line, its title told from its text."""
    return ": ".join(filter(None, (" ".join(part.split()) for part in (memory.title, memory.text))))


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """Show how far some work is on a terminal, and nothing on a pipe."""
    with stages() as begin:
        yield begin(title, total)


@contextlib.contextmanager
def stages() -> Iterator[Callable[[str, int | None], Advance]]:
    """Show one stage after another on a terminal, and nothing on a pipe."""
    with progress_line() as show:

        def begin(title: str, total: int | None) -> Advance:
            done, of = 0, f" of {total:,}" if total else ""

            def advance(more: int) -> None:
                nonlocal done
                done += more
                show(f"{title}: {done:,}{of}")

            show(title)
            return advance

        yield begin


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[object], object]]:
    """Show one line that changes on a terminal, and nothing on a pipe."""
    if not sys.stderr.isatty():
        yield str
        return
    yield lambda progress: sys.stderr.write(f"\r\x1b[K{progress}")
    sys.stderr.write("\r\x1b[K")
