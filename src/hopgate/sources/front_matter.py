"""The front matter of a Markdown note: the part of YAML that people write there."""

from __future__ import annotations

import re
from typing import Any

from hopgate.errors import HopgateError

_FENCE = re.compile(r"\A---[ \t]*\r?\n(.*?)(?:\r?\n)?^(?:---|\.\.\.)[ \t]*$\r?\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([^\s:#\-][^:]*):(?:\s+(.*)|)$")
_ITEM = re.compile(r"\s*-\s+(.*)$|\s*-$")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    r"""Part a note into its front matter and its text.

    Plain values, quoted texts, lists in either notation, and texts over several lines are read; a value of another
    shape is kept as the text it is.

    Examples
    --------
    >>> split_front_matter("---\ntags: [a, b]\nis_sensitive: true\n---\nHello.\n")
    ({'tags': ['a', 'b'], 'is_sensitive': True}, 'Hello.\n')
    """
    found = _FENCE.match(text)
    if not found:
        return {}, text
    values: dict[str, Any] = {}
    further: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(found[1].splitlines(), start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if item := _ITEM.match(line) if name else None:
            if further.pop(name, None) is not None or not isinstance(values[name], list):
                values[name] = []
            values[name].append(_scalar(item[1] or ""))
        elif line[0] in " \t" and name:
            # Lines are put together at the end: one after the other each would copy all before it.
            if name not in further:
                before = values[name]
                further[name] = [before] if isinstance(before, str) and before else []
            further[name].append(line.strip())
        elif field := _FIELD.match(line):
            name = field[1].rstrip().strip("\"'")
            if name in values:
                raise HopgateError(f"line {number}: {name!r} is given twice in the front matter: keep one of them")
            values[name] = _value(field[2] or "")
        else:
            raise HopgateError(f"line {number}: {line.strip()[:40]!r} is not a field of front matter")
    return values | {name: "\n".join(lines) for name, lines in further.items()}, text[found.end() :]


def _value(text: str) -> Any:
    text = text.strip()
    if text in ("|", ">", "|-", ">-"):
        return ""
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    return _scalar(text)


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    # A comment begins at the first # behind a space.
    text = re.split(r"(?<=\s)#", text, maxsplit=1)[0].rstrip()
    if text.lower() in ("", "null", "~"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # More digits than these are a text: a telephone, or somebody's joke.
    if re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", text):
        return float(text) if "." in text else int(text)
    return text
