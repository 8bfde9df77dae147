"""Texts in columns, without rich, which takes 60 ms of CPU to import and to lay a table out."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopgate.cli.printable import printable

# On a pipe nobody sees columns: as wide as a file is read.
PIPE = 120
_GAP = 3


class TextColumn(NamedTuple):
    """A column's title, and whether it is set to the right."""

    title: str
    right: bool = False


def lines(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    r"""Set rows in columns below their titles, cells too long on several lines; what a terminal would obey is shown.

    Parameters
    ----------
    width : int, optional
        By default the terminal's.

    Examples
    --------
    >>> columns = [TextColumn("", right=True), TextColumn("memory")]
    >>> print(*lines(columns, [["1", "The NAS moved to the cellar."]], 20), sep="\n")
    <BLANKLINE>
         memory
     ──────────────────
      1   The NAS moved
          to the
          cellar.
    <BLANKLINE>
    """
    cells = [[printable(cell).replace("\t", " ") for cell in row] for row in rows]
    titles = [column.title for column in columns]
    wanted = [
        max(shown_width(line) for cell in column for line in cell.split("\n"))
        for column in zip(titles, *cells, strict=True)
    ]
    widths = fitted(wanted, (width or _terminal()) - 2 - _GAP * (len(columns) - 1))
    yield ""
    yield from _row(columns, widths, titles)
    yield f" {'─' * (sum(widths) + _GAP * (len(columns) - 1))}"
    for row in cells:
        yield from _row(columns, widths, row)
    yield ""


def shown_width(text: str) -> int:
    """How many places of a terminal a text takes.

    Examples
    --------
    >>> shown_width("Tee"), shown_width("茶"), shown_width("e\u0301")
    (3, 2, 1)
    """
    return len(text) if text.isascii() else sum(map(_places, text))


def fitted(wanted: Sequence[int], room: int) -> list[int]:
    """Give columns what they want, and where there is no room for that take it from the widest.

    Examples
    --------
    >>> fitted([2, 5, 200, 60], 100)
    [2, 5, 47, 46]
    """
    widths = list(wanted)
    while sum(widths) > max(room, len(widths)):
        widest = max(widths)
        next_widest = max([1, *(one for one in widths if one < widest)])
        at = [index for index, one in enumerate(widths) if one == widest]
        over = sum(widths) - max(room, len(widths))
        each, rest = divmod(min(over, (widest - next_widest) * len(at)), len(at))
        for place, index in enumerate(reversed(at)):
            widths[index] -= each + (place < rest)
    return widths


def wrapped(text: str, width: int) -> list[str]:
    """Break a text between words, and words that are longer than a line wherever that ends.

    Examples
    --------
    >>> wrapped("to the cellar", 6)
    ['to the', 'cellar']
    >>> wrapped("uninterrupted", 6)
    ['uninte', 'rrupte', 'd']
    """
    if shown_width(text) <= width and "\n" not in text:
        return [text]
    found = []
    for line in text.split("\n"):
        now = ""
        for word in line.split(" "):
            if now and shown_width(now) + 1 + shown_width(word) <= width:
                now = f"{now} {word}"
                continue
            found += [now] if now else []
            *full, now = _folded(word, width)
            found += full
        found.append(now)
    return found


def _folded(word: str, width: int) -> list[str]:
    parts, taken = [""], 0
    for letter in word:
        places = _places(letter)
        if taken + places > width and parts[-1]:
            parts.append("")
            taken = 0
        parts[-1] += letter
        taken += places
    return parts


def _row(columns: Sequence[TextColumn], widths: Sequence[int], cells: Sequence[str]) -> Iterator[str]:
    stacks = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for at in range(max(map(len, stacks))):
        parts = []
        for column, width, stack in zip(columns, widths, stacks, strict=True):
            part = stack[at] if at < len(stack) else ""
            space = " " * (width - shown_width(part))
            parts.append(space + part if column.right else part + space)
        yield f" {(' ' * _GAP).join(parts)}".rstrip()


def _places(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _terminal() -> int:
    return shutil.get_terminal_size((PIPE, 24)).columns if sys.stdout.isatty() else PIPE
