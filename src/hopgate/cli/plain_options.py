"""Read the words of a command that is called all day without typer, where they are plain.

typer takes 40 ms of CPU to import and 140 more for its adapters of values. What stands here knows arguments, flags and
options with a plain value, by the kinds of a function's parameters; whatever else it meets is left to typer, errors and
help among it. A test compares what both make of many lists of words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from hopgate.errors import HopgateError

# Parameters whose option is not called as they are.
_CALLED = {"as_json": "--json"}


class _Option(NamedTuple):
    """A parameter, what its value is read by (None for a flag), the flag's value, and whether it may be repeated."""

    name: str
    read: Callable[[str], Any] | None
    flag: bool = True
    repeated: bool = False


def plain_values(function: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """Give the values of a function's parameters; None where typer must look.

    Parameters
    ----------
    function : callable
        Its annotations are texts, as `from __future__ import annotations` leaves them: `str` is an argument, the rest
        are options.

    Examples
    --------
    >>> def command(query, k=None): ...
    >>> command.__annotations__ = {"query": "str", "k": "int | None", "return": "None"}
    >>> plain_values(command, ["the key", "--k", "5"])
    {'query': 'the key', 'k': 5}
    >>> plain_values(command, ["the key", "--k", "five"]) is None
    True
    """
    arguments, options = _known(function.__annotations__)
    values: dict[str, Any] = {}
    rest = list(words)
    try:
        while rest:
            word = rest.pop(0)
            if not word.startswith("-"):
                values[arguments.pop(0)] = word
                continue
            name, equals, value = word.partition("=")
            option = options[name]
            if option.read is None:
                if equals or option.name in values:
                    return None
                values[option.name] = option.flag
                continue
            value = value if equals else rest.pop(0)
            if (not equals and value.startswith("-")) or (option.name in values and not option.repeated):
                return None
            read = option.read(value)
            values[option.name] = [*values.get(option.name, []), read] if option.repeated else read
    except (LookupError, ValueError, HopgateError):
        return None
    return None if arguments else values


def _known(kinds: dict[str, str]) -> tuple[list[str], dict[str, _Option]]:
    """The arguments, and the options by how they are written; one that is not plain is not among them."""
    options = {}
    for name, kind in kinds.items():
        written = _CALLED.get(name) or f"--{name.replace('_', '-')}"
        if kind.startswith("bool"):
            options[written] = _Option(name, None)
            if kind != "bool":
                options[f"--no-{written[2:]}"] = _Option(name, None, flag=False)
        elif read := _folder if name == "data" else _READ.get(kind):
            options[written] = _Option(name, read, repeated=kind.startswith("list"))
    return [name for name, kind in kinds.items() if kind == "str"], options


def _folder(text: str) -> Path:
    from hopgate.store.connect import check_folder

    return check_folder(text)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    before, point, after = text.partition(".")
    _whole(before)
    if point:
        _whole(after)
    return float(text)


def _date(text: str) -> datetime:
    from hopgate.times import moment

    if (read := moment(text)) is None:
        raise ValueError(text)
    return read


_READ: dict[str, Callable[[str], Any]] = {
    "int | None": _whole,
    "float | None": _number,
    "str | None": str,
    "list[str] | None": str,
    "datetime | None": _date,
}
