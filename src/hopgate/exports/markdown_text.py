"""Somebody's words inside a page of Markdown: shown, and not obeyed."""

from __future__ import annotations

import json
import re

# Links, images, HTML and the bar of a table. Emphasis is left alone: it hides nothing and leads nowhere.
_MEANING = re.compile(r"[\\\[\]<|]")
# What YAML takes for the end of a line, and what a terminal obeys.
_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def escaped_markdown(text: str) -> str:
    r"""Give a text for one line of Markdown.

    Examples
    --------
    >>> print(escaped_markdown("a | <script> [x](y)\nb"))
    a \| &lt;script> \[x\](y) b
    """
    flat = " ".join(text.split())
    return _MEANING.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", flat)


def yaml_text(value: str | list[str]) -> str:
    r"""Give a value for front matter: JSON, which YAML reads as it is.

    Examples
    --------
    >>> yaml_text("it's\u2028new")
    '"it\'s\\u2028new"'
    """
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
