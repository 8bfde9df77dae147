"""Python expressions in texts that others wrote: a setting as it prints, a model's answer with Python's quotes."""

from __future__ import annotations

import ast
import warnings


def expression(text: str) -> ast.expr:
    """Read one expression, without running anything; Python's own remarks about it are nobody's concern.

    Raises `SyntaxError`, `ValueError`, `RecursionError` or `MemoryError` for what is none.

    Examples
    --------
    >>> ast.literal_eval(expression("{'k': 60}"))
    {'k': 60}
    """
    with warnings.catch_warnings():
        # "invalid decimal literal", "invalid escape sequence": they would reach the terminal between our own sentences.
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body
