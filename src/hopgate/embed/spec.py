"""A spec is a line of text that makes an embedder: kind, model, and options behind a `#`."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote

from hopgate.errors import HopgateError


def with_options(spec: str, **options: str | int | None) -> str:
    """Write the options that are set behind a spec.

    Examples
    --------
    >>> with_options("sentence-transformers:e5", query="query: ", document=None)
    'sentence-transformers:e5#query=query%3A%20'
    """
    told = "&".join(f"{key}={quote(str(value))}" for key, value in options.items() if value is not None)
    return f"{spec}#{told}" if told else spec


def parse(spec: str, allowed: frozenset[str]) -> tuple[str, dict[str, str]]:
    """Split a spec from its options.

    Examples
    --------
    >>> parse("sentence-transformers:e5#query=query%3A%20", frozenset({"query"}))
    ('sentence-transformers:e5', {'query': 'query: '})
    """
    head, _, tail = spec.partition("#")
    try:
        options = dict(parse_qsl(tail, keep_blank_values=True, strict_parsing=bool(tail)))
    except ValueError:
        raise HopgateError(f"cannot read the options of {spec!r}: write NAME=VALUE, joined by &") from None
    if unknown := sorted(set(options) - allowed):
        raise HopgateError(f"unknown option {unknown[0]!r} in {spec!r}: known are {', '.join(sorted(allowed))}")
    return head, options
