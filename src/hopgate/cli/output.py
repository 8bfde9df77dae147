"""What commands print, and how the store that their options name is opened; nothing of typer's.

`hopgate recall` reads plain words without it (plain_options.py).
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.cli.printable import printable, printable_json
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from hopgate.kb import KnowledgeBase
    from hopgate.memory import Memory

Advance = Callable[[int], None]


def place(data: Path | None, dsn: str | None) -> str | Path | None:
    """Where the options say that the store is; none leaves it to the environment and the default."""
    if data is not None and dsn is not None:
        raise HopgateError("--data and --dsn name two stores: give one of them")
    if dsn is None:
        return data
    from hopgate.store.connect import check_address

    return check_address(dsn)


def opened(data: Path | None, dsn: str | None) -> KnowledgeBase:
    """Open the knowledge base that the options name."""
    import hopgate
    from hopgate.store import lingering

    # The next command then finds the server up.
    return hopgate.open(place(data, dsn), linger=lingering.seconds(lingering.COMMAND_S))


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=False)) + "\n")


def say(text: str) -> None:
    """Print a line for a person; what a terminal would obey is shown."""
    sys.stdout.write(printable(text) + "\n")


def counted(count: int, one: str, several: str = "") -> str:
    """A number and what there are so many of, one or several.

    Examples
    --------
    >>> counted(1, "memory"), counted(1200, "memory"), counted(0, "edge"), counted(2, "matrix", "matrices")
    ('1 memory', '1,200 memories', '0 edges', '2 matrices')
    """
    many = several or (one.removesuffix("y") + "ies" if one.endswith("y") else one + "s")
    return f"{count:,} {one if count == 1 else many}"


def one_line(memory: Memory) -> str:
    r"""A memory on one line, its title told from its text.

    Examples
    --------
    >>> from hopgate.memory import Memory
    >>> one_line(Memory("m1", "Led by Ada.\nFrom Bremen.", title="Project Tern"))
    'Project Tern: Led by Ada. From Bremen.'
    """
    return ": ".join(filter(None, (" ".join(part.split()) for part in (memory.title, memory.text))))


def cell(text: str, style: str = "") -> Text:
    """A text for a table or a console; what a terminal would obey is shown."""
    from rich.text import Text

    return Text(printable(text), style=style)


def console() -> Console:
    """A console that keeps whole lines on a pipe, where nobody sees columns."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120, highlight=False, soft_wrap=False)


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """Show a bar on a terminal, and nothing on a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)


@contextlib.contextmanager
def stages() -> Iterator[Callable[[str, int | None], Advance]]:
    """Show one bar after another on a terminal, and nothing on a pipe."""
    if not sys.stderr.isatty():
        yield lambda _title, _total: lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def begin(title: str, total: int | None) -> Advance:
            for task in bar.task_ids:
                bar.remove_task(task)
            task = bar.add_task(title, total=total)
            return lambda done: bar.advance(task, done)

        yield begin
