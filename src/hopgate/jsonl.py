"""JSON lines in, with file, line and reason for whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from hopgate.errors import HopgateError


def refuse(path: Path, line: int, reason: str) -> NoReturn:
    """Raise the error for one line of a file."""
    raise HopgateError(f"{path}, line {line}: {reason}")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number the lines of a UTF-8 file that are not blank."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode().rstrip("\r")
        except UnicodeDecodeError:
            refuse(path, number, "not UTF-8")
        if line.strip():
            yield number, line


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Parse a file of JSON objects, one a line; NaN and Infinity are not JSON."""
    for number, line in text_lines(path):
        try:
            row = json.loads(line, parse_constant=_no_number)
        except RecursionError:
            refuse(path, number, "the JSON is nested too deeply")
        except ValueError as error:
            refuse(path, number, f"not JSON ({error})")
        if not isinstance(row, dict):
            refuse(path, number, "not a JSON object")
        yield number, row


def field(row: dict[str, Any], name: str, path: Path, line: int) -> str:
    """Give a field that must be a text and not empty."""
    value = row.get(name)
    if name not in row:
        refuse(path, line, f"the field {name!r} is missing")
    if not isinstance(value, str) or not value.strip():
        refuse(path, line, f"{name} must be a text that is not empty, not {str(value)[:40]!r}")
    return value


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number that JSON knows")
