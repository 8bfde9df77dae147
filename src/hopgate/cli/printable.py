"""What a terminal would obey, shown instead: a text may hold sequences that move its cursor or change its title."""

from __future__ import annotations

import re

# Control characters but for line ends and tabs, and those that turn the direction of writing.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Show control characters by their numbers.

    Examples
    --------
    >>> printable("red \x1b[31m text\n")
    'red \\x1b[31m text\n'
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_json(text: str) -> str:
    r"""The same for a line of JSON, which stays equal as JSON.

    Examples
    --------
    >>> printable_json('"\x9b31m"')
    '"\\u009b31m"'
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
