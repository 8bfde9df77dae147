"""Read the words of a command that is called all day without the checks of every kind of value that typer loads.

typer makes an adapter of pydantic for each value: 150 ms of CPU before a recall begins. What stands here knows options
with a plain value, flags and arguments; whatever else it meets it leaves to typer, errors and help among it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from hopgate.errors import HopgateError

_PLAIN: dict[Any, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    str: (re.compile(r"(?s).*"), str),
    int: (re.compile(r"\d{1,9}"), int),
    float: (re.compile(r"\d{1,9}(\.\d{1,9})?"), float),
}
# What may stand in the description of a value that is read here; anything else that is set is typer's to know.
_SILENT = frozenset(("param_decls", "help", "show_default", "metavar", "parser", "default"))


class _Option(NamedTuple):
    """A parameter, what its value is read by (None for a flag), the flag's value, and whether it may be repeated."""

    name: str
    read: Callable[[str], Any] | None
    flag: bool = True
    repeated: bool = False


def plain_values(command: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """Give the values of a command's parameters; None where typer must look.

    Examples
    --------
    >>> import typer
    >>> def command(query: Annotated[str, typer.Argument()], k: Annotated[int | None, typer.Option()] = None) -> None:
    ...     pass
    >>> plain_values(command, ["the key", "--k", "5"])
    {'query': 'the key', 'k': 5}
    >>> plain_values(command, ["the key", "--k", "five"]) is None
    True
    """
    arguments, options = _known(command)
    values: dict[str, Any] = {}
    left = list(arguments)
    rest = list(words)
    try:
        while rest:
            word = rest.pop(0)
            if not word.startswith("-"):
                values[left.pop(0)] = word
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
    return None if left else values


def _known(command: Callable[..., Any]) -> tuple[list[str], dict[str, _Option]]:
    """The arguments, and the options by how they are written; one that is not plain is not among them."""
    hints = get_type_hints(command, include_extras=True)
    arguments, options = [], {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind, about = hints[name], None
        if get_origin(kind) is Annotated:
            kind, about = get_args(kind)
        if about is None or not _is_silent(about):
            continue
        some = [one for one in get_args(kind) if one is not type(None)] or [kind]
        if type(about).__name__ == "ArgumentInfo":
            if kind is str and parameter.default is inspect.Parameter.empty:
                arguments.append(name)
            continue
        written = [*(about.param_decls or ()), about.default if isinstance(about.default, str) else None]
        decls = [one for one in written if one] or [f"--{name.replace('_', '-')}"]
        if some == [bool]:
            on, _, off = decls[0].partition("/")
            options[on] = _Option(name, None)
            if off:
                options[off] = _Option(name, None, flag=False)
            continue
        repeated = get_origin(some[0]) is list
        read = about.parser or _reader(get_args(some[0])[0] if repeated else some[0])
        if read is not None:
            options |= {one: _Option(name, read, repeated=repeated) for one in decls}
    return arguments, options


def _is_silent(about: Any) -> bool:
    """Whether a description says nothing that changes how a value is read."""
    said = vars(type(about)()) if type(about).__name__ == "OptionInfo" else vars(type(about)(default=...))
    return all(value == said.get(key) for key, value in vars(about).items() if key not in _SILENT)


def _reader(kind: Any) -> Callable[[str], Any] | None:
    if kind not in _PLAIN:
        return None
    pattern, made = _PLAIN[kind]

    def read(text: str) -> Any:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return made(text)

    return read
