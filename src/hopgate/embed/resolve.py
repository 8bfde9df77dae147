"""From a line of text to an embedder."""

from __future__ import annotations

from hopgate.embed.embedder import Embedder
from hopgate.embed.spec import parse
from hopgate.errors import HopgateError

FORMS = "bge-small, sentence-transformers:NAME_OR_PATH or openai:MODEL@URL"


def resolve(spec: str) -> Embedder:
    """Make the embedder a spec names.

    Parameters
    ----------
    spec : str
        `bge-small`; `sentence-transformers:NAME_OR_PATH`; `openai:MODEL@URL`, where the URL ends before `/embeddings`.
        Options follow a `#`, joined by `&`, percent-encoded: `query` and `document` (the prompts), and for an endpoint
        `dimension` and `key` (the environment variable that holds the key).

    Examples
    --------
    >>> print(resolve("bge-small").identity)
    bge-small-en-v1.5 (384 dimensions)
    >>> resolve("bge-huge")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: there is no embedder 'bge-huge': say bge-small, ...
    """
    kind, _, rest = spec.partition(":")
    if spec in {"bge-small", "bge-small-en-v1.5"}:
        from hopgate.embed.bge import BgeSmall

        return BgeSmall()
    if kind == "sentence-transformers" and rest:
        from hopgate.embed.sentence_transformers import SentenceTransformers

        model, options = parse(rest, frozenset({"query", "document"}))
        return SentenceTransformers(model, query_prompt=options.get("query"), document_prompt=options.get("document"))
    if kind == "openai" and "@http" in rest:
        return _endpoint(rest)
    raise HopgateError(f"there is no embedder {spec!r}: say {FORMS}")


def _endpoint(rest: str) -> Embedder:
    from hopgate.embed.openai import KEY_VARIABLE, OpenAIEmbedder

    head, options = parse(rest, frozenset({"query", "document", "dimension", "key"}))
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
