"""A spec is a line of text that makes an embedder: kind, model, and options behind a `#`.

Each embedder is imported only where a spec names it: their libraries are large, and some are extras.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote

from hopgate.embed.embedder import Embedder
from hopgate.errors import HopgateError
from hopgate.redact import redacted

FORMS = "bge-small, sentence-transformers:NAME_OR_PATH or openai:MODEL@URL"


def embedder_from(spec: str) -> Embedder:
    """Make the embedder a spec names.

    Parameters
    ----------
    spec : str
        `bge-small`; `sentence-transformers:NAME_OR_PATH`; `openai:MODEL@URL`, where the URL ends before `/embeddings`.
        Options follow a `#`, joined by `&`, percent-encoded: `query` and `document` (the prompts), and for an endpoint
        `dimension` and `key` (the environment variable that holds the key).

    Examples
    --------
    >>> print(embedder_from("bge-small").identity)
    bge-small-en-v1.5 (384 dimensions)
    >>> embedder_from("bge-huge")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: there is no embedder 'bge-huge': say bge-small, ...
    """
    kind, _, rest = spec.partition(":")
    if spec in {"bge-small", "bge-small-en-v1.5"}:
        from hopgate.embed.bge import BgeSmall

        return BgeSmall()
    if kind == "sentence-transformers" and rest:
        from hopgate.embed.sentence_transformers import SentenceTransformers

        model, options = split_options(rest, frozenset({"query", "document"}))
        return SentenceTransformers(model, query_prompt=options.get("query"), document_prompt=options.get("document"))
    if kind == "openai" and "@http" in rest:
        return _endpoint(rest)
    raise HopgateError(f"there is no embedder {redacted(spec)!r}: say {FORMS}")


def _endpoint(rest: str) -> Embedder:
    from hopgate.embed.openai import OpenAIEmbedder
    from hopgate.http import KEY_VARIABLE

    head, options = split_options(rest, frozenset({"query", "document", "dimension", "key"}))
    model, _, url = head.rpartition("@http")
    dimension = options.get("dimension")
    if dimension is not None and not (dimension.isdigit() and int(dimension) > 0):
        raise HopgateError(f"dimension must be a whole number above 0, not {dimension!r}")
    return OpenAIEmbedder(
        model,
        "http" + url,
        query_prompt=options.get("query", ""),
        document_prompt=options.get("document", ""),
        dimension=int(dimension) if dimension else None,
        key_variable=options.get("key", KEY_VARIABLE),
    )


def with_options(spec: str, **options: str | int | None) -> str:
    """Write the options that are set behind a spec.

    Examples
    --------
    >>> with_options("sentence-transformers:e5", query="query: ", document=None)
    'sentence-transformers:e5#query=query%3A%20'
    """
    tail = "&".join(f"{key}={quote(str(value))}" for key, value in options.items() if value is not None)
    return f"{spec}#{tail}" if tail else spec


def split_options(spec: str, allowed: frozenset[str]) -> tuple[str, dict[str, str]]:
    """Split a spec from its options.

    Examples
    --------
    >>> split_options("sentence-transformers:e5#query=query%3A%20", frozenset({"query"}))
    ('sentence-transformers:e5', {'query': 'query: '})
    """
    head, _, tail = spec.partition("#")
    try:
        options = dict(parse_qsl(tail, keep_blank_values=True, strict_parsing=bool(tail)))
    except ValueError:
        raise HopgateError(f"cannot read the options of {redacted(spec)!r}: write NAME=VALUE, joined by &") from None
    if unknown := sorted(set(options) - allowed):
        raise HopgateError(
            f"unknown option {unknown[0]!r} in {redacted(spec)!r}: known are {', '.join(sorted(allowed))}"
        )
    return head, options
