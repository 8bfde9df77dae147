"""The one reader of text and JSON lines: file, line and reason for whatever is wrong."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from hopgate.errors import HopgateError

# A memory's searchable text of 256 KiB is at most 1.5 MiB with every character escaped; the rest is for metadata.
MAX_LINE_BYTES = 4 * 1024 * 1024
# How JSON begins half of a surrogate pair: only a line with this in it can hold one half without the other.
_ESCAPED_SURROGATE = r"\ud"

Value = TypeVar("Value")


def refuse(path: Path | str, line: int, reason: str) -> NoReturn:
    """Raise the error for one line of a file."""
    raise HopgateError(f"{path}, line {line}: {reason}") from None


def text_lines(path: Path | str) -> Iterator[tuple[int, str]]:
    """Number the lines of a UTF-8 file that are not blank; a byte-order mark at its start is no part of the text."""
    with _opened(path) as stream:
        yield from _all(_read(stream, str), path)


def json_lines(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the JSON objects of a file, one a line, each with the number of its line.

    Raises
    ------
    HopgateError
        For the first line that is not UTF-8, not JSON or not an object, that is too long, or that holds what no JSON
        can give back: NaN, an infinity, a number of too many digits, half of a surrogate pair.
    """
    with _opened(path) as stream:
        yield from parse_json_lines(stream, path)


def parse_json_lines(stream: IO[bytes], name: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON objects from an open stream; `name` is what errors call it."""
    return _all(_read(stream, _parsed), name)


def checked_json_lines(stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any] | HopgateError]]:
    """Read JSON objects from an open stream; for a line that is none, the reason in its place."""
    return _read(stream, _parsed)


def field(row: dict[str, Any], name: str, path: Path | str, line: int) -> str:
    """Return a field that must be a text and not empty."""
    if name not in row:
        refuse(path, line, f"the field {name!r} is missing")
    value = row[name]
    if not isinstance(value, str) or not value.strip():
        refuse(path, line, f"{name} must be a text that is not empty, not {str(value)[:40]!r}")
    return value


@contextmanager
def _opened(path: Path | str) -> Iterator[IO[bytes]]:
    try:
        with Path(path).open("rb") as stream:
            yield stream
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None


def _read(stream: IO[bytes], parse: Callable[[str], Value]) -> Iterator[tuple[int, Value | HopgateError]]:
    """Parse the lines that are not blank; for one that cannot be read, the reason in its place."""
    number = 0
    # With one byte more than is allowed a line that is too long is noticed before the rest of it is read.
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        try:
            if line := _decoded(raw, number):
                value: Value | HopgateError = parse(line)
        except HopgateError as error:
            line, value = "what is wrong with it", error
        if line:
            yield number, value
        while len(raw) > MAX_LINE_BYTES and not raw.endswith(b"\n"):
            raw = stream.readline(MAX_LINE_BYTES + 1)


def _all(read: Iterable[tuple[int, Value | HopgateError]], name: Path | str) -> Iterator[tuple[int, Value]]:
    for number, value in read:
        if isinstance(value, HopgateError):
            refuse(name, number, str(value))
        yield number, value


def _decoded(raw: bytes, number: int) -> str:
    """Give a line without its end; nothing for a blank one."""
    if len(raw) > MAX_LINE_BYTES:
        raise HopgateError(f"the line is longer than {MAX_LINE_BYTES:,} bytes")
    try:
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise HopgateError(f"not UTF-8 at byte {error.start}") from None
    return line.rstrip("\r\n") if line.strip() else ""


def _parsed(line: str) -> dict[str, Any]:
    try:
        row = parse_json(line)
        if _ESCAPED_SURROGATE in line.lower():
            json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HopgateError("it holds half of a surrogate pair, which is not text") from None
    except json.JSONDecodeError as error:
        raise HopgateError(f"not JSON ({error.msg.removesuffix(' at')} at column {error.colno})") from None
    except RecursionError:
        raise HopgateError("the JSON is nested too deeply") from None
    except ValueError:
        # What is left is Python's guard against numbers of thousands of digits.
        raise HopgateError("it holds a number of too many digits") from None
    if not isinstance(row, dict):
        raise HopgateError("not a JSON object")
    return row


def parse_json(text: str) -> Any:
    """Parse JSON and refuse what would be lost on the way: NaN, an infinity, a name that one object has twice."""
    return _DECODER.decode(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise HopgateError(f"{twice[:80]!r} is given twice in one object: keep one of them")
    return made


def _finite(digits: str) -> float:
    """Return a number that a float holds: 1e999 would become an infinity, which no JSON can give back."""
    value = float(digits)
    if math.isinf(value):
        raise HopgateError(f"{digits[:40]} is too large a number")
    return value


def _no_constant(constant: str) -> NoReturn:
    raise HopgateError(f"{constant} is not a number that JSON knows")


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_once)
