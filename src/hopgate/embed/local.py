"""Small embedders on this machine: fastembed's ONNX models and model2vec's static ones, by name or path."""

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopgate.embed.embedder import Embedder, Identity, Kind, split_options, with_options
from hopgate.errors import HopgateError
from hopgate.redact import redacted


class FastEmbed(Embedder):
    """A model that fastembed knows by name; `path` is a folder that has its files already.

    Parameters
    ----------
    model : str
        As fastembed calls it.
    path : str, optional
        By default fastembed fetches what it has not yet.
    query_prompt, document_prompt : str
        What to put before a text, for models that were trained with one.
    """

    def __init__(self, model: str, path: str | None = None, query_prompt: str = "", document_prompt: str = "") -> None:
        fetched = {"specific_model_path": path} if path else {}
        self._model = _loaded("fastembed", "TextEmbedding", model, **fetched)
        prompts = {"query": query_prompt or None, "document": document_prompt or None, "path": path}
        self.identity = Identity(
            name=model,
            dimension=int(self._model.embedding_size),
            spec=with_options(f"fastembed:{model}", **prompts),
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )

    def _rows(self, texts: Sequence[str], kind: Kind) -> list[Any]:
        embed = self._model.query_embed if kind == "query" else self._model.passage_embed
        return list(embed([self.identity.prompt(kind) + text for text in texts]))


class Model2Vec(Embedder):
    """A static model: a text's vector is the mean of its tokens' vectors, thousands of texts a second.

    Parameters
    ----------
    model : str
        Its name on the hub, or its directory.
    """

    def __init__(self, model: str) -> None:
        self._model = _loaded("model2vec", "StaticModel.from_pretrained", model)
        digest = hashlib.sha256(self._model.embedding.tobytes() + self._model.tokenizer.to_str().encode())
        name = Path(model).name if Path(model).exists() else model
        self.identity = Identity(name, int(self._model.dim), f"model2vec:{model}", fingerprint=digest.hexdigest())

    def _rows(self, texts: Sequence[str], _kind: Kind) -> Any:
        return self._model.encode(list(texts))


def from_spec(kind: str, rest: str) -> Embedder | None:
    """Make the embedder of a name or a path, with its options behind a `#`."""
    if kind == "model2vec":
        return Model2Vec(rest) if rest else None
    model, options = split_options(rest, frozenset({"query", "document", "path"}))
    if not model:
        return None
    return FastEmbed(model, options.get("path"), options.get("query", ""), options.get("document", ""))


def _loaded(library: str, maker: str, model: str, **options: Any) -> Any:
    """Load a model by the function of its library, or say what is missing."""
    try:
        make: Any = importlib.import_module(library)
    except ImportError:
        raise HopgateError(f"{library} is not installed: pip install {library}") from None
    for name in maker.split("."):
        make = getattr(make, name)
    try:
        return make(model, **options)
    except Exception as error:  # the libraries raise whatever their many loaders raise
        reason = redacted(" ".join(str(error).split()))[:200] or type(error).__name__
        raise HopgateError(f"{library} cannot load {redacted(model)}: {reason}") from error
